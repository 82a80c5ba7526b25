// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/pretrain.hpp"

#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/safetensors.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::training;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

namespace {

std::vector<Json> metrics_of(const std::filesystem::path& run) {
    std::istringstream in(read_file(run / "metrics.jsonl"));
    std::vector<Json> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(Json::parse(line));
        for (const char* key : {"seconds", "tokens_per_second", "eval_seconds", "data_wait_share",
                                "flops_per_second", "mfu", "memory_bytes"})
            lines.back().erase(key);
    }
    return lines;
}

double mean_loss(const std::vector<Json>& lines, std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t i = first; i < last; ++i)
        sum += lines[i]["loss"].get<double>();
    return sum / static_cast<double>(last - first);
}

}  // namespace

namespace {

/// Of seven steps. Returns config.json of the model.
Json check_pieces(PretrainRun spec) {
    const TempDir folder;
    spec.loop.evaluate_every = 3;
    spec.task.evaluation_sequences = 4;
    pretrain(spec, small_tokenizer(), small_corpora(true), folder / "whole");
    PretrainRun stopping = spec;
    stopping.loop.run.max_hours = 1e-12;
    int stops = 0;
    for (bool done = false; !done;) {
        try {
            pretrain(stopping, small_tokenizer(), small_corpora(true), folder / "pieces");
            done = true;
        } catch (const Stopped& stopped) {
            DOCTEST_CHECK(stopped.code() == ExitCode::stopped_early);
            ++stops;
        }
    }
    DOCTEST_CHECK(stops == 6);
    for (const char* file :
         {"model/model.safetensors", "model/config.json", "model/tokenizer.model",
          "checkpoints/step-00000007/training_state/optimizer.safetensors", "config.resolved.json"})
        DOCTEST_CHECK(read_file(folder / "whole" / file) == read_file(folder / "pieces" / file));
    DOCTEST_CHECK(metrics_of(folder / "whole") == metrics_of(folder / "pieces"));
    return read_json(folder / "whole/model/config.json");
}

}  // namespace

DOCTEST_TEST_CASE("pretrain: a run stopped after every step equals one in a single go, bit for bit") {
    check_pieces(small_pretraining(7));
}

DOCTEST_TEST_CASE("pretrain: the same of a Performer that draws its features anew") {
    PretrainRun spec = small_pretraining(7);
    spec.config.performer = {.features = 24, .redraw_every = 2, .seed = 9};
    const Json config = check_pieces(spec);
    DOCTEST_CHECK(config["attention_type"] == "performer");
    DOCTEST_CHECK(config["performer"]["redraw"] == 3);  // that of step 7
}

DOCTEST_TEST_CASE("pretrain: the same of a Longformer, dilated in a head") {
    PretrainRun spec = small_pretraining(7);
    spec.config.longformer =
        model::LongformerForm{.windows = {16, 32}, .dilations = {{1, 1}, {1, 3}}, .global_tokens = 1};
    const Json config = check_pieces(spec);
    DOCTEST_CHECK(config["attention_window"] == Json({16, 32}));
    DOCTEST_CHECK(config["num_global_tokens"] == 1);
    DOCTEST_CHECK(config["model_type"] == "bigbird_dna");
}

DOCTEST_TEST_CASE("pretrain: the same with Muon") {
    PretrainRun spec = small_pretraining(7);
    spec.loop.optimizer.kind = OptimizerKind::muon;
    check_pieces(spec);
}

DOCTEST_TEST_CASE("pretrain: Muon keeps a momentum of all matrices of layers, and moments of all else") {
    const TempDir folder;
    PretrainRun spec = small_pretraining(2);
    spec.loop.optimizer.kind = OptimizerKind::muon;
    pretrain(spec, small_tokenizer(), small_corpora(), folder / "run");
    const auto state = model::read_safetensors(
        folder / "run/checkpoints/step-00000002/training_state/optimizer.safetensors");
    std::vector<std::string> matrices;
    for (const auto& item : state)
        if (item.first.starts_with("momentum.bert.encoder.layer.1."))
            matrices.push_back(item.first.substr(30));
    std::ranges::sort(matrices);
    DOCTEST_CHECK(matrices ==
                  std::vector<std::string>{"attention.output.dense.weight", "attention.self.key.weight",
                                           "attention.self.query.weight", "attention.self.value.weight",
                                           "intermediate.dense.weight", "output.dense.weight"});
    for (const char* name : {"bert.embeddings.word_embeddings.weight", "bert.pooler.weight",
                             "cls.predictions.transform.dense.weight"})
        DOCTEST_CHECK(state.contains(std::string("moment2.") + name));
    PretrainRun other = spec;
    other.loop.optimizer.kind = OptimizerKind::adamw;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      pretrain(other, small_tokenizer(), small_corpora(), folder / "run");
                  }).starts_with("--optimizer "));
}

