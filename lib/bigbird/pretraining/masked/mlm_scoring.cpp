// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/masked/mlm_scoring.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/statistics/bootstrap_interval.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/pretraining/masked/mlm_batch.hpp"
#include "bigbird/training/prefetch.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

namespace bigbird::pretraining {

namespace {

/// The sentences of a corpus, in order.
struct SentenceWalk {
    const corpus::TokenCorpus& corpus;
    std::int64_t document = 0, sentence = 0;  // sentence: of all

    std::int64_t first_of_document() const {
        return document == 0 ? 0 : corpus.document_ends()[static_cast<std::size_t>(document - 1)];
    }
    std::int64_t end() const { return corpus.sentence_ends()[static_cast<std::size_t>(sentence)]; }
    /// Goes on to the sentence that holds the token.
    void reach(std::int64_t token) {
        while (end() <= token)
            ++sentence;
        while (corpus.document_ends()[static_cast<std::size_t>(document)] <= sentence)
            ++document;
    }
};

bool whole_stretch(const SequenceScore& score) {
    return score.pair != 2;
}

double ratio(double value, double of) {
    return of > 0 ? value / of : 0;
}

struct Chunk {
    std::vector<corpus::Example> examples;
    GlobalBatch batch;
};

/// A head's scores of the true classes, which are being copied to the CPU.
struct Outcomes {
    Outcomes(const at::Tensor& logits, const at::Tensor& labels)
        : nats(at::cross_entropy_loss(logits, labels, {}, at::Reduction::None).to(at::kDouble)),
          correct(logits.argmax(-1).eq(labels)) {}
    model::HostCopy nats, correct;
};

/// Adds one micro-batch's scores of its sequences and, where `tokens` is given, of their tokens.
void score_part(model::PreTrainingModel& network, const MlmBatch& part, const Chunk& chunk,
                const tokenizer::DnaTokenizer& tokenizer, std::span<SequenceScore> scores,
                std::vector<TokenScore>* tokens) {
    const model::PreTrainingOutput out = network->forward(part.input, with_whole_steps(part.positions));
    const at::Tensor logits = out.prediction_logits.narrow(0, 0, part.labels.size(0));
    Outcomes of_tokens(logits.to(at::kFloat), part.labels);
    std::optional<Outcomes> of_pairs;
    if (part.next_sentence.defined())
        of_pairs.emplace(out.seq_relationship_logits.to(at::kFloat), part.next_sentence);
    const at::Tensor nats = of_tokens.nats.get(), correct = of_tokens.correct.get();
    at::Tensor next_nats, next_correct;
    if (of_pairs) {
        next_nats = of_pairs->nats.get();
        next_correct = of_pairs->correct.get();
    }
    std::int64_t at = 0;
    for (std::size_t row = 0; row < part.examples.size(); ++row) {
        const corpus::Example& example = chunk.examples[part.examples[row]];
        SequenceScore& score = scores[part.examples[row]];
        score.pair = example.next_sentence + 1;
        for (std::size_t i = 0; i < example.masked_labels.size(); ++i, ++at) {
            const TokenScore token{example.masked_tokens[i], nats.const_data_ptr<double>()[at],
                                   correct.const_data_ptr<bool>()[at]};
            score.nats += token.nats;
            score.correct += token.correct ? 1 : 0;
            score.bases += tokenizer.piece_length(example.masked_labels[i]);
            ++score.chosen;
            if (example.masked_repeats[i] != 0) {
                score.repeat_nats += token.nats;
                score.repeat_bases += tokenizer.piece_length(example.masked_labels[i]);
            }
            if (tokens != nullptr && whole_stretch(score)) tokens->push_back(token);
        }
        if (next_nats.defined()) {
            score.pair_nats = next_nats.const_data_ptr<double>()[row];
            score.pair_correct = next_correct.const_data_ptr<bool>()[row] ? 1 : 0;
        }
    }
}

/// Gives every rank all scores, by a sum: each rank has zeros for the other ranks' sequences.
void gather(std::vector<SequenceScore>& scores, training::Ranks& ranks) {
    constexpr std::int64_t fields = sizeof(SequenceScore) / sizeof(double);
    at::Tensor table = at::from_blob(scores.data(), {std::ssize(scores), fields}, at::kDouble);
    ranks.sum(table);
}

}  // namespace

void write_token_scores(std::vector<TokenScore> scores, const corpus::TokenCorpus& corpus,
                        const tokenizer::DnaTokenizer& tokenizer, genome::TextOutput& output) {
    std::ranges::stable_sort(scores, {}, &TokenScore::token);
    output.write("#document\tsentence\tstart\tend\tpiece\tbits\tcorrect\n");
    SentenceWalk walk{corpus};
    std::int64_t held = -1, next = 0,
                 start = 0;  // the sentence whose ids are in memory; its first token is `start`
    std::vector<std::int32_t> ids;
    for (const TokenScore& score : scores) {
        walk.reach(score.token);
        const std::int64_t begin = corpus.sentence_begin(walk.sentence);
        if (walk.sentence != held) {
            held = walk.sentence;
            ids.clear();
            corpus.append_ids(begin, walk.end(), ids);
            next = begin;
            start = 0;
        }
        for (; next < score.token; ++next)
            start += tokenizer.piece_length(ids[static_cast<std::size_t>(next - begin)]);
        const std::int32_t id = ids[static_cast<std::size_t>(score.token - begin)];
        output.write(fmt::format("{}\t{}\t{}\t{}\t{}\t{:.4f}\t{}\n", walk.document + 1,
                                 walk.sentence - walk.first_of_document() + 1, start,
                                 start + tokenizer.piece_length(id), tokenizer.piece(id),
                                 score.nats / std::numbers::ln2, score.correct ? 1 : 0));
    }
}

MlmFigures MlmScores::figures() const {
    using Score = SequenceScore;
    MlmFigures figures;
    Score sum;  // over the sequences that are one stretch
    for (const Score& score : sequences) {
        figures.nsp_sequences += score.pair > 0 ? 1 : 0;
        sum.pair_nats += score.pair_nats;  // of all: those without a pair have 0
        sum.pair_correct += score.pair_correct;
        if (!whole_stretch(score)) continue;
        for (const auto field : {&Score::nats, &Score::chosen, &Score::correct, &Score::bases,
                                 &Score::repeat_nats, &Score::repeat_bases})
            sum.*field += score.*field;
    }
    figures.chosen = std::llround(sum.chosen);
    figures.bases = std::llround(sum.bases);
    figures.bits_per_character = ratio(sum.nats / std::numbers::ln2, sum.bases);
    figures.mlm_loss = ratio(sum.nats, sum.chosen);
    figures.accuracy = ratio(sum.correct, sum.chosen);
    figures.repeats = {.share_of_bases = ratio(sum.repeat_bases, sum.bases),
                       .share_of_loss = ratio(sum.repeat_nats, sum.nats),
                       .bits_per_character = ratio(sum.repeat_nats / std::numbers::ln2, sum.repeat_bases),
                       .bits_elsewhere = ratio((sum.nats - sum.repeat_nats) / std::numbers::ln2,
                                               sum.bases - sum.repeat_bases)};
    const double pairs = std::max(1.0, static_cast<double>(figures.nsp_sequences));
    figures.nsp_loss = sum.pair_nats / pairs;
    figures.nsp_accuracy = sum.pair_correct / pairs;
    return figures;
}

std::pair<double, double> MlmScores::interval(double SequenceScore::*part, double unit,
                                              double SequenceScore::*of, std::uint64_t seed,
                                              int resamples) const {
    std::vector<Share> shares;
    for (const SequenceScore& score : sequences)
        if (whole_stretch(score)) shares.push_back({score.*part / unit, score.*of});
    return bootstrap_interval(shares, seed, resamples);
}

MlmScores score_mlm(model::PreTrainingModel& network, const corpus::ExampleSource& source,
                    const tokenizer::DnaTokenizer& tokenizer, const ScoringSpec& spec) {
    const std::int64_t total =
        spec.sequences > 0 ? std::min(spec.sequences, source.epoch_size()) : source.epoch_size();
    const std::int64_t chunk_size =
        std::max<std::int64_t>(1, spec.max_tokens / source.spec().sequence_length);
    const std::int64_t chunk_count = (total + chunk_size - 1) / chunk_size;
    const std::int64_t first = spec.ranks != nullptr ? spec.ranks->rank() : 0;
    const std::int64_t step = spec.ranks != nullptr ? spec.ranks->size() : 1;
    const model::BigBirdConfig& config = network->config();
    training::Prefetcher<Chunk> chunks([&](std::int64_t turn) {
        Chunk chunk;
        const std::int64_t number = first + turn * step;
        const std::int64_t begin = std::min(total, number * chunk_size),
                           end = std::min(total, begin + chunk_size);
        for (std::int64_t i = begin; i < end; ++i)
            chunk.examples.push_back(source.get(i));
        chunk.batch = make_global_batch(chunk.examples, config, spec.max_tokens, spec.device);
        return chunk;
    });
    const bool was_training = network->is_training();
    network->eval();
    const at::NoGradGuard no_gradients;
    std::optional<Progress> progress;
    if (spec.foreground) progress.emplace("scoring", "sequences", total);
    MlmScores scores;
    scores.sequences.resize(static_cast<std::size_t>(total));
    for (std::int64_t number = first; number < chunk_count; number += step) {
        if (spec.foreground) stop_if_asked();
        const Chunk chunk = chunks.get(number / step);
        const training::Autocast autocast(spec.compute, spec.device);
        const std::span<SequenceScore> found =
            std::span(scores.sequences)
                .subspan(static_cast<std::size_t>(number * chunk_size), chunk.examples.size());
        for (const MlmBatch& part : chunk.batch.parts)
            score_part(network, part, chunk, tokenizer, found, spec.tokens ? &scores.tokens : nullptr);
        if (progress) progress->update(std::min(total, (number + 1) * chunk_size));
    }
    if (step > 1) gather(scores.sequences, *spec.ranks);
    if (progress) progress->finish();
    network->train(was_training);
    return scores;
}

}  // namespace bigbird::pretraining
