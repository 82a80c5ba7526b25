// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/pretrain.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/pretraining/initial_model.hpp"
#include "bigbird/training/checkpoint_store.hpp"
#include "bigbird/training/device/autocast.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bigbird::pretraining {

namespace {

constexpr double clearly_less = 0.75;  // share of the need that did not fit, independent of the free memory
constexpr double gigabyte = 1e9;

double need(const PretrainRun& spec, const MemoryLoad& load) {
    return memory_needed(spec.config, load).total();
}

/// The greatest number of sequences, up to the load's, that fits; 0: none.
std::int64_t fitting_sequences(const PretrainRun& spec, MemoryLoad load, double bytes) {
    std::int64_t fits = 0, too_many = load.sequences + 1;
    while (too_many - fits > 1) {
        load.sequences = fits + (too_many - fits) / 2;
        (need(spec, load) <= bytes ? fits : too_many) = load.sequences;
    }
    return fits;
}

std::string in_gigabytes(double bytes) {
    return fmt::format("{:.2f} GB", bytes / gigabyte);
}

/// The mildest change that fits into `bytes`.
std::string what_fits(const PretrainRun& spec, const MemoryLoad& now, double bytes) {
    MemoryLoad load = now;
    if ((load.sequences = fitting_sequences(spec, now, bytes)) > 0) {
        return fmt::format("--micro-batch-size {} needs about {}, the result is the same", load.sequences,
                           in_gigabytes(need(spec, load)));
    }
    load = now;
    load.recompute = true;
    if ((load.sequences = fitting_sequences(spec, load, bytes)) > 0) {
        return fmt::format("--recompute on --micro-batch-size {} needs about {}, the result is the same",
                           load.sequences, in_gigabytes(need(spec, load)));
    }
    load.sequences = 1;
    const std::int64_t block = spec.config.pattern.block_size;
    for (load.length = now.length / 2 / block * block; load.length > 0;
         load.length = load.length / 2 / block * block) {
        if (need(spec, load) <= bytes) {
            return fmt::format("--recompute on --micro-batch-size 1 --sequence-length {} needs about {}",
                               load.length, in_gigabytes(need(spec, load)));
        }
    }
    return fmt::format("weights, gradients and moments alone take {}: a smaller --config is needed",
                       in_gigabytes(memory_needed(spec.config, now).state));
}

}  // namespace

MemoryLoad memory_load(const PretrainRun& spec) {
    const std::int64_t length = padded_length(spec);
    const std::int64_t ranks = spec.task.ranks->size();
    const std::int64_t own = (spec.task.batch_size + ranks - 1) / ranks;
    return {.sequences = std::clamp<std::int64_t>(spec.task.micro_batch_tokens / length, 1, own),
            .length = length,
            .masked_share = spec.examples.masking.rate,
            .bf16 = spec.task.compute == training::ComputeType::bf16,
            .recompute = spec.task.recompute,
            .on_cpu = spec.task.device.is_cpu(),
            .several_ranks = ranks > 1};
}

std::string memory_advice(const PretrainRun& spec, double bytes) {
    const MemoryLoad now = memory_load(spec);
    const double needed = need(spec, now);
    return fmt::format("{} sequences of {} tokens at once need about {}{}; {}", now.sequences, now.length,
                       in_gigabytes(needed),
                       std::isfinite(bytes) ? ", and " + in_gigabytes(bytes) + " were free" : "",
                       what_fits(spec, now, std::min(bytes, clearly_less * needed)));
}

std::optional<std::string> memory_warning(const PretrainRun& spec, double bytes) {
    return need(spec, memory_load(spec)) > bytes ? std::optional(memory_advice(spec, bytes)) : std::nullopt;
}

