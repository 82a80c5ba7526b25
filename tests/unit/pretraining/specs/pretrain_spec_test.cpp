// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/specs/pretrain_spec.hpp"

#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("pretrain_spec: what is left open is the configuration's") {
    PretrainSpec open;
    open.config = "tiny";
    const PretrainSpec tiny = open.with_defaults();
    DOCTEST_CHECK(tiny.examples.sequence_length == 512);
    DOCTEST_CHECK(tiny.batch_size == 8);
    DOCTEST_CHECK(tiny.learning_rate.total_steps == 1000);
    DOCTEST_CHECK(tiny.learning_rate.warmup_steps == 100);
    DOCTEST_CHECK(tiny.learning_rate.peak == 1e-3);
    DOCTEST_CHECK(tiny.dropout == 0.1);
    open.config = "tiny-modern";
    DOCTEST_CHECK(open.with_defaults().dropout == 0);
    DOCTEST_CHECK(pretrain_defaults("tiny-modern").optimizer.beta2 == 0.98);
    DOCTEST_CHECK(pretrain_defaults("tiny-modern").optimizer.kind == training::OptimizerKind::muon);
    open.config = "modern";
    const PretrainSpec modern = open.with_defaults();
    DOCTEST_CHECK(modern.batch_size == 64);
    DOCTEST_CHECK(modern.examples.sequence_length == 1024);
    DOCTEST_CHECK(modern.learning_rate.peak == 4e-3);
    DOCTEST_CHECK(modern.dropout == 0);
    open.dropout = 0.2;
    DOCTEST_CHECK(open.with_defaults().dropout == 0.2);
    open.config = "my.json";
    const PretrainSpec file = open.with_defaults();
    DOCTEST_CHECK(file.examples.sequence_length == 4096);
    DOCTEST_CHECK(file.batch_size == 256);
    DOCTEST_CHECK(file.learning_rate.total_steps == 1'000'000);
    DOCTEST_CHECK(file.learning_rate.warmup_steps == 10'000);
    DOCTEST_CHECK(file.learning_rate.peak == 1e-4);
}

DOCTEST_TEST_CASE("pretrain_spec: what is given stays") {
    PretrainSpec given;
    given.config = "small";
    given.examples.sequence_length = 100;
    given.batch_size = 3;
    given.learning_rate = {.peak = 0.5, .warmup_steps = 0, .total_steps = 60};
    const PretrainSpec spec = given.with_defaults();
    DOCTEST_CHECK(spec.examples.sequence_length == 100);
    DOCTEST_CHECK(spec.batch_size == 3);
    DOCTEST_CHECK(spec.learning_rate.peak == 0.5);
    DOCTEST_CHECK(spec.learning_rate.warmup_steps == 0);
    DOCTEST_CHECK(spec.learning_rate.total_steps == 60);
}

DOCTEST_TEST_CASE("pretrain_spec: a configuration is a preset or a file") {
    DOCTEST_CHECK(read_configuration("tiny").hidden_size == 128);
    DOCTEST_CHECK_THROWS_AS(read_configuration("huge"), ConfigError);
    DOCTEST_CHECK_THROWS_AS(read_configuration("none.json"), InputError);
}

namespace {

std::string refusal(const CorporaSpec& spec) {
    return message_of<ConfigError>([&] { spec.validate(); });
}

}  // namespace

DOCTEST_TEST_CASE("corpora_spec: some input is needed, and a reference is one") {
    DOCTEST_CHECK(refusal({}) == "--documents is needed, or --reference FASTA to draw documents from");
    DOCTEST_CHECK_NOTHROW(CorporaSpec{.references = {"g.fa"}}.validate());
    DOCTEST_CHECK_NOTHROW(CorporaSpec{.corpus = "shards"}.validate());
    DOCTEST_CHECK_NOTHROW(CorporaSpec{.documents = "d.txt", .references = {"g.fa"}}.validate());
}

DOCTEST_TEST_CASE("corpora_spec: regions are held out of documents that are drawn, and one thing is scored") {
    DOCTEST_CHECK(refusal({.corpus = "shards", .hold_out = {"22"}})
                      .starts_with("--hold-out is for documents drawn from --reference;"));
    DOCTEST_CHECK_NOTHROW(CorporaSpec{.references = {"g.fa"}, .hold_out = {"22"}}.validate());
    DOCTEST_CHECK(refusal({.documents = "d.txt", .evaluate_corpus = "s", .evaluate_documents = "e.txt"}) ==
                  "give one of --hold-out and --evaluate-documents");
    DOCTEST_CHECK(refusal({.references = {"g.fa"}, .hold_out = {"22"}, .evaluate_corpus = "s"}) ==
                  "give one of --hold-out and --evaluate-documents");
}

DOCTEST_TEST_CASE("pretrain_spec: a config.json for another vocabulary is refused, one without is not") {
    const TempDir folder;
    const std::string file = (folder / "config.json").string();
    write_file(file, R"({"hidden_size": 64})");
    require_vocabulary(file, small_tokenizer());
    require_vocabulary("tiny", small_tokenizer());
    write_file(file, R"({"vocab_size": 50358})");
    DOCTEST_CHECK(message_of<InputError>([&] { require_vocabulary(file, small_tokenizer()); }) ==
                  file +
                      ": vocab_size is 50358, but the tokenizer has 512 pieces; leave vocab_size out, and "
                      "the tokenizer's is taken");
}