DOCTEST_TEST_CASE("pretrain: the same with packed projections") {
    PretrainRun spec = small_pretraining(7);
    spec.task.packed_projections = true;
    check_pieces(spec);
}

DOCTEST_TEST_CASE("pretrain: the loss falls, and the model that is written is the one that was trained") {
    const TempDir folder;
    PretrainRun spec = small_pretraining(120);
    spec.task.batch_size = 8;
    spec.loop.learning_rate.peak = 5e-3;
    spec.loop.learning_rate.warmup_steps = 10;
    const LoopResult result = pretrain(spec, small_tokenizer(), small_corpora(), folder / "run");
    const std::vector<Json> lines = metrics_of(folder / "run");
    DOCTEST_REQUIRE(lines.size() == 120);
    DOCTEST_CHECK(mean_loss(lines, 110, 120) < mean_loss(lines, 0, 5) - 0.4);
    model::PreTrainingModel network = model::load_pretraining_model(result.model, at::kCPU);
    const Json record = network->config().extra["pretraining"]["options"];
    DOCTEST_CHECK(record["--steps"] == 120);
    DOCTEST_CHECK(record["--tokenizer"]["sha256"].get<std::string>().size() == 64);
    DOCTEST_CHECK(model::read_tokenizer(result.model, network->config()).serialized() ==
                  small_tokenizer().serialized());
}

DOCTEST_TEST_CASE("pretrain: a finished run is found before any document is read") {
    const TempDir folder;
    const PretrainRun spec = small_pretraining(2);
    pretrain(spec, small_tokenizer(), small_corpora(), folder / "run");
    bool read = false;
    PretrainCorpora corpora = small_corpora();
    corpora.train = [&] {
        read = true;
        return small_corpus();
    };
    DOCTEST_CHECK(pretrain(spec, small_tokenizer(), corpora, folder / "run").finished_before);
    PretrainRun other = spec;
    other.examples.masking.rate = 0.2;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      pretrain(other, small_tokenizer(), corpora, folder / "run");
                  }).starts_with("--masking-rate is 0.2, but this run was started with 0.15;"));
    other = spec;
    other.config.hidden_dropout_prob = 0.2;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      pretrain(other, small_tokenizer(), corpora, folder / "run");
                  }).starts_with("--config "));
    DOCTEST_CHECK_FALSE(read);
}

DOCTEST_TEST_CASE("pretrain: options that do not fit each other are named") {
    const TempDir folder;
    PretrainRun spec = small_pretraining(2);
    spec.examples.sequence_length = 257;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      pretrain(spec, small_tokenizer(), small_corpora(), folder / "run");
                  }) == "--sequence-length 257 is longer than the 256 positions of the network");
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "run"));
}

DOCTEST_TEST_CASE("pretrain: micro-batches by device or by number") {
    PretrainRun run = small_pretraining(1);
    run.examples.sequence_length = 100;
    DOCTEST_CHECK(micro_batch_tokens(3, run) == 3 * 112);
    DOCTEST_CHECK(micro_batch_tokens(0, run) > 0);
}

DOCTEST_TEST_CASE("pretrain: a network of one token type takes no pairs, which is said before training") {
    const TempDir folder;
    PretrainRun spec = small_pretraining(2);
    spec.config.type_vocab_size = 1;
    DOCTEST_CHECK(message_of<ConfigError>(
                      [&] { pretrain(spec, small_tokenizer(), small_corpora(true), folder / "run"); }) ==
                  "type_vocab_size is 1, and next-sentence prediction needs two token types: give --nsp off");
    spec.examples.nsp = false;
    pretrain(spec, small_tokenizer(), small_corpora(true), folder / "run");
    DOCTEST_CHECK(read_json(folder / "run/model/config.json")["type_vocab_size"] == 1);
}