namespace {

constexpr const char* provenance_key = "pretraining";  // in config.json, under bigbird_dna

/// Options that change the result, by name, before the command's inputs.
Json fixed_options(const PretrainRun& spec, const tokenizer::DnaTokenizer& tokenizer) {
    const training::LearningRateSpec& rate = spec.loop.learning_rate;
    const training::OptimizerSpec& optimizer = spec.loop.optimizer;
    Json options = spec.loop.fixed_options;
    if (optimizer.kind != training::OptimizerKind::adamw)
        options["--optimizer"] = word_of(training::optimizer_choices, optimizer.kind);
    options["--tokenizer"] = {{"sha256", sha256_of_text(tokenizer.serialized())}};
    if (!spec.model.empty()) options["--model"] = {{"sha256", model::weights_checksum(spec.model)}};
    options["--steps"] = rate.total_steps;
    options["--batch-size"] = spec.task.batch_size;
    options["--sequence-length"] = spec.examples.sequence_length;
    options["--learning-rate"] = rate.peak;
    options["--warmup-steps"] = rate.warmup_steps;
    options["--schedule"] = word_of(training::decays, rate.decay);
    options["--weight-decay"] = optimizer.weight_decay;
    options["--clip-norm"] = optimizer.clip_norm;
    if (!optimizer.has_usual_betas()) options["--betas"] = {optimizer.beta1, optimizer.beta2};
    if (optimizer.epsilon != training::OptimizerSpec{}.epsilon) options["--epsilon"] = optimizer.epsilon;
    const corpus::MaskingSpec& masking = spec.examples.masking;
    options["--masking-rate"] = masking.rate;
    options["--mask-share"] = masking.mask;
    options["--random-share"] = masking.random;
    options["--mask-spans"] = 0.0;
    if (spec.task.repeat_weight != 1) options["--repeat-weight"] = spec.task.repeat_weight;
    options["--nsp"] = spec.examples.nsp ? "on" : "off";
    options["--dtype"] = spec.task.compute == training::ComputeType::bf16 ? "bf16" : "fp32";
    options["--seed"] = spec.task.seed;
    return options;
}

/// Share of padding in the computed tokens: up to full blocks, and in sequences too short to be packed.
double padded_share(const corpus::ExampleSource& source, const PretrainRun& spec) {
    const double full = static_cast<double>(spec.examples.sequence_length);
    return 1.0 - (1.0 - source.padding_share()) * full / static_cast<double>(padded_length(spec));
}

/// Number of steps that process as many tokens as the corpus has. (An epoch of examples has more with NSP,
/// where a window is the first sentence of one example and the second of another.)
double steps_of_epoch(const corpus::ExampleSource& source, const PretrainRun& spec) {
    const double step_tokens =
        static_cast<double>(spec.task.batch_size) * static_cast<double>(spec.examples.sequence_length);
    return static_cast<double>(source.corpus().tokens()) / (step_tokens * (1 - source.padding_share()));
}

void set_steps(PretrainRun& spec, const corpus::ExampleSource& source) {
    const double steps = std::ceil(spec.epochs * steps_of_epoch(source, spec));
    spec.loop.learning_rate =
        spec.loop.learning_rate.over(std::max<std::int64_t>(1, static_cast<std::int64_t>(steps)));
}

/// Advice if the run reads the corpus so often that most of its time is wasted. In Muennighoff and others
/// (2023), "Scaling data-constrained language models", data that are read 40 times teach nothing more.
std::optional<std::string> repetition_advice(std::int64_t tokens, double epochs) {
    constexpr double most_epochs = 40;
    if (epochs <= most_epochs) return std::nullopt;
    return fmt::format(
        "the corpus of {} is read {:.0f} times, and after about {:.0f} times a network "
        "learns "
        "little but to repeat it: give more sequence, or --epochs {:.0f} and a smaller --config",
        counted(tokens, "token"), epochs, most_epochs, most_epochs);
}

void describe(const model::PreTrainingModel& network, const corpus::ExampleSource& source,
              const PretrainRun& spec) {
    std::int64_t parameters = 0;
    for (const at::Tensor& parameter : network->parameters())
        parameters += parameter.numel();
    if (!spec.model.empty()) log_info("{}: the weights that this run starts from", spec.model.string());
    const corpus::TokenCorpus& corpus = source.corpus();
    const double tokens = static_cast<double>(corpus.tokens());
    log_info("{}, {} of {:.2f} bases; a network of {:.1f} million parameters",
             counted(corpus.documents(), "document"), counted(corpus.tokens(), "token"),
             static_cast<double>(corpus.bases()) / tokens, static_cast<double>(parameters) / 1e6);
    const std::int64_t steps = spec.loop.learning_rate.total_steps;
    log_info("{} of {} of {} tokens: the corpus {:.2f} times", counted(steps, "step"),
             counted(spec.task.batch_size, "sequence"), spec.examples.sequence_length,
             static_cast<double>(steps) / steps_of_epoch(source, spec));
    if (const auto advice =
            repetition_advice(corpus.tokens(), static_cast<double>(steps) / steps_of_epoch(source, spec)))
        log_warning("{}", *advice);
    log_info("padding: {:.2f} % of the tokens", 100 * padded_share(source, spec));
}

/// Bytes available to each process of this machine.
double memory_for_each(const PretrainRun& spec) {
    const int sharers = spec.task.device.is_cpu() ? spec.task.ranks->spec().local_size : 1;
    return training::available_memory(spec.task.device) / sharers;
}

void warn_of_memory(const PretrainRun& spec) {
    const auto warning = memory_warning(spec, memory_for_each(spec));
    if (warning && spec.task.ranks->is_first()) log_warning("memory may run out: {}", *warning);
}

/// Adds provenance, and settings that are derived from the tokenizer.
void complete(PretrainRun& spec, const tokenizer::DnaTokenizer& tokenizer) {
    spec.config.vocab_size = tokenizer.vocab_size();
    spec.config.pad_token_id = tokenizer.special_ids().pad;
    spec.validate();
    spec.loop.fixed_options = fixed_options(spec, tokenizer);
    spec.config.extra[provenance_key] = {{"version", std::string(version())},
                                         {"options", spec.loop.fixed_options}};
    model::BigBirdConfig plain = spec.config;
    plain.extra = Json::object();
    spec.loop.fixed_options["--config"] = model::config_to_json(plain, "BigBirdForPreTraining");
    spec.loop.memory_advice = memory_advice(spec, memory_for_each(spec));
    spec.loop.compute = spec.task.compute;
    spec.loop.ranks = spec.task.ranks;
}

model::PreTrainingModel make_network(const PretrainRun& spec) {
    model::PreTrainingModel network(spec.config);
    model::initialise(*network, spec.config, spec.task.seed);
    if (!spec.model.empty()) model::fill_from_pretrained(*network, spec.model);
    network->to(spec.task.device);
    return network;
}

/// The model's card.
std::string card_of(const PretrainRun& spec, const corpus::ExampleSource& source,
                    const training::TrainedModel& trained) {
    const corpus::TokenCorpus& corpus = source.corpus();
    model::ModelCard card;
    card.name = std::string(spec.config.longformer ? "Longformer" : "BigBird") + " pretrained on DNA";
    card.summary = "This model predicts masked tokens of DNA. finetune and embed start from it.";
    card.tags = {"fill-mask", "bigbird"};
    card.results = {{.task = model::card_task("pretraining"),
                     .split = "validation",
                     .data = "the held-out documents",
                     .metrics = model::card_metrics(trained.evaluation)}};
    if (card.results.front().metrics.empty()) card.results.clear();
    card.before = {
        {"Use",
         "    bigbird-dna embed --model . --reference genome.fa --regions regions.bed --output "
         "vectors.tsv\n\n"
         "Hugging Face transformers opens the folder, too: `config.json` and `model.safetensors` are in its "
         "form, `tokenizer.json` is the tokenizer."},
        {"Data", model::card_table("what", "value",
                                   {{"documents", std::to_string(corpus.documents())},
                                    {"tokens", std::to_string(corpus.tokens())},
                                    {"bases", std::to_string(corpus.bases())},
                                    {"weights, model.safetensors, SHA-256",
                                     sha256_of_file(trained.folder / "model.safetensors")}})}};
    Json options = spec.loop.fixed_options;
    for (auto& item : options.items())
        if (item.value().is_object() && item.value().contains("sha256"))
            item.value() = item.value()["sha256"];
    card.after = {
        {"Training", fmt::format("The weights are those of step {}.\n\n", trained.step) +
                         model::card_table("option", "value", model::card_options(options))},
        {"Limits",
         "- The model knows the sequence that it was trained on: the organism and the assembly of the "
         "documents.\n"
         "- It gives no labels: fine-tune it for a task, and compare with a linear baseline on the same rows "
         "(`--architecture kmer-ridge`)."}};
    return model::to_text(card);
}

/// Projected from one micro-batch of the run, forward and backward.
double seconds_of_step(const PretrainRun& spec, const corpus::ExampleSource& source,
                       const tokenizer::DnaTokenizer& tokenizer) {
    MlmTaskSpec measured = spec.task;
    measured.batch_size = memory_load(spec).sequences;
    const double seconds = training::with_memory_advice(training::out_of_memory(spec.loop), [&] {
        MlmTask task(make_network(spec), tokenizer, source, std::nullopt, measured);
        double last = 0;
        for (std::int64_t step = 1; step <= 2; ++step) {  // the first one warms up
            stop_if_asked();
            const auto start = std::chrono::steady_clock::now();
            task.accumulate(step).loss.item<float>();
            last = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
        return last;
    });
    return seconds * static_cast<double>(spec.task.batch_size) / static_cast<double>(measured.batch_size);
}

/// Logs how long a new run will take. Throws ConfigError if that is too long on a CPU, unless the user
/// asked for it. Runs of a few micro-batches or of several processes are not measured.
void project(const PretrainRun& spec, const corpus::ExampleSource& source,
             const tokenizer::DnaTokenizer& tokenizer, const std::filesystem::path& run_directory) {
    constexpr std::int64_t few_sequences = 2'000;
    const std::int64_t steps = spec.loop.learning_rate.total_steps;
    if (steps < few_sequences / spec.task.batch_size || spec.task.ranks->size() > 1) return;
    const training::RunSpec& run = spec.loop.run;
    if (!run.resume.empty()) return;
    if (!run.force && !training::CheckpointStore(run_directory, 1).steps().empty()) return;
    const double hours = seconds_of_step(spec, source, tokenizer) * static_cast<double>(steps) / 3600;
    log_info("projected time: {} (one micro-batch measured)", Progress::duration(3600 * hours));
    if (!spec.task.device.is_cpu() || spec.loop.run.max_hours > 0 || hours <= longest_unasked_hours) return;
    throw ConfigError(fmt::format(
        "the projection is {:.0f} days on this CPU: choose a smaller --config, fewer --steps or --epochs, or "
        "give --max-hours",
        hours / 24));
}

}  // namespace

std::int64_t padded_length(const PretrainRun& spec) {
    const std::int64_t block = spec.config.pattern.block_size;
    return (spec.examples.sequence_length + block - 1) / block * block;
}

std::int64_t micro_batch_tokens(std::int64_t sequences, const PretrainRun& spec) {
    if (sequences > 0) return sequences * padded_length(spec);
    return spec.task.device.is_cpu() ? 4'096 : 32'768;
}

void PretrainRun::validate() const {
    config.validate();
    examples.validate();
    if (examples.nsp && config.type_vocab_size < 2) {
        throw ConfigError(
            "type_vocab_size is 1, and next-sentence prediction needs two token types: give --nsp off");
    }
    loop.learning_rate.validate();
    loop.optimizer.validate();
    const std::int64_t needed = config.longformer ? examples.sequence_length : padded_length(*this);
    if (needed > config.positions()) {
        throw ConfigError("--sequence-length " + std::to_string(examples.sequence_length) +
                          " is longer than the " + std::to_string(config.positions()) +
                          " positions of the network");
    }
    if (task.batch_size < task.ranks->size()) {
        throw ConfigError("--batch-size " + std::to_string(task.batch_size) + " leaves some of the " +
                          std::to_string(task.ranks->size()) + " processes without a sequence");
    }
}

training::LoopResult pretrain(PretrainRun spec, const tokenizer::DnaTokenizer& tokenizer,
                              const PretrainCorpora& corpora, const std::filesystem::path& run_directory) {
    std::optional<corpus::ExampleSource> source_read;
    if (spec.epochs > 0) set_steps(spec, source_read.emplace(corpora.train(), tokenizer, spec.examples));
    complete(spec, tokenizer);
    if (const auto finished = training::finished_run(run_directory, spec.loop)) {
        log_info("{}: this run is finished already; nothing to do", run_directory.string());
        return *finished;
    }
    warn_of_memory(spec);
    if (!source_read) source_read.emplace(corpora.train(), tokenizer, spec.examples);
    const corpus::ExampleSource& source = *source_read;
    std::optional<corpus::ExampleSource> held_out;
    if (corpora.held_out) {
        corpus::ExampleSpec examples = spec.examples;
        examples.masking.mask = 1;
        examples.masking.random = 0;
        held_out.emplace(corpora.held_out(), tokenizer, examples);
    }
    stop_if_asked();
    return training::with_memory_advice(training::out_of_memory(spec.loop), [&] {
        const model::PreTrainingModel network = make_network(spec);
        describe(network, source, spec);
        project(spec, source, tokenizer, run_directory);
        spec.loop.card = [&](const training::TrainedModel& trained) {
            return card_of(spec, source, trained);
        };
        MlmTask task(network, tokenizer, source, std::move(held_out), spec.task);
        return training::run_training(task, spec.loop, run_directory);
    });
}

Json plan_pretraining(PretrainRun spec, const tokenizer::DnaTokenizer& tokenizer,
                      const PretrainCorpora& corpora) {
    const corpus::ExampleSource source(corpora.train(), tokenizer, spec.examples);
    if (spec.epochs > 0) set_steps(spec, source);
    complete(spec, tokenizer);
    const std::int64_t length = padded_length(spec), batch = spec.task.batch_size;
    const std::int64_t blocks = length / spec.config.pattern.block_size;
    const MemoryLoad load = memory_load(spec);
    const std::int64_t at_once = load.sequences;
    const MemoryNeed memory = memory_needed(spec.config, load);
    const double masked = spec.examples.masking.rate * static_cast<double>(length);
    const double operations =
        3 * forward_operations(spec.config, blocks, length, static_cast<std::int64_t>(masked));

    const double available = memory_for_each(spec);
    warn_of_memory(spec);
    const double per_step = seconds_of_step(spec, source, tokenizer);
    const std::int64_t steps = spec.loop.learning_rate.total_steps;
    return {{"parameters", parameter_count(spec.config)},
            {"flops_per_token", operations / static_cast<double>(length)},
            {"program_bytes", memory.program},
            {"state_bytes", memory.state},
            {"activation_bytes", memory.activations},
            {"available_bytes", std::isfinite(available) ? Json(available) : Json()},
            {"documents", source.corpus().documents()},
            {"corpus_tokens", source.corpus().tokens()},
            {"padding_share", padded_share(source, spec)},
            {"steps", steps},
            {"batch_size", batch},
            {"sequence_length", spec.examples.sequence_length},
            {"micro_batch_sequences", at_once},
            {"epochs", static_cast<double>(steps) / steps_of_epoch(source, spec)},
            {"seconds_per_step", per_step},
            {"tokens_per_second", static_cast<double>(batch * spec.examples.sequence_length) / per_step},
            {"hours", per_step * static_cast<double>(steps) / 3600},
            {"measured_memory_bytes", training::peak_memory(spec.task.device)}};
}

std::vector<std::string> plan_lines(const Json& plan) {
    const auto number = [&](const char* key) { return plan.at(key).get<double>(); };
    const std::string free = plan.at("available_bytes").is_null()
                                 ? ""
                                 : fmt::format("; {:.2f} GB are free", number("available_bytes") / 1e9);
    std::vector<std::string> lines{
        fmt::format("parameters            {:.1f} million", number("parameters") / 1e6),
        fmt::format("operations a token    {:.4g} (forward and backward)", number("flops_per_token")),
        fmt::format("memory, counted       {:.2f} GB: {:.2f} of weights, gradients and moments, {:.2f} of "
                    "activations for {} sequences at once, {:.2f} of the program{}",
                    (number("program_bytes") + number("state_bytes") + number("activation_bytes")) / 1e9,
                    number("state_bytes") / 1e9, number("activation_bytes") / 1e9,
                    number("micro_batch_sequences"), number("program_bytes") / 1e9, free),
        fmt::format("memory, measured      {:.2f} GB at most on this device, without the optimizer's moments",
                    number("measured_memory_bytes") / 1e9),
        fmt::format("corpus                {:.0f} documents, {:.0f} tokens, {:.2f} % padding",
                    number("documents"), number("corpus_tokens"), 100 * number("padding_share")),
        fmt::format("the run               {:.0f} steps of {:.0f} sequences of {:.0f} tokens: the corpus "
                    "{:.2f} times",
                    number("steps"), number("batch_size"), number("sequence_length"), number("epochs")),
        fmt::format("time, projected       {:.3g} s a step, {:.0f} tokens/s, {} in all (one micro-batch "
                    "measured here)",
                    number("seconds_per_step"), number("tokens_per_second"),
                    Progress::duration(3600 * number("hours")))};
    if (const auto advice = repetition_advice(plan.at("corpus_tokens").get<std::int64_t>(), number("epochs")))
        lines.push_back("note                  " + *advice);
    return lines;
}

namespace {

model::BigBirdConfig untrained_configuration(const PretrainSpec& spec) {
    model::BigBirdConfig config = read_configuration(spec.config);
    config.hidden_dropout_prob = spec.dropout.value();
    config.pattern.random_seed = spec.seed;
    // [CLS] reads the entire sequence, as in transformers' classifiers.
    if (config.longformer && !config.longformer->global_tokens) config.longformer->global_tokens = 1;
    return config;
}

}  // namespace

PretrainRun run_of(const PretrainSpec& open) {
    const PretrainSpec spec = open.with_defaults();
    PretrainRun run;
    run.config = spec.model.empty() ? untrained_configuration(spec) : configuration_from_model(open);
    run.model = spec.model;
    run.examples = spec.examples;
    run.examples.seed = spec.seed;
    static_cast<MlmSpec&>(run.task) = spec;
    run.epochs = spec.epochs;
    run.loop.run = spec.run;
    run.loop.learning_rate = spec.learning_rate;
    run.loop.optimizer = spec.optimizer;
    run.loop.evaluate_every = spec.corpora.holds_out() ? spec.evaluate_every : 0;
    run.loop.free_options = spec.run.settings();
    run.loop.free_options["--recompute"] = spec.recompute ? "on" : "off";
    run.loop.free_options["--attention"] = spec.attention;
    run.loop.free_options["--micro-batch-size"] = spec.micro_batch_size;
    return run;
}

namespace {

/// A run on the device of this rank, and its inputs.
struct Prepared {
    PretrainRun run;
    Corpora corpora;
    int threads;

