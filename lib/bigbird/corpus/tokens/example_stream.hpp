// SPDX-License-Identifier: Apache-2.0
// Pretraining examples (Devlin et al. 2019; BigBird, appendix F.1): masked tokens and, by option,
// next-sentence prediction.
//
// Documents are packed: a document shorter than a window is joined with the following ones into a stretch of
// at least a window, so that nothing is padded. A stretch of T tokens is cut into ceil(T / W) windows of W
// tokens, W = sequence_length - 3 (- 2 without NSP). If T is not a multiple of W, they overlap a little, by
// different amounts in every epoch. Without NSP, an epoch has every window once: [CLS] A [SEP]. With NSP, an
// epoch has every window twice, cut in two at a sentence's end: once with both parts ([CLS] A [SEP] B [SEP],
// label 0), and once with the first part followed by sentences from another stretch up to the full length
// (label 1). So each epoch covers the corpus and is exactly balanced; its order is a permutation.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <vector>

namespace bigbird::corpus {

/// A pseudo-random permutation of 0..size-1. Any entry is computed directly, in constant memory: by a Feistel
/// cipher on the next even number of bits, repeated until the result is below size. A function only of (size,
/// key).
class Permutation {
public:
    /// Expects size >= 1.
    Permutation(std::int64_t size, std::uint64_t key);
    std::int64_t operator()(std::int64_t index) const;

private:
    std::int64_t size_;
    std::uint64_t key_;
    int half_bits_ = 1;
};

/// Chooses the share `rate` of the tokens of only A C G T (at least one). Of these, the share `mask` becomes
/// [MASK], the share `random` a random such token, and the rest stays.
struct MaskingSpec {
    double rate = 0.15, mask = 0.8, random = 0.1;
};

struct ExampleSpec {
    std::int32_t sequence_length = 512;  ///< tokens, [CLS] and [SEP] included
    bool nsp = true;
    MaskingSpec masking{};
    std::uint64_t seed = 0;
    /// Throws ConfigError naming the value that is out of range.
    void validate() const;
};

struct Example {
    std::vector<std::int32_t> ids;    ///< (length), after masking; not padded, length <= sequence_length
    std::vector<std::uint8_t> types;  ///< (length), 0 for [CLS] A [SEP], 1 for B [SEP]
    std::vector<std::int32_t> masked_positions;  ///< (masked), ascending
    std::vector<std::int32_t> masked_labels;     ///< (masked), the original ids there
    std::vector<std::int64_t> masked_tokens;     ///< (masked), which tokens of the corpus they are
    std::vector<std::uint8_t> masked_repeats;  ///< (masked), 1 for a token of a repeat (soft-masked), else 0
    std::int32_t next_sentence = -1;  ///< 0: B follows A; 1: B comes from another document; -1 without NSP
};

/// Examples by index: a pure function of (corpus, spec, index), so that any rank can make any example and
/// training can resume at any step. Const calls are thread-safe.
class ExampleSource {
public:
    /// Throws InputError if the corpus is empty, or has one document where NSP needs two; ConfigError from
    /// validate().
    ExampleSource(TokenCorpus corpus, tokenizer::DnaTokenizer tokenizer, ExampleSpec spec);

    /// Examples of one epoch. Index i belongs to epoch i / epoch_size().
    std::int64_t epoch_size() const { return windows() * (spec_.nsp ? 2 : 1); }
    /// Any index >= 0: epochs repeat without end.
    Example get(std::int64_t index) const;

    /// Share of padding over an epoch if every example is padded to sequence_length. It is above 0 only if
    /// the entire corpus is too short to be packed.
    double padding_share() const;
    const ExampleSpec& spec() const { return spec_; }
    const TokenCorpus& corpus() const { return corpus_; }

private:
    /// Tokens [begin, end) of the corpus, a part of a stretch.
    struct Run {
        std::int64_t stretch = 0, begin = 0, end = 0;
        std::int64_t size() const { return end - begin; }
    };
    std::int64_t windows() const { return window_ends_.empty() ? 0 : window_ends_.back(); }
    std::int64_t stretches() const { return static_cast<std::int64_t>(stretch_ends_.size()); }
    /// Joins documents until each stretch has `least` tokens.
    void pack(std::int64_t least);
    Run stretch_tokens(std::int64_t stretch) const;
    Run window(std::int64_t number, std::int64_t epoch) const;
    std::int64_t draw_cut(const Run& window, Rng& rng) const;
    Run draw_elsewhere(std::int64_t stretch, std::int64_t tokens, bool inside, Rng& rng) const;
    void mask(Example& example, Rng& rng) const;

    TokenCorpus corpus_;
    tokenizer::DnaTokenizer tokenizer_;
    tokenizer::SpecialIds special_;
    ExampleSpec spec_;
    std::int64_t room_ = 0;                   ///< tokens per window
    std::vector<std::int64_t> stretch_ends_;  ///< sentences up to and including each stretch
    std::vector<std::int64_t> window_ends_;   ///< windows up to and including each stretch
    std::vector<std::int32_t> plain_pieces_;  ///< ids that spell only A C G T
    std::vector<bool> plain_;                 ///< by id
};

}  // namespace bigbird::corpus
