// SPDX-License-Identifier: Apache-2.0
// The tokens that a tokenizer.json lists beside its model (`add_tokens`). Hugging Face's tokenizers library
// cuts them out of a text before its model encodes the text between them.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bigbird::tokenizer {

struct AddedToken {
    std::string content;
    std::int32_t id = 0;
    bool single_word = false;  ///< not beside a letter, a digit or "_"
    bool lstrip = false;       ///< also takes the blanks before it
    bool rstrip = false;       ///< also takes the blanks after it
};

/// Immutable, thread-safe. Text is ASCII.
class AddedTokens {
public:
    /// A part of a text, [begin, end): an added token, or text between them (id -1).
    struct Part {
        std::size_t begin = 0, end = 0;
        std::int32_t id = -1;
        bool operator==(const Part&) const = default;
    };

    /// Of tokens with the same content, the first is used. Contents must not be empty.
    void add(AddedToken token);
    /// Cuts a text at the leftmost tokens, the longest of those that begin at one position. Parts are
    /// adjacent, cover the text, and are not empty.
    std::vector<Part> split(std::string_view text) const;

private:
    const AddedToken* longest_at(std::string_view text, std::size_t position) const;

    std::map<std::size_t, std::unordered_map<std::string, AddedToken>, std::greater<>> by_length_;
    std::bitset<256> first_letters_;
};

}  // namespace bigbird::tokenizer
