// SPDX-License-Identifier: Apache-2.0
#include "commands/evaluate_mlm.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/pretraining/mlm_evaluation.hpp"
#include "bigbird/training/find_model.hpp"

#include <cstdio>

namespace bigbird::cli {

namespace {

pretraining::MlmEvaluationSpec evaluation_spec(const EvaluateMlmOptions& options) {
    pretraining::MlmEvaluationSpec spec;
    spec.sequence_length = static_cast<std::int32_t>(options.sequence_length);
    spec.nsp = options.nsp;
    spec.masking.rate = options.masking_rate;
    if (options.corrupt != "mask") {
        spec.masking.mask = 0.8;
        spec.masking.random = 0.1;
    }
    spec.seed = options.seed;
    spec.baselines = {.orders = options.baseline_orders, .ngrams = options.baseline_ngrams};
    spec.threads = resolve_threads(options.threads);
    spec.scoring.sequences = options.max_sequences;
    spec.scoring.max_tokens = options.batch_tokens;
    spec.scoring.foreground = true;
    spec.scoring.device = model::open_device(options.device);
    spec.scoring.compute = training::parse_compute_type(options.dtype, spec.scoring.device);
    return spec;
}

void write_report(const Json& report, const OutputOptions& output) {
    if (output.output == "-") {
        std::fputs((report.dump(2) + "\n").c_str(), stdout);
    } else {
        write_json(output.output, report, output.overwrite());
    }
}

}  // namespace

int run_evaluate_mlm(const EvaluateMlmOptions& options) {
    if (options.output.output != "-") {
        prepare_output(options.output.output, options.output.overwrite());
    }
    const std::filesystem::path model = training::find_model(options.model);
    const pretraining::MlmEvaluationSpec spec = evaluation_spec(options);
    model::set_compute_threads(spec.threads);
    std::unique_ptr<genome::ReferenceGenome> genome;
    if (!options.references.empty()) {
        genome = genome::open_references(options.references);
    }
    const auto corpus_of = [&](const std::filesystem::path& directory,
                               const std::filesystem::path& documents) -> pretraining::CorpusOf {
        if (!directory.empty()) {
            return [&directory](const tokenizer::DnaTokenizer& tokenizer) {
                return corpus::TokenCorpus::from_shards(corpus::TokenShards(directory, tokenizer));
            };
        }
        if (documents.empty()) {
            return {};
        }
        require_readable(documents);
        return [&, documents](const tokenizer::DnaTokenizer& tokenizer) {
            corpus::DocumentReader reader(documents, genome.get());
            corpus::TokenCorpus corpus = corpus::TokenCorpus::from_file(reader, tokenizer, spec.threads);
            if (corpus.documents() == 0) {
                throw InputError("holds no sequence", documents);
            }
            return corpus;
        };
    };
    const pretraining::CorpusOf held_out = corpus_of(options.corpus, options.documents);
    if (!held_out) {
        throw ConfigError("--documents FILE or --corpus DIR is needed: held-out sequence to score");
    }
    const Json report = pretraining::evaluate_mlm(
        {model, held_out, corpus_of(options.baseline_corpus, options.baseline_documents)}, spec);
    write_report(report, options.output);
    for (const std::string& line : pretraining::mlm_table(report)) {
        log_info("{}", line);
    }
    return 0;
}

}  // namespace bigbird::cli
