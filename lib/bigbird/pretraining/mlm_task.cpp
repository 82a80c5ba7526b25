// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/mlm_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/pretraining/masked/mlm_scoring.hpp"

#include <ATen/ATen.h>

#include <chrono>
#include <numbers>
#include <set>

namespace bigbird::pretraining {

namespace {

constexpr const char* redraw_key = "redraw";

/// This rank's share of a step.
GlobalBatch batch_of(const corpus::ExampleSource& source, const tokenizer::DnaTokenizer& tokenizer,
                     const model::BigBirdConfig& config, const MlmTaskSpec& spec,
                     const training::Ranks& ranks, std::int64_t step) {
    const std::int64_t begin = spec.batch_size * ranks.rank() / ranks.size();
    const std::int64_t end = spec.batch_size * (ranks.rank() + 1) / ranks.size();
    std::vector<corpus::Example> examples;
    const std::int32_t mask = tokenizer.special_ids().mask;
    std::int64_t hidden = 0, bases = 0;
    double weight = 0;
    for (std::int64_t i = begin; i < end; ++i) {
        examples.push_back(source.get((step - 1) * spec.batch_size + i));
        const corpus::Example& example = examples.back();
        for (std::size_t m = 0; m < example.masked_positions.size(); ++m) {
            weight += example.masked_repeats[m] != 0 ? spec.repeat_weight : 1;
            if (example.ids[static_cast<std::size_t>(example.masked_positions[m])] != mask) continue;
            ++hidden;
            bases += tokenizer.piece_length(example.masked_labels[m]);
        }
    }
    GlobalBatch batch = make_global_batch(examples, config, spec.micro_batch_tokens, spec.device, begin);
    batch.hidden = hidden;
    batch.weight = weight;
    batch.hidden_bases = bases;
    return batch;
}

/// The divisors of all ranks' losses.
struct Normaliser {
    double weight = 1, hidden = 1, hidden_bases = 1, sequences = 1;  ///< weight: of the masked tokens

