// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace bigbird::tokenizer {

/// A sample of a text's 32-mers, by which it is recognized in another text (a MinHash, Broder 1997): the
/// 1,000 smallest hashes of its distinct 32-mers, both strands alike. Not thread-safe.
class TextSketch {
public:
    /// Reads what text() wrote; any other text gives an empty sketch.
    static TextSketch parse(std::string_view text);
    std::string text() const;
    bool empty() const { return hashes_.empty(); }

    /// Adds a sentence's letters; a 32-mer with a letter other than A C G T is left out.
    void add(std::string_view sentence);
    /// Whether more than half of `part` is in this text, which repeats of a genome do not reach. A part
    /// below three thousandths of the text may be missed.
    bool holds(const TextSketch& part) const;

private:
    std::uint64_t largest() const;

    std::set<std::uint64_t> hashes_;
};

}  // namespace bigbird::tokenizer
