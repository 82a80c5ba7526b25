// SPDX-License-Identifier: Apache-2.0
// How much likelier a pretrained network finds one sequence than another that differs from it in one place.
#pragma once

#include "bigbird/model/batching.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/task_models/network/job.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Two sequences that are equal before and behind the alleles.
struct AllelePair {
    std::string ref, alt;
};

/// Natural logarithms.
struct MaskedScore {
    double ref = 0, alt = 0;
    std::int64_t masked = 0;  ///< tokens, of both sequences and all strands
};

/// Encodes both sequences. Common tokens at the beginning and at the end stay; the tokens between, which
/// spell the alleles and the bases around them, are all masked at once. An allele's score is the sum of the
/// log probabilities of its masked tokens, the mean of the strands with Strands::average. Returns nullopt for
/// pairs with the same tokens and where only N is left. Sequences with more tokens than the network has
/// positions keep the tokens around the alleles. One thread at a time.
class MaskedScorer {
public:
    MaskedScorer(model::PreTrainingModel network, tokenizer::DnaTokenizer tokenizer, Strands strands,
                 const Job& job);

    std::vector<std::optional<MaskedScore>> score(std::span<const AllelePair> pairs, int threads);

    /// A sequence as the network sees it, and which of its tokens are asked for.
    struct Query {
        model::TokenSequence input;           ///< with [MASK]
        std::vector<std::int32_t> originals;  ///< original ids of the masked tokens
        std::int64_t first_masked = 0;        ///< they follow one another
    };
    /// The queries of ref and alt, or none where they have the same tokens. Thread-safe.
    std::vector<Query> queries_of(std::string_view ref, std::string_view alt) const;

private:
    std::vector<double> log_likelihoods(std::span<const Query> queries);
    /// (masked) float64 on the CPU: ln p of the originals at positions of hidden (batch, length, hidden).
    at::Tensor log_p_of(const at::Tensor& hidden, std::vector<std::int64_t> positions,
                        std::vector<std::int64_t> originals);

    model::PreTrainingModel network_;
    tokenizer::DnaTokenizer tokenizer_;
    Strands strands_;
    Job job_;
    std::int64_t max_tokens_;
};

}  // namespace bigbird::task_models
