// SPDX-License-Identifier: Apache-2.0
// Measures how well a pretrained network predicts masked tokens of held-out sequence.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/training/device/autocast.hpp"
#include "bigbird/training/ranks/ranks.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace bigbird::pretraining {

/// The scores of each masked token, for `evaluate-mlm --token-scores`, so that parts of the sequence can be
/// evaluated separately.
struct TokenScore {
    std::int64_t token = 0;  ///< index in the corpus
    double nats = 0;         ///< -ln p of the true token
    bool correct = false;    ///< whether the true token is the most likely
};

/// Writes one line per score in the order of the corpus, tab-separated, below the header
/// "#document sentence start end piece bits correct". Documents, and the sentences of one, are counted from
/// 1; start and end are 0-based half-open in the sentence; bits: -log2 p; correct: 1 or 0. A token in several
/// sequences has one line per sequence. The output is not committed. Throws WriteError.
void write_token_scores(std::vector<TokenScore> scores, const corpus::TokenCorpus& corpus,
                        const tokenizer::DnaTokenizer& tokenizer, genome::TextOutput& output);

/// Only numbers of one type, so that ranks exchange the scores as a table.
struct SequenceScore {
    double nats = 0;                            ///< sum of -ln p over the chosen tokens
    double chosen = 0, correct = 0, bases = 0;  ///< counts; bases: spelled by the chosen tokens
    double repeat_nats = 0, repeat_bases = 0;   ///< nats and bases of the chosen tokens of repeats
    double pair = 0;                            ///< corpus::Example's next_sentence, plus one
    double pair_nats = 0, pair_correct = 0;     ///< of the next-sentence prediction; correct: 1 or 0
};

/// Figures of masked tokens use only sequences that are one stretch of a document (next_sentence 0, or no
/// NSP), so that each window counts once. NSP figures use all sequences.
struct MlmFigures {
    std::int64_t chosen = 0, bases = 0;  ///< masked tokens, and the bases in them
    double bits_per_character = 0;       ///< sum of -log2 p over the chosen tokens, divided by their bases
    double mlm_loss = 0;                 ///< -ln p per chosen token; its exponential is the perplexity
    double accuracy = 0;
    /// Masked tokens of repeats, which are soft-masked, beside all others.
    struct {
        double share_of_bases = 0, share_of_loss = 0, bits_per_character = 0, bits_elsewhere = 0;
    } repeats;
    std::int64_t nsp_sequences = 0;
    double nsp_loss = 0, nsp_accuracy = 0;
};

struct MlmScores {
    std::vector<SequenceScore> sequences;
    std::vector<TokenScore> tokens;  ///< if requested: of the sequences that are one stretch

    MlmFigures figures() const;
    /// The bootstrap_interval() of sum(part / unit) / sum(of) over the sequences that are one stretch.
    std::pair<double, double> interval(double SequenceScore::*part, double unit, double SequenceScore::*of,
                                       std::uint64_t seed, int resamples = 1000) const;
};

struct ScoringSpec {
    std::int64_t sequences =
        0;  ///< number of sequences, from the start of the source's epoch; 0: the entire epoch
    std::int64_t max_tokens = 8192;  ///< padded, computed at once
    at::Device device = at::kCPU;
    training::ComputeType compute = training::ComputeType::fp32;
    training::Ranks* ranks =
        nullptr;              ///< ranks that share the work; each gets all scores; null: only this process
    bool tokens = false;      ///< also keep the scores of tokens, but only those of this process
    bool foreground = false;  ///< shows progress on standard error and throws Stopped on a signal
};

/// Scores with the network in eval mode, and restores its mode afterwards.
MlmScores score_mlm(model::PreTrainingModel& network, const corpus::ExampleSource& source,
                    const tokenizer::DnaTokenizer& tokenizer, const ScoringSpec& spec);

}  // namespace bigbird::pretraining
