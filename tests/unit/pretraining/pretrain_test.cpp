// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/pretrain.hpp"

#include "support/metrics_lines.hpp"
#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/safetensors.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::training;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

namespace {

double mean_loss(const std::vector<Json>& lines, std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t i = first; i < last; ++i)
        sum += lines[i]["loss"].get<double>();
    return sum / static_cast<double>(last - first);
}

std::string refusal(const PretrainRun& spec, const std::filesystem::path& run,
                    const PretrainCorpora& corpora = small_corpora()) {
    return message_of<ConfigError>([&] { pretrain(spec, small_tokenizer(), corpora, run); });
}

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
    DOCTEST_CHECK(curve_of(folder / "whole") == curve_of(folder / "pieces"));
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
    DOCTEST_CHECK(refusal(other, folder / "run").starts_with("--optimizer "));
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
    const std::vector<Json> lines = curve_of(folder / "run");
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
    DOCTEST_CHECK(refusal(other, folder / "run", corpora)
                      .starts_with("--masking-rate is 0.2, but this run was started with 0.15;"));
    other = spec;
    other.config.hidden_dropout_prob = 0.2;
    DOCTEST_CHECK(refusal(other, folder / "run", corpora).starts_with("--config "));
    DOCTEST_CHECK_FALSE(read);
}

DOCTEST_TEST_CASE("pretrain: options that do not fit each other are named") {
    const TempDir folder;
    PretrainRun spec = small_pretraining(2);
    spec.examples.sequence_length = 257;
    DOCTEST_CHECK(refusal(spec, folder / "run") ==
                  "--sequence-length 257 is longer than the 256 positions of the network");
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
    DOCTEST_CHECK(refusal(spec, folder / "run", small_corpora(true)) ==
                  "type_vocab_size is 1, and next-sentence prediction needs two token types: give --nsp off");
    spec.examples.nsp = false;
    pretrain(spec, small_tokenizer(), small_corpora(true), folder / "run");
    DOCTEST_CHECK(read_json(folder / "run/model/config.json")["type_vocab_size"] == 1);
}

namespace {

/// The small preset with a vocabulary of 4,096, eight sequences of 1,024 tokens at once.
PretrainRun small_run() {
    PretrainRun spec;
    spec.config = model::preset("small");
    spec.config.vocab_size = 4096;
    spec.examples.sequence_length = 1000;
    spec.task.batch_size = 16;
    spec.task.micro_batch_tokens = 8192;
    return spec;
}

}  // namespace

DOCTEST_TEST_CASE("memory_advice: the mildest change that fits is named") {
    const PretrainRun spec = small_run();
    DOCTEST_CHECK(memory_load(spec).sequences == 8);
    DOCTEST_CHECK(memory_load(spec).length == 1024);
    DOCTEST_CHECK_FALSE(memory_warning(spec, std::numeric_limits<double>::infinity()));
    DOCTEST_CHECK_FALSE(memory_warning(spec, 1.2e9));
    const std::string advice = memory_warning(spec, 0.8e9).value_or("");
    DOCTEST_CHECK(holds(advice, "8 sequences of 1024 tokens at once need about 1.0"));
    DOCTEST_CHECK(holds(advice, "and 0.80 GB were free; --micro-batch-size 5 needs about 0.7"));
    DOCTEST_CHECK(holds(memory_advice(spec, 0.325e9), "; --recompute on --micro-batch-size 1 needs about"));
    DOCTEST_CHECK(holds(memory_advice(spec, 0.285e9), "--micro-batch-size 1 --sequence-length "));
    DOCTEST_CHECK(holds(memory_advice(spec, 0.1e9), "weights, gradients and moments alone take 0.0"));
}

DOCTEST_TEST_CASE("memory_advice: on a GPU the largest --micro-batch-size that fits is named") {
    PretrainRun spec = small_run();
    spec.task.device = at::Device(at::kCUDA, 0);
    spec.task.compute = ComputeType::bf16;
    spec.task.batch_size = 256;
    spec.task.micro_batch_tokens = 256 * 1024;
    MemoryLoad load = memory_load(spec);
    DOCTEST_CHECK_FALSE(load.on_cpu);
    DOCTEST_CHECK(load.sequences == 256);
    for (const double bytes : {2e9, 3e9, 5e9}) {
        for (load.sequences = 1; memory_needed(spec.config, load).total() <= bytes;)
            ++load.sequences;
        DOCTEST_CHECK(load.sequences > 2);
        DOCTEST_CHECK(holds(memory_warning(spec, bytes).value_or(""),
                            "; --micro-batch-size " + std::to_string(load.sequences - 1) + " needs about"));
    }
}

