// SPDX-License-Identifier: Apache-2.0
#include "options/pretrain_inputs.hpp"

#include "options/loop_spec.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/pretraining/shared_corpus.hpp"

#include <algorithm>

namespace bigbird::cli {

namespace {

template <typename Number>
Number given_or(Number given, Number otherwise) {
    return given > 0 ? given : otherwise;
}

Json checksum_of(const std::filesystem::path& file) {
    return {{"sha256", sha256_of_file(file)}};
}

}  // namespace

pretraining::PretrainSpec pretrain_spec(const PretrainOptions& options) {
    const pretraining::PretrainDefaults defaults = pretraining::pretrain_defaults(options.config);
    const OptimizationOptions& optimization = options.optimization;
    pretraining::PretrainSpec spec;
    spec.config = pretraining::read_configuration(options.config);
    spec.config.hidden_dropout_prob = options.dropout;
    spec.config.pattern.random_seed = options.seed;
    spec.examples.sequence_length =
        static_cast<std::int32_t>(given_or<std::int64_t>(options.sequence_length, defaults.sequence_length));
    spec.examples.nsp = options.nsp == "on";
    spec.examples.masking = {.rate = options.masking_rate,
                             .mask = options.mask_share,
                             .random = options.random_share,
                             .span_mean = options.mask_spans};
    spec.examples.seed = options.seed;
    spec.loop = loop_spec(options.run, optimization);
    spec.loop.learning_rate.peak = given_or(optimization.learning_rate, defaults.learning_rate);
    const std::int64_t steps = given_or(optimization.steps, defaults.steps);
    spec.loop.learning_rate.total_steps = steps;
    spec.loop.learning_rate.warmup_steps = optimization.warmup_steps >= 0
                                               ? optimization.warmup_steps
                                               : std::min<std::int64_t>(10'000, steps / 10);
    const bool evaluates =
        !options.evaluate_documents.empty() || !options.evaluate_corpus.empty() || !options.hold_out.empty();
    spec.loop.evaluate_every = evaluates ? options.evaluate_every : 0;
    spec.task.recompute = options.recompute == "on";
    spec.loop.free_options["--recompute"] = options.recompute;
    spec.task.attention = attention::backend_from_name(options.attention);
    spec.loop.free_options["--attention"] = options.attention;
    spec.loop.free_options["--micro-batch-size"] = options.micro_batch_size;
    spec.task.batch_size = given_or(optimization.batch_size, defaults.batch_size);
    spec.task.evaluation_sequences = options.evaluate_sequences;
    spec.task.seed = options.seed;
    return spec;
}

PretrainInputs::PretrainInputs(const PretrainOptions& options)
    : options_(options), tokenizer_([&] {
          if (options.corpus.empty() && options.tokenizer.empty()) {
              throw ConfigError("--tokenizer MODEL is needed; only a --corpus holds its own");
          }
          return options.tokenizer.empty() ? corpus::TokenShards(options.corpus).tokenizer()
                                           : tokenizer::DnaTokenizer::load(options.tokenizer);
      }()) {
    check();
    for (const std::filesystem::path& file : {options_.documents, options_.evaluate_documents}) {
        if (!file.empty()) {
            require_readable(file);
        }
    }
    for (const std::filesystem::path& directory : {options_.corpus, options_.evaluate_corpus}) {
        if (!directory.empty()) {
            shards(directory);
        }
    }
}

void PretrainInputs::check() const {
    if (draws() && options_.references.empty()) {
        throw ConfigError(
            "--corpus DIR or --documents FILE is needed, or --reference FASTA to draw documents from");
    }
    if (!draws() && !options_.hold_out.empty()) {
        throw ConfigError(
            "--hold-out is for documents drawn from --reference; with --corpus or --documents leave the "
            "regions "
            "out when those are made, and give --evaluate-corpus or --evaluate-documents");
    }
    const int held_out = (options_.hold_out.empty() ? 0 : 1) + (options_.evaluate_corpus.empty() ? 0 : 1) +
                         (options_.evaluate_documents.empty() ? 0 : 1);
    if (held_out > 1) {
        throw ConfigError("give one of --hold-out, --evaluate-corpus and --evaluate-documents");
    }
}

Json PretrainInputs::fixed_options() const {
    Json fixed = Json::object();
    if (!options_.corpus.empty()) {
        fixed["--corpus"] = checksum_of(options_.corpus / "manifest.json");  // which holds those of all files
    }
    if (!options_.documents.empty()) {
        fixed["--documents"] = checksum_of(options_.documents);
    }
    for (const std::filesystem::path& reference : options_.references) {
        fixed["--reference"].push_back(checksum_of(genome::fasta_of(reference)));
    }
    if (draws()) {
        const DocumentOptions& drawing = options_.drawing;
        const Json parameters = drawing.spec.parameters();
        for (const auto& item : parameters.items()) {
            if (item.key() != "seed") {  // that of the run
                fixed["--" + item.key()] = item.value();
            }
        }
        for (const std::string& text : drawing.include) {
            fixed["--include"].push_back(corpus::region_provenance(text));
        }
        for (const std::string& text : drawing.exclude) {
            fixed["--exclude"].push_back(corpus::region_provenance(text));
        }
        for (const std::string& region : options_.hold_out) {
            fixed["--hold-out"].push_back(corpus::region_provenance(region));
        }
    }
    return fixed;
}

const genome::ReferenceGenome* PretrainInputs::genome() {
    if (!genome_ && !options_.references.empty()) {
        genome_ = genome::open_references(options_.references);
    }
    return genome_.get();
}

corpus::TokenCorpus PretrainInputs::read(const std::filesystem::path& documents, training::Ranks& ranks,
                                         int threads) {
    if (ranks.size() == 1) {
        corpus::DocumentReader reader(documents, genome());
        corpus::TokenCorpus corpus = corpus::TokenCorpus::from_file(reader, tokenizer_, threads);
        if (corpus.documents() == 0) {
            throw InputError("holds no sequence", documents);
        }
        return corpus;
    }
    return pretraining::share_corpus(ranks, tokenizer_, threads, [&](corpus::TokenShardWriter& writer) {
        corpus::DocumentReader reader(documents, genome());
        corpus::tokenize_documents(reader, tokenizer_, threads, writer, [](const corpus::TokenCounts&) {});
    });
}

corpus::TokenCorpus PretrainInputs::shards(const std::filesystem::path& directory) const {
    return corpus::TokenCorpus::from_shards(corpus::TokenShards(directory, tokenizer_));
}

corpus::BuildSpec PretrainInputs::documents_to_draw(bool held_out) {
    corpus::BuildSpec spec = build_spec(options_.drawing, options_.seed, *genome());
    if (!options_.hold_out.empty()) {
        const examples::HoldOuts hold_outs(*genome(), options_.hold_out, {});
        const genome::IntervalSet& regions = hold_outs.regions(examples::Split::validation);
        if (held_out) {
            spec.documents.passes = 1;
            spec.include = spec.include ? spec.include->intersected(regions) : regions;
        } else {
            spec.exclude = spec.exclude.united(regions);
        }
    }
    return spec;
}

corpus::TokenCorpus PretrainInputs::draw(bool held_out, training::Ranks& ranks, int threads) {
    if (ranks.size() == 1) {
        return corpus::TokenCorpus::from_genome(*genome(), documents_to_draw(held_out), tokenizer_, threads);
    }
    return pretraining::share_corpus(ranks, tokenizer_, threads, [&](corpus::TokenShardWriter& writer) {
        corpus::tokenize_genome(*genome(), documents_to_draw(held_out), tokenizer_, threads, writer);
    });
}

pretraining::PretrainCorpora PretrainInputs::corpora(const std::shared_ptr<training::Ranks>& ranks,
                                                     int threads) {
    const auto together = ranks ? ranks : std::make_shared<training::Ranks>();
    pretraining::PretrainCorpora corpora;
    if (!options_.corpus.empty()) {
        corpora.train = [this] { return shards(options_.corpus); };
    } else if (!options_.documents.empty()) {
        corpora.train = [this, together, threads] { return read(options_.documents, *together, threads); };
    } else {
        corpora.train = [this, together, threads] { return draw(false, *together, threads); };
    }
    if (!options_.hold_out.empty()) {
        corpora.held_out = [this, together, threads] { return draw(true, *together, threads); };
    } else if (!options_.evaluate_corpus.empty()) {
        corpora.held_out = [this] { return shards(options_.evaluate_corpus); };
    } else if (!options_.evaluate_documents.empty()) {
        corpora.held_out = [this, together, threads] {
            return read(options_.evaluate_documents, *together, threads);
        };
    }
    return corpora;
}

}  // namespace bigbird::cli
