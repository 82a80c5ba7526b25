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
    /// Nothing where the expression is of another form.
    static std::optional<TextPattern> regex(std::string_view expression);

    struct Match {
        std::size_t begin, end;
    };
    /// The first match at `from` or behind it, as long as possible.
    std::optional<Match> find(std::string_view text, std::size_t from) const;

private:
    std::string literal_;       // where there is one
    std::bitset<256> letters_;  // else these,
    std::size_t least_ = 1;     // so often
    bool more_ = false;         // or more often
};

/// Text on its way through a tokenizer's normalizers, and, if that is asked for, where each letter came from.
struct NormalizedString {
    std::string text;
    std::vector<TextSpan> origins;  ///< by letter: letters of the original; empty where not asked for

    explicit NormalizedString(std::string_view original, bool trace);
    /// Takes blanks away from the ends.
    void strip(bool left, bool right);
    /// Replaces each match by `content`, which maps to the entire match.
    void replace(const TextPattern& pattern, std::string_view content);
};

}  // namespace bigbird::tokenizer
