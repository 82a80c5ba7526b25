// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/pretraining.hpp"

#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/model_directory.hpp"

using namespace bigbird;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

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
                  R"({"--checkpoint-every":1000,"--keep":7,"--keep-every":0,"--recompute":"on",)"
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
    const training::LoopResult result = Pretraining(spec).train({});
    DOCTEST_CHECK(result.steps == 4);
    DOCTEST_CHECK(result.model == folder / "run/model");
    const Json options = model::read_config(result.model).extra["pretraining"]["options"];
    DOCTEST_CHECK(options["--documents"]["sha256"].get<std::string>().size() == 64);
    DOCTEST_CHECK(options["--steps"] == 4);
    DOCTEST_CHECK(options["--seed"] == 3);
    DOCTEST_CHECK(Pretraining(spec).train({}).finished_before);
}

DOCTEST_TEST_CASE("pretraining: a plan trains nothing") {
    const TempDir folder;
    const PretrainSpec spec = small_spec(folder);
    const Json plan = Pretraining(spec).plan({});
    DOCTEST_CHECK(plan["steps"] == 4);
    DOCTEST_CHECK(plan["sequence_length"] == 64);
    DOCTEST_CHECK(plan["seconds_per_step"].get<double>() > 0);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "run"));
}

DOCTEST_TEST_CASE("pretraining: a config.json for another vocabulary is refused before anything is read") {
    const TempDir folder;
    PretrainSpec spec = small_spec(folder);
    write_file(folder / "config.json", R"({"vocab_size": 7})");
    DOCTEST_CHECK(message_of<InputError>([&] { const Pretraining never(spec); }).find("vocab_size is 7") !=
                  std::string::npos);
}
