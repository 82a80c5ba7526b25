// SPDX-License-Identifier: Apache-2.0
// Reads config.json by key, with errors that name the key and the file.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace bigbird::model {

/// Reads keys of one config.json; every error names the key and the file.
class Keys {
public:
    /// `prefix` precedes keys in messages.
    Keys(const Json& json, const std::filesystem::path& where, std::string prefix = {})
        : json_(json), where_(where), prefix_(std::move(prefix)) {
        if (!json.is_object())
            throw InputError("is not a model's configuration: a JSON object is expected", where);
    }
    bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }
    const Json& at(const char* key) const { return json_.at(key); }

    template <typename Integer>
    void integer(const char* key, Integer& value) const {
        if (!has(key)) return;
        const Json& given = json_.at(key);
        require(is_whole_number<Integer>(given), key, "a whole number");
        value = given.get<Integer>();
    }
    void real(const char* key, double& value) const {
        if (has(key)) {
            require(json_.at(key).is_number(), key, "a number");
            value = json_.at(key).get<double>();
        }
    }
    void flag(const char* key, bool& value) const {
        if (has(key)) {
            require(json_.at(key).is_boolean(), key, "true or false");
            value = json_.at(key).get<bool>();
        }
    }
    void text(const char* key, std::string& value) const {
        if (has(key)) {
            require(json_.at(key).is_string(), key, "a string");
            value = json_.at(key).get<std::string>();
        }
    }
    void require(bool condition, const char* key, const std::string& expected) const {
        if (!condition) {
            throw InputError(
                "key '" + prefix_ + key + "' must be " + expected + ", not " + json_.at(key).dump(), where_);
        }
    }
    /// The keys of the object under `key`. Only keys in `known` are allowed.
    Keys inside(const char* key, std::initializer_list<std::string_view> known) const {
        require(json_.at(key).is_object(), key, "an object");
        const std::string prefix = prefix_ + key + '.';
        for (const auto& item : json_.at(key).items())
            if (std::ranges::find(known, item.key()) == known.end())
                throw InputError("key '" + prefix + item.key() + "' is unknown", where_);
        return {json_.at(key), where_, prefix};
    }

private:
    const Json& json_;
    const std::filesystem::path& where_;
    std::string prefix_;
};

}  // namespace bigbird::model
