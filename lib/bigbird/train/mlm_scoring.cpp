// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/mlm_scoring.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/train/mlm_batch.hpp"
#include "bigbird/train/prefetch.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace bigbird::train {

namespace {

bool whole_stretch(const SequenceScore& score) {
    return score.next_sentence != 1;
}

bool has_pair(const SequenceScore& score) {
    return score.next_sentence >= 0;
}

template <typename Value>
auto sum_of(const std::vector<SequenceScore>& scores, bool (*wanted)(const SequenceScore&), Value value) {
    decltype(value(scores.front())) sum{};
    for (const SequenceScore& score : scores) {
        if (wanted(score)) {
            sum += value(score);
        }
    }
    return sum;
}

double ratio(double value, double of) {
    return of > 0 ? value / of : 0;
}

struct Chunk {
    std::vector<corpus::Example> examples;
    GlobalBatch batch;
};

/// Adds what one micro-batch says of its sequences.
void score_part(model::PreTrainingModel& network, const MlmBatch& part, const Chunk& chunk,
                const tokenizer::DnaTokenizer& tokenizer, std::vector<SequenceScore>& scores) {
    const model::PreTrainingOutput out = network->forward(part.input, part.positions);
    const at::Tensor logits = out.prediction_logits.to(at::kFloat);
    const at::Tensor nats =
        at::cross_entropy_loss(logits, part.labels, {}, at::Reduction::None).to(at::kCPU, at::kDouble);
    const at::Tensor correct = logits.argmax(-1).eq(part.labels).cpu();
    at::Tensor next_nats, next_correct;
    if (part.next_sentence.defined()) {
        const at::Tensor pair = out.seq_relationship_logits.to(at::kFloat);
        next_nats = at::cross_entropy_loss(pair, part.next_sentence, {}, at::Reduction::None)
                        .to(at::kCPU, at::kDouble);
        next_correct = pair.argmax(-1).eq(part.next_sentence).cpu();
    }
    std::int64_t at = 0;
    for (std::size_t row = 0; row < part.examples.size(); ++row) {
        const corpus::Example& example = chunk.examples[part.examples[row]];
        SequenceScore& score = scores[part.examples[row]];
        score.next_sentence = example.next_sentence;
        for (const std::int32_t label : example.masked_labels) {
            score.nats += nats.const_data_ptr<double>()[at];
            score.correct += correct.const_data_ptr<bool>()[at] ? 1 : 0;
            score.bases += tokenizer.piece_length(label);
            ++score.chosen;
            ++at;
        }
        if (next_nats.defined()) {
            score.next_sentence_nats = next_nats.const_data_ptr<double>()[row];
            score.next_sentence_correct = next_correct.const_data_ptr<bool>()[row];
        }
    }
}

}  // namespace

std::int64_t MlmScores::chosen() const {
    return sum_of(sequences, whole_stretch, [](const SequenceScore& s) { return s.chosen; });
}

std::int64_t MlmScores::bases() const {
    return sum_of(sequences, whole_stretch, [](const SequenceScore& s) { return s.bases; });
}

double MlmScores::bits_per_character() const {
    const double nats = sum_of(sequences, whole_stretch, [](const SequenceScore& s) { return s.nats; });
    return ratio(nats / std::numbers::ln2, static_cast<double>(bases()));
}

double MlmScores::mlm_loss() const {
    const double nats = sum_of(sequences, whole_stretch, [](const SequenceScore& s) { return s.nats; });
    return ratio(nats, static_cast<double>(chosen()));
}

double MlmScores::accuracy() const {
    const auto correct = sum_of(sequences, whole_stretch, [](const SequenceScore& s) { return s.correct; });
    return ratio(static_cast<double>(correct), static_cast<double>(chosen()));
}

std::int64_t MlmScores::nsp_sequences() const {
    return sum_of(sequences, has_pair, [](const SequenceScore&) { return std::int64_t{1}; });
}

double MlmScores::nsp_loss() const {
    const double nats =
        sum_of(sequences, has_pair, [](const SequenceScore& s) { return s.next_sentence_nats; });
    return ratio(nats, static_cast<double>(nsp_sequences()));
}

double MlmScores::nsp_accuracy() const {
    const double correct = sum_of(sequences, has_pair,
                                  [](const SequenceScore& s) { return s.next_sentence_correct ? 1.0 : 0.0; });
    return ratio(correct, static_cast<double>(nsp_sequences()));
}

std::pair<double, double> MlmScores::bits_interval(std::uint64_t seed, int resamples) const {
    std::vector<std::pair<double, double>> whole;  // bits, bases
    for (const SequenceScore& score : sequences) {
        if (whole_stretch(score)) {
            whole.emplace_back(score.nats / std::numbers::ln2, static_cast<double>(score.bases));
        }
    }
    if (whole.empty()) {
        return {0, 0};
    }
    const Rng rng = Rng(seed).split("bootstrap");
    std::vector<double> values;
    for (int resample = 0; resample < resamples; ++resample) {
        Rng draw = rng.split(static_cast<std::uint64_t>(resample));
        double bits = 0, spelt = 0;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            const auto pick =
                static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(whole.size()) - 1));
            bits += whole[pick].first;
            spelt += whole[pick].second;
        }
        values.push_back(ratio(bits, spelt));
    }
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(std::llround(share * static_cast<double>(values.size() - 1)))];
    };
    return {at(0.025), at(0.975)};
}

MlmScores score_mlm(model::PreTrainingModel& network, const corpus::ExampleSource& source,
                    const tokenizer::DnaTokenizer& tokenizer, const ScoringSpec& spec) {
    const std::int64_t total =
        spec.sequences > 0 ? std::min(spec.sequences, source.epoch_size()) : source.epoch_size();
    const std::int64_t chunk_size =
        std::max<std::int64_t>(1, spec.max_tokens / source.spec().sequence_length);
    const model::BigBirdConfig& config = network->config();
    Prefetcher<Chunk> chunks([&](std::int64_t number) {
        Chunk chunk;
        const std::int64_t begin = number * chunk_size, end = std::min(total, begin + chunk_size);
        for (std::int64_t i = begin; i < end; ++i) {
            chunk.examples.push_back(source.get(i));
        }
        chunk.batch = make_global_batch(chunk.examples, config, spec.max_tokens, spec.device);
        return chunk;
    });
    const bool was_training = network->is_training();
    network->eval();
    const at::NoGradGuard no_gradients;
    std::optional<Progress> progress;
    if (spec.foreground) {
        progress.emplace("scoring", "sequences", total);
    }
    MlmScores scores;
    for (std::int64_t done = 0; done < total; done += chunk_size) {
        if (spec.foreground) {
            stop_if_asked();
        }
        const Chunk chunk = chunks.get(done / chunk_size);
        const Autocast autocast(spec.compute, spec.device);
        std::vector<SequenceScore> found(chunk.examples.size());
        for (const MlmBatch& part : chunk.batch.parts) {
            score_part(network, part, chunk, tokenizer, found);
        }
        scores.sequences.insert(scores.sequences.end(), found.begin(), found.end());
        if (progress) {
            progress->update(static_cast<std::int64_t>(scores.sequences.size()));
        }
    }
    if (progress) {
        progress->finish();
    }
    network->train(was_training);
    return scores;
}

}  // namespace bigbird::train
