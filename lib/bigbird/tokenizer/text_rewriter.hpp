// SPDX-License-Identifier: Apache-2.0
#pragma once

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

    std::string replace(std::string_view text, std::string_view content) const;

private:
    std::string literal_;       // where there is one
    std::bitset<256> letters_;  // else these,
    std::size_t least_ = 1;     // so often
    bool more_ = false;         // or more often
};

}  // namespace bigbird::tokenizer
