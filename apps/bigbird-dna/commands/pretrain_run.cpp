// SPDX-License-Identifier: Apache-2.0
#include "commands/pretrain.hpp"
#include "options/loop_spec.hpp"

#include "bigbird/core/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference_genome.hpp"
#include "bigbird/model/device.hpp"
#include "bigbird/train/pretrain.hpp"

#include <algorithm>

namespace bigbird::cli {

namespace {

template <typename Number>
Number given_or(Number given, Number otherwise) {
    return given > 0 ? given : otherwise;
}

train::PretrainSpec pretrain_spec(const PretrainOptions& options) {
    const train::PretrainDefaults defaults = train::pretrain_defaults(options.config);
    const OptimizationOptions& optimization = options.optimization;
    train::PretrainSpec spec;
    spec.config = train::read_configuration(options.config);
    spec.config.hidden_dropout_prob = options.dropout;
    spec.config.pattern.random_seed = options.seed;
    spec.examples.sequence_length =
        static_cast<std::int32_t>(given_or<std::int64_t>(options.sequence_length, defaults.sequence_length));
    spec.examples.nsp = options.nsp == "on";
    spec.examples.masking.rate = options.masking_rate;
    spec.examples.seed = options.seed;
    spec.loop = loop_spec(options.run, optimization);
    spec.loop.learning_rate.peak = given_or(optimization.learning_rate, defaults.learning_rate);
    const std::int64_t steps = given_or(optimization.steps, defaults.steps);
    spec.loop.learning_rate.total_steps = steps;
    spec.loop.learning_rate.warmup_steps = optimization.warmup_steps >= 0
                                               ? optimization.warmup_steps
                                               : std::min<std::int64_t>(10'000, steps / 10);
    spec.loop.evaluate_every = options.evaluate_documents.empty() ? 0 : options.evaluate_every;
    spec.task.batch_size = given_or(optimization.batch_size, defaults.batch_size);
    spec.task.evaluation_sequences = options.evaluate_sequences;
    spec.task.seed = options.seed;
    return spec;
}

corpus::TokenCorpus tokenise(const std::filesystem::path& documents, const genome::ReferenceGenome* genome,
                             const tokenizer::DnaTokenizer& tokenizer, int threads) {
    corpus::DocumentReader reader(documents, genome);
    return corpus::TokenCorpus::from_file(reader, tokenizer, threads);
}

}  // namespace

int run_pretrain(const PretrainOptions& options) {
    train::PretrainSpec spec = pretrain_spec(options);
    const auto tokenizer = tokenizer::DnaTokenizer::load(options.tokenizer);
    spec.loop.fixed_options["--documents"] = {{"sha256", sha256_of_file(options.documents)}};
    if (!options.evaluate_documents.empty()) {
        require_readable(options.evaluate_documents);
    }
    spec.task.device = model::open_device(options.device);
    spec.task.compute = train::parse_compute_type(options.dtype, spec.task.device);
    spec.task.micro_batch_tokens = train::micro_batch_tokens(options.micro_batch_size, spec);
    const int threads = resolve_threads(options.threads);
    model::set_compute_threads(threads);
    std::unique_ptr<genome::ReferenceGenome> genome;
    const auto corpus_of = [&](const std::filesystem::path& documents) {
        if (!genome && !options.references.empty()) {
            genome = genome::open_references(options.references);
        }
        return tokenise(documents, genome.get(), tokenizer, threads);
    };
    train::PretrainCorpora corpora{.train = [&] { return corpus_of(options.documents); }, .held_out = {}};
    if (!options.evaluate_documents.empty()) {
        corpora.held_out = [&] { return corpus_of(options.evaluate_documents); };
    }
    const train::LoopResult result = train::pretrain(spec, tokenizer, corpora, options.run.output);
    log_info("{}: the pretrained model", result.model.string());
    return 0;
}

}  // namespace bigbird::cli
