// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/sequence_examples.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/task_models/network/sequence_network.hpp"
#include "bigbird/task_models/train/example_data.hpp"

#include <algorithm>
#include <set>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;
using examples::ExampleSet;
using examples::Split;
using examples::TargetKind;

namespace {

struct Scene {
    TempDir folder;
    std::optional<ExampleSet> examples;
    std::shared_ptr<SequenceNetwork> network;
    ClassifierSpec spec{.batch_size = 8, .both_strands = true, .seed = 3};
    SequenceSpec sequence{.motifs = 0};

    explicit Scene(TargetKind target, std::int64_t rows = 80) {
        write_sequence_rows(folder / "e", rows, 5, target);
        examples.emplace(ExampleSet::load(folder / "e"));
        const auto labels = static_cast<std::int64_t>(examples->label_table().size());
        network = new_sequence_network({.filters = 16, .width = 11, .hidden = 16, .heads = 2, .dense = 8},
                                       labels, 1, at::kCPU);
    }
    ExampleData data() const {
        std::optional<Standardisation> scale;
        if (examples->target() == TargetKind::numbers) scale = standardisation_of(*examples);
        return {network, *examples, spec, true, 1, sequence, scale};
    }
};

}  // namespace

DOCTEST_TEST_CASE("task_models/sequence_data: records are whole, of either strand, and moved by some bases") {
    Scene scene(TargetKind::classes);
    scene.sequence.shift = 0;
    ExampleData still = scene.data();
    scene.sequence.shift = 3;
    ExampleData moved = scene.data();
    const Batch batch = still.train(0, 40), other = moved.train(0, 40);
    std::set<std::int64_t> shifts;
    for (std::size_t i = 0; i < 40; ++i) {
        const auto sample = still.sample(static_cast<std::int64_t>(i));
        const std::string dna = scene.examples->sequence(still.training().row(sample.index));
        DOCTEST_CHECK(batch.windows[i].ids == scene.network->encode(dna, sample.reverse).ids);
        const auto &before = batch.windows[i].ids, &after = other.windows[i].ids;
        DOCTEST_REQUIRE(after.size() == before.size());
        const auto lost = std::ranges::count(after, baselines::code_of_n);
        const bool left = after.back() == baselines::code_of_n;
        DOCTEST_CHECK(std::equal(after.begin() + (left ? 0 : lost), after.end() - (left ? lost : 0),
                                 before.begin() + (left ? lost : 0)));
        shifts.insert(left ? lost : -lost);
    }
    DOCTEST_CHECK(shifts.size() == 7);
    DOCTEST_CHECK(identical(batch.wanted.targets, other.wanted.targets));
    scene.sequence.strand = RecordStrand::given;
    DOCTEST_CHECK(scene.data().train(0, 40).windows[7].ids == batch.windows[7].ids);  // not moved
}

DOCTEST_TEST_CASE("task_models/sequence_data: numbers are standardised by train's mean and deviation") {
    Scene scene(TargetKind::numbers);
    const Standardisation scale = standardisation_of(*scene.examples);
    const auto rows = scene.examples->rows(Split::train);
    const at::Tensor targets = targets_of_rows(*scene.examples, rows, scale);
    DOCTEST_CHECK(std::abs(targets.mean().item<double>()) < 1e-5);
    DOCTEST_CHECK(targets.square().mean().item<double>() == doctest::Approx(1).epsilon(1e-4));
    const at::Tensor plain = targets_of_rows(*scene.examples, rows, std::nullopt);
    DOCTEST_CHECK(plain[3][0][0].item<float>() == scene.examples->numbers(rows[3])[0]);
    scene.sequence.loss = NumberLoss::poisson;
    DOCTEST_CHECK(target_of(*scene.examples, scene.spec, scene.sequence, at::kCPU)->link() ==
                  LinkFunction::exponential);
}

DOCTEST_TEST_CASE(
    "task_models/sequence_data: the truth of classes is the class, and weights fit the target") {
    Scene scene(TargetKind::classes);
    const ExampleData data = scene.data();
    const auto target = data.target(at::kCPU);
    const ScoredRows rows = data.score(*scene.network, *target, data.validation(0, 20), 4096);
    DOCTEST_CHECK(rows.truth.dim() == 1);
    for (std::int64_t i = 0; i < 20; ++i) {
        const std::int64_t row = scene.examples->rows(Split::validation)[static_cast<std::size_t>(i)];
        DOCTEST_CHECK(rows.truth[i].item<std::int64_t>() ==
                      static_cast<std::int64_t>(scene.examples->class_of(row)));
    }
    const auto all = scene.examples->rows(Split::validation);
    const ScoredRows direct =
        scored_records(*scene.network, *scene.examples, std::span(all).first(20), std::nullopt, 4096, 1);
    DOCTEST_CHECK(identical(direct.logits, rows.logits));
    DOCTEST_CHECK(identical(direct.truth, rows.truth));

    Scene numbers(TargetKind::numbers);
    numbers.spec.positive_weight = 2;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      target_of(*numbers.examples, numbers.spec, numbers.sequence, at::kCPU);
                  }) == "--positive-weight is for classes and labels");
}

DOCTEST_TEST_CASE("task_models/sequence_motifs: the planted motif becomes a filter") {
    Scene scene(TargetKind::classes, 400);
    const motifs::MotifSet planted = plant_motifs(*scene.network, *scene.examples, 4, 1, 1);
    DOCTEST_CHECK(planted.motifs.front().name == scene.examples->label_table()[1].name);
    const sequences::Network member = scene.network->members().front();
    const at::Tensor filters = member->first_filters();
    const std::string motif = "TGACTCAGCA";
    double best = 0;
    for (std::int64_t filter = 0; filter < 4; ++filter) {
        for (std::int64_t first = -3; first <= 4; ++first) {
            for (const bool reverse : {false, true}) {
                const at::Tensor own = reverse ? filters[filter].flip({0, 1}) : filters[filter];
                double sum = 0;
                for (std::int64_t i = std::max<std::int64_t>(0, -first); i < 10 && first + i < 11; ++i) {
                    const auto letter = std::string("ACGT").find(motif[static_cast<std::size_t>(i)]);
                    sum += own[static_cast<std::int64_t>(letter)][first + i].item<double>();
                }
                best = std::max(best, sum);
            }
        }
    }
    DOCTEST_CHECK(best > 1.5);  // norm 0.9, spread over ten places
}