DOCTEST_TEST_CASE("memory_advice: what failed though it was counted to fit is made clearly smaller") {
    const PretrainRun spec = small_run();
    DOCTEST_CHECK(holds(memory_advice(spec, 64e9), "; --micro-batch-size 5 needs about"));
}

namespace {

/// A network of 32 on 20 sequences a document; 4 steps of 2 short sequences.
PretrainSpec small_spec(const TempDir& folder) {
    write_file(folder / "config.json",
               R"({"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
                   "intermediate_size": 64, "max_position_embeddings": 256, "block_size": 16,
                   "num_random_blocks": 1})");
    PretrainSpec spec;
    spec.corpora.input.tokenizer = test_data("tokenizer/small.model");
    spec.corpora.documents = test_data("tokenizer/sentences.txt");
    spec.config = (folder / "config.json").string();
    spec.output = folder / "run";
    spec.examples = {.sequence_length = 64, .nsp = false};
    spec.batch_size = 2;
    spec.learning_rate.total_steps = 4;
    spec.seed = 3;
    spec.device = "cpu";
    spec.threads = 1;
    return spec;
}

}  // namespace

DOCTEST_TEST_CASE("pretraining: a run takes what is given and what the configuration says of the rest") {
    PretrainSpec spec;
    spec.config = "tiny";
    spec.dropout = 0.25;
    spec.batch_size = 6;
    spec.recompute = true;
    spec.seed = 9;
    spec.run.keep = 7;
    spec.optimizer.weight_decay = 0.5;
    spec.evaluation_sequences = 11;
    const PretrainRun run = run_of(spec);
    DOCTEST_CHECK(run.config.hidden_size == 128);
    DOCTEST_CHECK(run.config.hidden_dropout_prob == 0.25);
    DOCTEST_CHECK(run.config.pattern.random_seed == 9);
    DOCTEST_CHECK(run.examples.seed == 9);
    DOCTEST_CHECK(run.examples.sequence_length == 512);
    DOCTEST_CHECK(run.task.batch_size == 6);
    DOCTEST_CHECK(run.task.seed == 9);
    DOCTEST_CHECK(run.task.recompute);
    DOCTEST_CHECK(run.task.evaluation_sequences == 11);
    DOCTEST_CHECK(run.loop.learning_rate.total_steps == 1000);
    DOCTEST_CHECK(run.loop.optimizer.weight_decay == 0.5);
    DOCTEST_CHECK(run.loop.free_options.dump() ==
                  R"({"--checkpoint-every":1000,"--keep":7,"--recompute":"on",)"
                  R"("--attention":"automatic","--micro-batch-size":0})");
}

DOCTEST_TEST_CASE("pretraining: it evaluates where something is held out") {
    PretrainSpec spec;
    spec.config = "tiny";
    spec.evaluate_every = 30;
    DOCTEST_CHECK(run_of(spec).loop.evaluate_every == 0);
    spec.corpora.evaluate_documents = "held_out.txt";
    DOCTEST_CHECK(run_of(spec).loop.evaluate_every == 30);
}

DOCTEST_TEST_CASE("pretraining: from files to a model, and a second time to the same one") {
    const TempDir folder;
    const PretrainSpec spec = small_spec(folder);
    const training::LoopResult result = pretrain(spec, {});
    DOCTEST_CHECK(result.steps == 4);
    DOCTEST_CHECK(result.model == folder / "run/model");
    const Json options = model::read_config(result.model).extra["pretraining"]["options"];
    DOCTEST_CHECK(options["--documents"]["sha256"].get<std::string>().size() == 64);
    DOCTEST_CHECK(options["--steps"] == 4);
    DOCTEST_CHECK(options["--seed"] == 3);
    DOCTEST_CHECK(pretrain(spec, {}).finished_before);
}

DOCTEST_TEST_CASE("pretraining: a plan trains nothing") {
    const TempDir folder;
    const PretrainSpec spec = small_spec(folder);
    const Json plan = plan_pretraining(spec, {});
    DOCTEST_CHECK(plan["steps"] == 4);
    DOCTEST_CHECK(plan["sequence_length"] == 64);
    DOCTEST_CHECK(plan["seconds_per_step"].get<double>() > 0);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "run"));
}

DOCTEST_TEST_CASE("pretraining: a config.json for another vocabulary is refused before anything is read") {
    const TempDir folder;
    PretrainSpec spec = small_spec(folder);
    write_file(folder / "config.json", R"({"vocab_size": 7})");
    DOCTEST_CHECK(message_of<InputError>([&] { pretrain(spec, {}); }) ==
                  spec.config +
                      ": vocab_size is 7, but the tokenizer has 512 pieces; leave vocab_size out, "
                      "and the tokenizer's is taken");
}
