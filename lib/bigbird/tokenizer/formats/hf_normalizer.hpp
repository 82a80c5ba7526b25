// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/encode/exact_encoder.hpp"

#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

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