    Prepared(const PretrainSpec& spec, const training::RankSpec& rank)
        : run(run_of(spec)), corpora(spec.corpora, spec.seed), threads(resolve_threads(spec.threads)) {
        require_vocabulary(spec.config, corpora.tokenizer());
        if (!spec.model.empty()) require_tokenizer_of(spec.model, corpora.tokenizer());
        run.loop.fixed_options = corpora.fixed_options();
        if (rank.is_first() && spec.model.empty())
            log_info("network and training defaults: --config {}", spec.config);
        MlmTaskSpec& task = run.task;
        model::set_compute_threads(rank.share_of(threads));
        task.device = model::open_device(training::device_of(rank, spec.device));
        task.attention = model::usable_attention(spec.attention, task.device);
        task.compute = training::parse_compute_type(spec.dtype, task.device);
        if (task.recompute && task.device.is_cpu()) training::keep_little_memory();
        task.micro_batch_tokens = micro_batch_tokens(spec.micro_batch_size, run);
    }
};

}  // namespace

Json plan_pretraining(const PretrainSpec& spec, const training::RankSpec& rank) {
    Prepared prepared(with_model_folder(spec), rank);
    return plan_pretraining(prepared.run, prepared.corpora.tokenizer(),
                            prepared.corpora.on_demand({}, prepared.threads));
}

training::LoopResult pretrain(const PretrainSpec& spec, const training::RankSpec& rank) {
    Prepared prepared(with_model_folder(spec), rank);
    auto& ranks = prepared.run.task.ranks;
    ranks = std::make_shared<training::Ranks>(rank, prepared.run.task.device);
    return pretrain(prepared.run, prepared.corpora.tokenizer(),
                    prepared.corpora.on_demand(ranks, prepared.threads), spec.output);
}

}  // namespace bigbird::pretraining
