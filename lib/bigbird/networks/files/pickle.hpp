// SPDX-License-Identifier: Apache-2.0
// The objects of a pickle, as data: nothing is imported, called or executed. A call that the pickle asks for
// is kept as the function's name and its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::networks {

/// An object's place in Pickle::objects. Objects may be shared, and may hold themselves.
using PickleRef = std::uint32_t;

struct PickleObject {
    enum class Kind : std::uint8_t {
        none,
        boolean,
        integer,
        real,
        text,        ///< also bytes
        global,      ///< `text` is "module.name"
        list,        ///< `items`; also sets
        tuple,       ///< `items`
        dictionary,  ///< `pairs`
        persistent,  ///< `items` has one: what identifies the object
        call         ///< of a function or class, items[0], with the arguments items[1]; what was put into the
                     ///< result is in `pairs`, `more` and `state`
    } kind = Kind::none;
    bool boolean = false;
    std::int64_t integer = 0;
    double real = 0;
    std::string text{};
    std::vector<PickleRef> items{}, more{};
    std::vector<std::pair<PickleRef, PickleRef>> pairs{};
    PickleRef state = 0;  ///< 0 where there is none: the first object is never a state
};

struct Pickle {
    std::vector<PickleObject> objects;
    PickleRef root = 0;

    const PickleObject& operator[](PickleRef ref) const { return objects[ref]; }
    /// The value under a text key of a dictionary or of a call's pairs; null where there is none.
    const PickleObject* find(const PickleObject& object, std::string_view key) const;
};

/// Reads the opcodes that pickling by protocols 2 to 5 writes. Throws InputError for a damaged pickle and for
/// other opcodes. Memory is in proportion to the pickle.
Pickle read_pickle(std::span<const std::byte> bytes, const std::filesystem::path& path);

}  // namespace bigbird::networks
