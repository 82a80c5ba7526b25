// SPDX-License-Identifier: Apache-2.0
// Compares how likely a pretrained network finds two sequences that differ at one position.
#pragma once

#include "bigbird/model/batching.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/task_models/network/task_network.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Two sequences that are equal before and after the alleles.
struct AllelePair {
    std::string ref, alt;
};

/// Natural logarithms.
struct MaskedScore {
    double ref = 0, alt = 0;
};

/// Scores pairs of alleles with a masked language model. Encodes both sequences. Common tokens at the
/// beginning and the end are kept. The tokens between cover the alleles and the bases around them; they are
/// all masked at once. An allele's score is the sum of the log probabilities of its masked tokens, or with
/// Strands::average the mean of both strands. Returns nullopt for pairs with equal tokens, and for pairs that
/// are only N. Sequences with more tokens than the network has positions keep the tokens around the alleles.
/// One thread at a time.
class MaskedScorer {
public:
    MaskedScorer(model::PreTrainingModel network, tokenizer::DnaTokenizer tokenizer, Strands strands,
                 const Job& job);

    std::vector<std::optional<MaskedScore>> score(std::span<const AllelePair> pairs, int threads);

    /// The network's input for a sequence, and the tokens to predict.
    struct Query {
        model::TokenSequence input;           ///< with [MASK]
        std::vector<std::int32_t> originals;  ///< original ids of the masked tokens
        std::int64_t first_masked = 0;        ///< the masked tokens are adjacent
    };
    /// The queries of ref and alt; empty if both have the same tokens. Thread-safe.
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