    static Normaliser of(const GlobalBatch& batch, training::Ranks& ranks) {
        at::Tensor counts =
            at::tensor({batch.weight, static_cast<double>(batch.hidden),
                        static_cast<double>(batch.hidden_bases), static_cast<double>(batch.sequences)},
                       at::kDouble);
        ranks.sum(counts);
        const auto* values = counts.const_data_ptr<double>();
        const auto or_1 = [](double value) { return value > 0 ? value : 1; };
        return {or_1(values[0]), or_1(values[1]), or_1(values[2]), or_1(values[3])};
    }
};

/// Means over the global batch, gathered micro-batch by micro-batch; 0-dim float32 on the device. Accuracy
/// and hidden_nats count the tokens that the network sees as [MASK], as an evaluation does: an unchanged
/// token reveals its own answer.
struct Sums {
    at::Device device;
    at::Tensor mlm_loss = at::zeros({}, device), mlm_accuracy = at::zeros({}, device),
               hidden_nats = at::zeros({}, device), repeat_nats = at::zeros({}, device),
               nsp_loss = at::zeros({}, device), nsp_accuracy = at::zeros({}, device);
};

/// The micro-batch's share of the global loss.
at::Tensor loss_of(const model::PreTrainingLoss& out, const MlmBatch& part, std::int32_t mask,
                   const Normaliser& by, Sums& sums) {
    at::Tensor loss = out.nats / by.weight;
    sums.mlm_loss += loss.detach();
    const at::Tensor hidden = part.input.input_ids.flatten(0, 1).index_select(0, part.positions).eq(mask);
    sums.mlm_accuracy += out.token_correct.logical_and(hidden).sum() / by.hidden;
    sums.hidden_nats += out.token_nats.mul(hidden).sum();
    if (part.repeats.defined())
        sums.repeat_nats += out.token_nats.mul(hidden.logical_and(part.repeats)).sum();
    if (part.next_sentence.defined()) {
        const at::Tensor pair = out.seq_relationship_logits.to(at::kFloat);  // (batch, 2)
        const at::Tensor nsp =
            at::cross_entropy_loss(pair, part.next_sentence, {}, at::Reduction::Sum) / by.sequences;
        sums.nsp_loss += nsp.detach();
        sums.nsp_accuracy += pair.detach().argmax(-1).eq(part.next_sentence).sum() / by.sequences;
        loss = loss + nsp;
    }
    return loss;
}

/// The parameters that affect the loss. Without NSP, its head and the pooler do not; without global tokens,
/// their projections do not.
std::vector<at::Tensor> used_parameters(const model::PreTrainingModel& network, bool nsp) {
    const auto& longformer = network->config().longformer;
    const bool global = longformer && longformer->global_tokens.value_or(0) > 0;
    std::vector<at::Tensor> parameters;
    std::set<const void*> seen;
    for (const auto& item : network->named_parameters()) {
        const bool pairs_only =
            item.key().starts_with("bert.pooler") || item.key().starts_with("cls.seq_relationship");
        const bool global_only = item.key().find("_global.") != std::string::npos;
        if ((nsp || !pairs_only) && (global || !global_only) &&
            seen.insert(item.value().unsafeGetTensorImpl()).second)
            parameters.push_back(item.value());
    }
    return parameters;
}

/// The weight of each masked token; undefined: all have 1.
at::Tensor weights_of(const MlmBatch& part, double repeat_weight) {
    if (repeat_weight == 1 || !part.repeats.defined()) return {};
    return at::ones({part.repeats.size(0)}, part.repeats.options().dtype(at::kFloat))
        .masked_fill_(part.repeats, repeat_weight);
}

}  // namespace

MlmTask::MlmTask(model::PreTrainingModel network, tokenizer::DnaTokenizer tokenizer,
                 corpus::ExampleSource source, std::optional<corpus::ExampleSource> held_out,
                 const MlmTaskSpec& spec)
    : network_(std::move(network)),
      tokenizer_(std::move(tokenizer)),
      source_(std::move(source)),
      held_out_(std::move(held_out)),
      spec_(spec),
      config_(network_->config()),
      ranks_(spec.ranks),
      gradients_(used_parameters(network_, source_.spec().nsp), *ranks_),
      batches_([this](std::int64_t step) {
          return batch_of(source_, tokenizer_, config_, spec_, *ranks_, step);
      }) {
    if (spec.repeat_weight != 1 && !source_.corpus().is_marked()) {
        throw ConfigError(
            "--repeat-weight needs repeats in lower case: draw documents from a soft-masked --reference, or "
            "give --documents of build-documents --format bed, or token shards of those");
    }
    network_->set_recompute(spec.recompute);
    network_->set_packed_projections(spec.packed_projections);
    network_->set_attention_backend(spec.attention);
}

training::StepStats MlmTask::accumulate(std::int64_t step) {
    network_->train();
    if (config_.performer) network_->set_redraw(config_.performer->redraw_at(step));
    const auto asked = std::chrono::steady_clock::now();
    const GlobalBatch batch = batches_.get(step);
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - asked;
    const Normaliser by = Normaliser::of(batch, *ranks_);
    const std::int32_t mask = tokenizer_.special_ids().mask;
    Sums sums{spec_.device};
    for (std::size_t i = 0; i < batch.parts.size(); ++i) {
        const MlmBatch& part = batch.parts[i];
        at::Tensor loss;
        {
            const training::Autocast autocast(spec_.compute, spec_.device);
            const model::DropoutKey key{.seed = spec_.seed, .step = step, .samples = part.samples};
            const at::Tensor hidden = network_->encode(part.input, false, key).hidden;
            loss = loss_of(
                network_->loss(hidden, part.positions, part.labels, weights_of(part, spec_.repeat_weight)),
                part, mask, by, sums);
        }
        if (i + 1 < batch.parts.size())
            loss.backward();
        else
            gradients_.backward(loss);
    }
    training::StepStats stats{
        .loss = sums.mlm_loss + sums.nsp_loss,
        .metrics = {{"mlm_loss", sums.mlm_loss},
                    {"mlm_accuracy", sums.mlm_accuracy},
                    {"bits_per_character", sums.hidden_nats / (by.hidden_bases * std::numbers::ln2)}},
        .tokens = batch.tokens,
        .sequences = batch.sequences,
        .padded_tokens = batch.padded_tokens,
        .operations = 3 * batch.operations,
        .wait_seconds = waited.count()};
    if (source_.corpus().is_marked())
        stats.metrics.emplace_back("repeat_bits_per_character",
                                   sums.repeat_nats / (by.hidden_bases * std::numbers::ln2));
    if (source_.spec().nsp) {
        stats.metrics.emplace_back("nsp_loss", sums.nsp_loss);
        stats.metrics.emplace_back("nsp_accuracy", sums.nsp_accuracy);
    }
    return stats;
}

Json MlmTask::evaluate() {
    if (!held_out_) return Json::object();
    const MlmFigures figures = score_mlm(network_, *held_out_, tokenizer_,
                                         {.sequences = spec_.evaluation_sequences,
                                          .max_tokens = spec_.micro_batch_tokens,
                                          .device = spec_.device,
                                          .compute = spec_.compute,
                                          .ranks = ranks_.get()})
                                   .figures();
    Json metrics{{"eval_loss", figures.mlm_loss + figures.nsp_loss},
                 {"eval_mlm_loss", figures.mlm_loss},
                 {"eval_mlm_accuracy", figures.accuracy},
                 {"eval_bits_per_character", figures.bits_per_character}};
    if (figures.nsp_sequences > 0) {
        metrics["eval_nsp_loss"] = figures.nsp_loss;
        metrics["eval_nsp_accuracy"] = figures.nsp_accuracy;
    }
    return metrics;
}

Json MlmTask::state() const {
    const auto& performer = network_->config().performer;
    return performer ? Json{{redraw_key, performer->redraw}} : Json::object();
}

void MlmTask::restore(const Json& state) {
    if (state.contains(redraw_key)) network_->set_redraw(state.at(redraw_key).get<std::int64_t>());
}

void MlmTask::write_model(const std::filesystem::path& directory) {
    model::write_model(network_, &tokenizer_, directory);
}

}  // namespace bigbird::pretraining
