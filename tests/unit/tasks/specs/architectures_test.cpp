// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/specs/architectures.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;
using examples::TargetKind;
using examples::Task;

DOCTEST_TEST_CASE("architectures: rows by name, and by head") {
    DOCTEST_CHECK(architecture_of("cnnprom").published == rows::WindowBounds{-200, 51});
    DOCTEST_CHECK_FALSE(architecture_of("gkm-svm").has_published_window());
    DOCTEST_CHECK(architecture_of("kmer-ridge").is_solved());
    DOCTEST_CHECK(architecture_of("deepsea").title == "DeepSEA");
    DOCTEST_CHECK(architecture_of("bigbird").scores == Scores::windows);
    DOCTEST_CHECK(architecture_of("bigbird", "bins").scores_bins());
    DOCTEST_CHECK(architecture_of("bigbird", "bins").shown() == "--head bins");
    DOCTEST_CHECK(architecture_of("bigbird-bins", "classification").reads == Reads::bases);
    DOCTEST_CHECK(architecture_of("bigbird", "tokens").scores == Scores::bases);
    DOCTEST_CHECK(architecture_of("bigbird", "linear").scores == Scores::windows);
    DOCTEST_CHECK(message_of<ConfigError>([] { architecture_of("resnet"); }) ==
                  "--architecture 'resnet' is not known; there are bigbird, probe, bigbird-bins, "
                  "bigbird-sequence, cnnprom, deepromoter, deepsea, gkm-svm, kmer-logistic, kmer-ridge");
    DOCTEST_CHECK(message_of<ConfigError>([] { architecture_of("resnet", "", Task::chromatin); }) ==
                  "--architecture 'resnet' is not known; there are bigbird, probe, bigbird-bins, deepsea, "
                  "gkm-svm, kmer-ridge");
}

DOCTEST_TEST_CASE("architectures: tasks, options and complete sequences") {
    DOCTEST_CHECK(names_without_model(Task::promoter) == "cnnprom, deepromoter, gkm-svm, kmer-ridge");
    DOCTEST_CHECK(names_without_model(Task::chromatin) == "bigbird-bins, deepsea, gkm-svm, kmer-ridge");
    DOCTEST_CHECK(names_without_model(Task::tokens).empty());
    DOCTEST_CHECK(usual_name(Task::chromatin) == bins_name);
    DOCTEST_CHECK(usual_name(Task::sequences) == sequence_name);
    DOCTEST_CHECK(usual_name(Task::promoter) == bigbird_name);
    for (const Architecture& known : architectures)
        DOCTEST_CHECK(known.is_for(Task::tokens) == (known.head == "tokens"));
    const Architecture& ridge = architecture_of("kmer-ridge");
    DOCTEST_CHECK(ridge.takes("--kmer-length"));
    DOCTEST_CHECK_FALSE(ridge.takes("--kmer"));
    DOCTEST_CHECK(ridge.reads_records(Task::chromatin, TargetKind::numbers));
    DOCTEST_CHECK(ridge.reads_records(Task::sequences, TargetKind::labels));
    DOCTEST_CHECK_FALSE(ridge.reads_records(Task::chromatin, TargetKind::labels));
    DOCTEST_CHECK(architecture_of("kmer-logistic").reads_records(Task::sequences, TargetKind::classes));
}

DOCTEST_TEST_CASE("tasks: what distinguishes their rows") {
    DOCTEST_CHECK(traits_of(Task::promoter).about_tss);
    DOCTEST_CHECK(traits_of(Task::chromatin).has_bins);
    DOCTEST_CHECK(traits_of(Task::sequences).has_records);
    DOCTEST_CHECK(traits_of(Task::tokens).labels_bases);
}
