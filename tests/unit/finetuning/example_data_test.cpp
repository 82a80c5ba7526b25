// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/example_data.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/tasks/sequence_examples.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/tasks/sequence_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;
using examples::ExampleSet;
using examples::Split;
using examples::TargetKind;

namespace {

/// Three bins, the middle one nothing but N.
void write_examples_with_gap(const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    examples::ExampleWriter writer(directory, examples::Task::chromatin, {-100, 100}, 1);
    const std::uint8_t label = 1;
    for (std::int64_t row = 0; row < 3; ++row) {
        writer.add({{"c", row * 200, row * 200 + 200}, ".", genome::Strand::none, examples::Split::train},
                   {&label, 1});
    }
    examples::TwoBitWriter store(directory / "sequences.2bit", {"c"}, false);
    store.add("c", random_dna(200, 1) + std::string(200, 'N') + random_dna(200, 2));
    store.finish();
    writer.finish(rows::LabelTable({{"TF", "x", -1}}), Json::object());
}

struct Fixture {
    TempDir folder;
    ExampleSet examples = write_motif_examples(folder / "examples", 200, 11);

    ExampleData data(const ClassifierSpec& spec) const {
        return {tiny_windows(tiny_config(2), 1), examples, spec, false};
    }
};

std::vector<ExampleData::Sample> samples_of(ExampleData& data, std::int64_t step, std::int64_t batch_size) {
    std::vector<ExampleData::Sample> samples;
    for (std::int64_t i = (step - 1) * batch_size; i < step * batch_size; ++i)
        samples.push_back(data.sample(i));
    return samples;
}

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

DOCTEST_TEST_CASE("example_data: both strands of every row, whatever the threads") {
    const TempDir folder;
    const auto examples = write_motif_examples(folder / "examples", 300, 7);
    const auto rows = examples.rows(examples::Split::train);
    const auto tokenizer = small_tokenizer();
    const auto network = tiny_windows(tiny_config(1), 1);
    const EncodedExamples one(examples, rows, *network, examples.bounds(), true, 1);
    const EncodedExamples four(examples, rows, *network, examples.bounds(), true, 4);
    DOCTEST_REQUIRE(one.size() == 150);
    DOCTEST_REQUIRE(four.size() == 150);
    for (std::int64_t i = 0; i < one.size(); ++i) {
        DOCTEST_REQUIRE(one.row(i) == rows[static_cast<std::size_t>(i)]);
        const std::string dna = examples.sequence(one.row(i));
        DOCTEST_REQUIRE(one.window(i).ids == encode_window(dna, tokenizer, 512).ids);
        DOCTEST_REQUIRE(one.window(i, true).ids ==
                        encode_window(genome::reverse_complement(dna), tokenizer, 512).ids);
        DOCTEST_REQUIRE(four.window(i).ids == one.window(i).ids);
        DOCTEST_REQUIRE(four.window(i, true).ids == one.window(i, true).ids);
    }
    DOCTEST_CHECK(one.truncated() == 0);
    model::BigBirdConfig short_one = tiny_config(1);
    short_one.max_position_embeddings = 32;
    DOCTEST_CHECK(EncodedExamples(examples, rows, *tiny_windows(short_one, 1), examples.bounds(), false, 2)
                      .truncated() == 150);
}

DOCTEST_TEST_CASE("example_data: windows that are all N are left out and counted") {
    const TempDir folder;
    write_examples_with_gap(folder / "examples");
    const auto examples = examples::ExampleSet::load(folder / "examples");
    const EncodedExamples windows(examples, examples.rows(examples::Split::train),
                                  *tiny_windows(tiny_config(1), 1), examples.bounds(), false, 1);
    DOCTEST_REQUIRE(windows.size() == 2);
    DOCTEST_CHECK(windows.left_out() == 1);
    DOCTEST_CHECK(windows.row(0) == 0);
    DOCTEST_CHECK(windows.row(1) == 2);
}

DOCTEST_TEST_CASE("example_data: a part of the windows, with its marks") {
    const TempDir folder;
    const auto examples = write_motif_examples(folder / "examples", 8, 7);
    const auto rows = examples.rows(examples::Split::train);
    const rows::WindowBounds part{-80, 40};
    const auto network = tiny_windows(tiny_config(1), 1, Pooling::centre, part);
    const EncodedExamples windows(examples, rows, *network, part, true, 1);
    const std::string dna = examples.sequence(rows[1]).substr(20, 120);
    for (const bool reverse : {false, true}) {
        const auto expected = network->encode(dna, reverse), found = windows.window(1, reverse);
        DOCTEST_CHECK(found.ids == expected.ids);
        DOCTEST_CHECK(found.marked_begin == expected.marked_begin);
        DOCTEST_CHECK(found.marked_end == expected.marked_end);
    }
}

DOCTEST_TEST_CASE("example_data: an epoch holds every window once, in an order of its own") {
    auto first = epoch_order(1000, 3, 0), again = epoch_order(1000, 3, 0);
    const auto second = epoch_order(1000, 3, 1), other_seed = epoch_order(1000, 4, 0);
    DOCTEST_CHECK(first == again);
    DOCTEST_CHECK(first != second);
    DOCTEST_CHECK(first != other_seed);
    std::sort(first.begin(), first.end());
    for (std::int64_t i = 0; i < 1000; ++i)
        DOCTEST_REQUIRE(first[static_cast<std::size_t>(i)] == i);
}

DOCTEST_TEST_CASE("example_data: steps go through epochs without a gap, in any order of asking") {
    Fixture fixture;
    ExampleData data = fixture.data({.batch_size = 30, .seed = 5});
    DOCTEST_REQUIRE(data.training().size() == 100);
    std::vector<std::int64_t> seen;
    for (std::int64_t step = 1; step <= 10; ++step)
        for (const auto& sample : samples_of(data, step, 30))
            seen.push_back(sample.index);
    for (std::size_t epoch = 0; epoch < 3; ++epoch) {
        const auto begin = seen.begin() + static_cast<std::ptrdiff_t>(epoch * 100);
        DOCTEST_CHECK(std::set<std::int64_t>(begin, begin + 100).size() == 100);
    }
    const auto fourth = samples_of(data, 4, 30);
    ExampleData fresh = fixture.data({.batch_size = 30, .seed = 5});
    DOCTEST_CHECK((samples_of(fresh, 4, 30) == fourth));
}

DOCTEST_TEST_CASE("example_data: about half of the windows come reversed, fixed by seed and epoch") {
    Fixture fixture;
    ExampleData data = fixture.data({.batch_size = 100, .both_strands = true, .seed = 5});
    const auto epoch = samples_of(data, 1, 100);
    const auto reversed =
        std::count_if(epoch.begin(), epoch.end(), [](const auto& sample) { return sample.reverse; });
    DOCTEST_CHECK(reversed > 25);
    DOCTEST_CHECK(reversed < 75);
    ExampleData again = fixture.data({.batch_size = 100, .both_strands = true, .seed = 5});
    DOCTEST_CHECK((samples_of(again, 1, 100) == epoch));
}

DOCTEST_TEST_CASE("example_data: balanced weights are zeros by ones") {
    Fixture fixture;
    const auto& examples = fixture.examples;
    const auto target = fixture.data({.positive_weight = std::nullopt}).target(at::kCPU);
    const at::Tensor logits = at::zeros({1, 1, 2}), ones = at::ones({1, 1, 2}, at::kByte);
    double wanted = 0;
    for (std::size_t label = 0; label < 2; ++label) {
        const auto positives = static_cast<double>(examples.positives(label, examples::Split::train));
        wanted += (100 - positives) / positives * std::log(2.0);
    }
    DOCTEST_CHECK(target->loss_sum(logits, ones, {}).item<double>() == doctest::Approx(wanted));
    DOCTEST_CHECK(balanced_weight(0, 5) == 1);
    DOCTEST_CHECK(balanced_weight(1, 1000) == 100);
}

DOCTEST_TEST_CASE("example_data: the output bias starts at the best constant of what is drawn") {
    Fixture fixture;
    const auto& examples = fixture.examples;
    const auto network = tiny_windows(tiny_config(2), 1);
    ExampleData data(network, examples, {.batch_size = 100, .positive_weight = 8, .seed = 5}, true);
    data.start(*network, *data.target(at::kCPU), false);
    std::vector<double> ones(2), windows(2);
    for (std::int64_t step = 1; step <= 50; ++step) {
        for (const auto& sample : samples_of(data, step, 100)) {
            const auto labels = examples.labels(data.training().row(sample.index));
            for (std::size_t label = 0; label < 2; ++label) {
                ones[label] += labels[label];
                ++windows[label];
            }
        }
    }
    for (std::size_t label = 0; label < 2; ++label) {
        // d/db of 8 p softplus(-b) + (1 - p) softplus(b) is 0 there
        const double p = ones[label] / windows[label];
        const double bias = network->output_bias()[static_cast<std::int64_t>(label)].item<double>();
        DOCTEST_CHECK(bias == doctest::Approx(std::log(8 * p / (1 - p))).epsilon(0.02));
    }
}

DOCTEST_TEST_CASE("example_data: records are whole, of either strand, and moved by some bases") {
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

DOCTEST_TEST_CASE("example_data: numbers are standardised by train's mean and deviation") {
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

DOCTEST_TEST_CASE("example_data: the truth of classes is the class, and weights fit the target") {
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

DOCTEST_TEST_CASE("example_data: the planted motif becomes a filter") {
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
