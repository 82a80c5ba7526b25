// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/baselines/sequence/markov.hpp"
#include "bigbird/baselines/sequence/token_ngram.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bigbird::baselines {

struct BaselineSpec {
    std::vector<int> orders;          ///< Markov chains' orders over bases, 0 to 12
    std::vector<int> ngrams;          ///< n of n-gram models over tokens, 1 to 6
    std::vector<int> two_sided = {};  ///< reaches of two-sided models, 0 to 6
    /// Throws ConfigError naming the option.
    void validate() const;
    bool empty() const { return orders.empty() && ngrams.empty() && two_sided.empty(); }
};

/// Models whose bits per character are compared with a network's. They predict every base or token of the
/// held-out documents from left to right. Two-sided models see both sides, as a masked model does. A
/// document's sentences are adjacent, so the context continues across their ends.
class Baselines {
public:
    Baselines(const BaselineSpec& spec, tokenizer::DnaTokenizer tokenizer);

    /// Counts a training corpus. Throws Stopped.
    void train(const corpus::TokenCorpus& corpus);
    /// Adds the code lengths of held-out documents, given what was counted so far. Throws Stopped.
    void score(const corpus::TokenCorpus& corpus);

    /// {"markov_order_0": bits per character, …, "token_3_gram": …, "two_sided_4": …, "baseline_bases": bases
    /// scored, "baselines": [{"name", "bits_per_character", "bits_per_character_interval"}, …]}; the
    /// intervals are 95 %, by bootstrap over documents. Empty without models.
    Json to_json(std::uint64_t seed) const;

private:
    BaselineSpec spec_;
    tokenizer::DnaTokenizer tokenizer_;
    std::optional<MarkovModel> markov_;  // has the highest order; none without orders
    std::vector<TokenNgram> ngrams_;
    std::optional<TwoSidedModel> two_sided_;       // has the longest reach
    std::vector<std::vector<CodeLength>> scores_;  // by model, by document
};

}  // namespace bigbird::baselines
