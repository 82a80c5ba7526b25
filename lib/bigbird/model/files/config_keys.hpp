// SPDX-License-Identifier: Apache-2.0
// Reads and writes config.json by key, with errors that name the key and the file.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bigbird::model {

inline void require(bool condition, const std::string& message) {
    if (!condition) throw ConfigError("model configuration: " + message);
}

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

    /// Sets `value` where the key is there: a whole number, a number, true or false, or a string.
    template <typename Value>
    void operator()(const char* key, Value& value) const {
        if (!has(key)) return;
        const Json& given = json_.at(key);
        if constexpr (std::is_same_v<Value, bool>)
            require(given.is_boolean(), key, "true or false");
        else if constexpr (std::is_integral_v<Value>)
            require(is_whole_number<Value>(given), key, "a whole number");
        else if constexpr (std::is_floating_point_v<Value>)
            require(given.is_number(), key, "a number");
        else
            require(given.is_string(), key, "a string");
        value = given.get<Value>();
    }
    template <typename Value>
    void operator()(const char* key, std::optional<Value>& value) const {
        if (has(key)) (*this)(key, value.emplace());
    }
    /// One of some words.
    template <typename Enum, std::size_t N>
    void operator()(const char* key, Enum& value, const Choices<Enum, N>& choices) const {
        std::string word(word_of(choices, value));
        (*this)(key, word);
        const auto* const found = std::ranges::find(choices, word, &Choice<Enum>::word);
        require(found != choices.end(), key, list_of_words(choices));
        value = found->value;
    }
    void require(bool condition, const char* key, const std::string& expected) const {
        if (!condition) {
            throw InputError(
                "key '" + prefix_ + key + "' must be " + expected + ", not " + json_.at(key).dump(), where_);
        }
    }
    /// The keys of the object under `key`. Only keys in `known` are allowed.
    Keys inside(const char* key, std::initializer_list<std::string_view> known) const {
        Keys inner = under(key);
        for (const auto& item : json_.at(key).items())
            if (std::ranges::find(known, item.key()) == known.end())
                throw InputError("key '" + inner.prefix_ + item.key() + "' is unknown", where_);
        return inner;
    }
    /// The same, whatever its keys.
    Keys under(const char* key) const {
        require(json_.at(key).is_object(), key, "an object");
        return {json_.at(key), where_, prefix_ + key + '.'};
    }

private:
    const Json& json_;
    const std::filesystem::path& where_;
    std::string prefix_;
};

/// Writes keys, with the same arguments.
struct KeyWriter {
    Json& json;

    template <typename Value>
    void operator()(const char* key, const Value& value) const {
        json[key] = value;
    }
    template <typename Value>
    void operator()(const char* key, const std::optional<Value>& value) const {
        json[key] = value ? Json(*value) : Json(nullptr);
    }
    template <typename Enum, std::size_t N>
    void operator()(const char* key, const Enum& value, const Choices<Enum, N>& choices) const {
        json[key] = word_of(choices, value);
    }
};

}  // namespace bigbird::model
