// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// The training data of a tokenizer: sentences, normalized and cut at runs of N and at 30,000 bases into
/// stretches, stored as one array of symbols. If they exceed a limit, sentences with a seeded hash above a
/// threshold are dropped; the threshold is halved as often as needed. The sample depends only on the seed,
/// the limit and the sentences' order. Not thread-safe.
class TrainingCorpus {
public:
    /// Above 32,767 bases SentencePiece 0.1.97 crashes, above 65,535 all its versions abort.
    static constexpr std::size_t longest_stretch = 30'000;

    explicit TrainingCorpus(std::uint64_t seed,
                            std::size_t most_bases = std::numeric_limits<std::size_t>::max());

    void add(std::string_view sentence);
    /// Adds the letters that never occur as separate sentences, one per 16 million bases: every letter must
    /// be a token, and SentencePiece drops one whose share rounds to 0 in a float. Call it after all
    /// sentences.
    void add_missing_letters();

    std::int64_t seen() const { return seen_; }            ///< sentences given
    std::int64_t sentences() const { return sentences_; }  ///< sentences held
    std::int64_t bases() const;                            ///< held, without N
    std::int64_t count(Symbol letter) const { return counts_[letter]; }

    LetterArray& positions() { return positions_; }
    const LetterArray& positions() const { return positions_; }

private:
    bool is_sampled(std::int64_t sentence) const;
    void halve();
    void count_letters(std::size_t from);
    void append(std::string_view sentence);

    std::uint64_t seed_, threshold_ = std::numeric_limits<std::uint64_t>::max();
    std::size_t most_bases_;
    LetterArray positions_;
    std::vector<std::pair<std::int64_t, std::size_t>>
        starts_;  ///< sentence, first position; kept if there is a limit
    std::array<std::int64_t, TokenArray::letters> counts_{};
    std::int64_t seen_ = 0, sentences_ = 0;
    std::vector<std::uint8_t> letters_;  // letters of the current sentence
};

/// The stretch that begins at `position`, which moves to the next one; empty at the end. Begin at 1.
std::span<const std::uint8_t> next_stretch(const LetterArray& letters, std::size_t& position);
/// The letters of a stretch.
std::string text_of(std::span<const std::uint8_t> stretch);

}  // namespace bigbird::tokenizer
