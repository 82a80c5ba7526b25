// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/train_linear.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/tasks/sequence_examples.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/finetuning/example_data.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;
using examples::ExampleSet;
using examples::Split;
using examples::TargetKind;

namespace {

struct Fixture {
    TempDir folder;
    ExampleSet examples = write_motif_examples(folder / "examples", 400, 7);

    SolvedModel train(const std::string& architecture, const LinearSpec& spec, std::uint64_t seed = 1,
                      int threads = 1) const {
        TaskInfo info = task_info_of(examples);
        info.architecture = architecture;
        return train_linear(info, examples, spec, 1.0, seed, threads);
    }
};

at::Tensor weight_of(const SolvedModel& training) {
    return training.network->module()->named_parameters()["weight"].detach();
}

}  // namespace

DOCTEST_TEST_CASE("train_linear: both learn the planted motif, and nothing of the random label") {
    Fixture fixture;
    for (const char* architecture : {"kmer-ridge", "gkm-svm"}) {
        DOCTEST_CAPTURE(architecture);
        const auto trained = fixture.train(architecture, {.word = 6, .informative = 4});
        DOCTEST_CHECK(trained.metrics.at("eval_auroc_labels") == 2);
        const double mean = trained.metrics.at("eval_auroc").get<double>();  // of about 1 and about 0.5
        DOCTEST_CHECK(mean > 0.65);
        DOCTEST_CHECK(mean < 0.85);
        DOCTEST_CHECK(identical(weight_of(trained),
                                weight_of(fixture.train(architecture, {.word = 6, .informative = 4}, 1, 3))));
    }
}

DOCTEST_TEST_CASE("train_linear: windows are drawn by the seed") {
    Fixture fixture;
    const LinearSpec few{.word = 4, .informative = 3, .most_windows = 50};
    const auto first = fixture.train("gkm-svm", few), again = fixture.train("gkm-svm", few),
               other = fixture.train("gkm-svm", few, 2);
    DOCTEST_CHECK(first.metrics.at("windows") == 50);
    DOCTEST_CHECK(identical(weight_of(first), weight_of(again)));
    DOCTEST_CHECK_FALSE(identical(weight_of(first), weight_of(other)));
}

DOCTEST_TEST_CASE("train_linear: classes and labels by logistic regression") {
    for (const TargetKind target : {TargetKind::classes, TargetKind::labels}) {
        TempDir folder;
        const auto examples = write_sequence_rows(folder / "e", 800, 3, target);
        const KmerFit fit = fit_kmers(examples, 0, RecordStrand::both, std::nullopt, 2);
        DOCTEST_CHECK(fit.penalty >= 3);
        const KmerFit again = fit_kmers(examples, 0, RecordStrand::both, std::nullopt, 2);
        DOCTEST_CHECK(again.network == fit.network);  // fitted once
        const auto rows = examples.rows(Split::test);
        const ScoredRows scored = scored_records(*fit.network, examples, rows, std::nullopt, 4096, 1);
        at::Tensor ones = scored.truth, scores = scored.logits;
        if (target == TargetKind::classes) ones = scored.truth.unsqueeze(1) == at::arange(2);
        const auto auroc = validation_auroc(scores.narrow(1, 1, 1), ones.narrow(1, 1, 1));
        DOCTEST_CHECK(*auroc.mean > 0.9);
    }
}

DOCTEST_TEST_CASE("train_linear: numbers by ridge regression") {
    TempDir folder;
    const auto examples = write_sequence_rows(folder / "e", 600, 3, TargetKind::numbers);
    const Standardisation scale = standardisation_of(examples);
    const KmerFit fit = fit_kmers(examples, 4, RecordStrand::both, scale, 2);
    const ScoredRows scored =
        scored_records(*fit.network, examples, examples.rows(Split::test), scale, 4096, 1);
    DOCTEST_CHECK(
        numbers_target(LinkFunction::identity)->figures(scored.logits, scored.truth, 0).at("eval_pearson") >
        0.75);
}

DOCTEST_TEST_CASE("train_linear: which k-mers are counted") {
    TempDir folder;
    const auto examples = write_sequence_rows(folder / "e", 8, 3);
    DOCTEST_CHECK(words_for(examples, RecordStrand::both, 0, false) == baselines::KmerWords{});
    const auto given = words_for(examples, RecordStrand::given, 0, false);
    DOCTEST_CHECK(!given.both_strands);
    DOCTEST_CHECK(given.positions == examples.bounds().size() - 1);
    DOCTEST_CHECK(words_for(examples, RecordStrand::given, 4, true).lengths == std::vector<int>{4});
}

DOCTEST_TEST_CASE("train_linear: the strand that k-mers predict better") {
    TempDir folder;
    const auto examples = write_sequence_rows(folder / "e", 800, 3);
    const auto chosen = [](const ExampleSet& of, RecordStrand strand) {
        return chosen_strand(of, strand, std::nullopt, 1);
    };
    DOCTEST_CHECK(chosen(examples, RecordStrand::automatic) == RecordStrand::both);
    DOCTEST_CHECK(chosen(examples, RecordStrand::given) == RecordStrand::given);
    DOCTEST_CHECK(chosen(write_sequence_rows(folder / "f", 800, 3, TargetKind::classes, true),
                         RecordStrand::automatic) == RecordStrand::given);
}
