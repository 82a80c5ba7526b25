// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/encode/exact_encoder.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

inline constexpr std::string_view blanks = " \t\n\v\f\r";

/// The tokens that a tokenizer.json lists beside its model (`add_tokens`). Hugging Face's tokenizers library
/// cuts them out of a text before its model encodes the text between them.
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
    void add(const AddedToken& token);
    /// Cuts a text at the leftmost tokens, the longest of those that begin at one position. Parts are
    /// adjacent, cover the text, and are not empty.
    std::vector<Part> split(std::string_view text) const;

private:
    const AddedToken* longest_of(std::string_view text) const;  // of those that it begins with

    std::map<std::string, AddedToken, std::less<>> tokens_;
    std::set<std::size_t, std::greater<>> lengths_;
    std::bitset<256> first_letters_;
};

/// The patterns that DNA tokenizers use: a literal text, or one letter or class of letters ("N", "[aA]",
/// "[^ACGTN]"), once, one or more times ("+") or at least n times ("{n,}").
class TextPattern {
public:
    static TextPattern literal(std::string_view text);
    /// Returns nullopt if the expression has another form.
    static std::optional<TextPattern> regex(std::string_view expression);

    struct Match {
        std::size_t begin, end;
    };
    /// The first match at or after `from`, as long as possible.
    std::optional<Match> find(std::string_view text, std::size_t from) const;

private:
    std::string literal_;       // if the pattern is a literal
    std::bitset<256> letters_;  // else these,
    std::size_t least_ = 1;     // repeated this many times
    bool more_ = false;         // or more often
};

/// Text during normalization and, if requested, the origin of each letter.
struct NormalizedString {
    std::string text;
    std::vector<TextSpan> origins;  ///< by letter: letters of the original; empty if not requested

    explicit NormalizedString(std::string_view original, bool trace);
    /// Removes blanks at the ends.
    void strip(bool left, bool right);
    /// Replaces each match by `content`, which maps to the entire match.
    void replace(const TextPattern& pattern, std::string_view content);
};

}  // namespace bigbird::tokenizer
