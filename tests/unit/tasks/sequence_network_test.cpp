// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/sequence_network.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

sequences::Config small() {
    return {.filters = 16, .width = 9, .hidden = 16, .heads = 2, .dense = 8};
}

std::shared_ptr<SequenceNetwork> small_network(std::uint64_t seed) {
    auto network = new_sequence_network(small(), 2, seed, at::kCPU);
    const at::NoGradGuard no_gradients;
    for (at::Tensor& parameter : network->module()->parameters())
        parameter.mul_(3);
    network->module()->eval();
    return network;
}

std::shared_ptr<SequenceNetwork> small_kmers() {
    const at::Tensor weight = random_tensor({2, 32}, 4, at::kFloat), bias = random_tensor({2}, 5, at::kFloat);
    return kmer_network({.lengths = {3}}, weight, bias, at::kCPU);
}

at::Tensor logits_of(const TaskNetwork& network, const std::vector<std::string>& records) {
    std::vector<EncodedWindow> windows;
    for (const std::string& dna : records)
        windows.push_back(network.encode(dna, false));
    return batched_logits(network, windows, 4096).squeeze(1);
}

}  // namespace

DOCTEST_TEST_CASE("sequence_network: a record's logits do not depend on what else is scored") {
    const auto kmers = small_kmers();
    const std::vector<std::shared_ptr<SequenceNetwork>> members{small_network(1), small_network(2)};
    const auto network = mean_network(members, kmers, 0.3);
    std::vector<std::string> records;
    for (std::uint64_t i = 0; i < 40; ++i)
        records.push_back(random_dna(50 + static_cast<std::int64_t>(i * 13 % 90), i + 1));
    const at::Tensor together = logits_of(*network, records);
    DOCTEST_CHECK(together.std(0).min().item<double>() > 1e-3);
    for (std::size_t i = 0; i < records.size(); ++i) {
        DOCTEST_CAPTURE(i);
        const at::Tensor alone = logits_of(*network, {records[i]});
        DOCTEST_CHECK(identical(alone[0], together[static_cast<std::int64_t>(i)]));
    }
}

DOCTEST_TEST_CASE("sequence_network: both strands have the same logits, unless the strand is given") {
    const std::string dna = random_dna(90, 7), other = genome::reverse_complement(dna);
    const at::Tensor both = logits_of(*small_network(1), {dna, other});
    DOCTEST_CHECK(difference(both[0], both[1]) < 1e-6);
    sequences::Config config = small();
    config.both_strands = false;
    const auto given = new_sequence_network(config, 2, 1, at::kCPU);
    given->module()->eval();
    const at::Tensor own = logits_of(*given, {dna, other});
    DOCTEST_CHECK(difference(own[0], own[1]) > 1e-5);
}

DOCTEST_TEST_CASE("sequence_network: a mean is the mean of its members, and its folder opens") {
    const std::vector<std::string> records{random_dna(70, 1), random_dna(101, 2)};
    const auto first = small_network(1), second = small_network(2), kmers = small_kmers();
    const std::vector<std::shared_ptr<SequenceNetwork>> members{first, second};
    const auto network = mean_network(members, kmers, 0.25);
    const at::Tensor expected = 0.75 * (logits_of(*first, records) + logits_of(*second, records)) / 2 +
                                0.25 * logits_of(*kmers, records);
    const at::Tensor logits = logits_of(*network, records);
    DOCTEST_CHECK(difference(logits, expected) < 1e-5);

    TempDir folder;
    TaskInfo info;
    info.task = examples::Task::sequences;
    info.target = examples::TargetKind::classes;
    info.architecture = sequence_name;
    std::filesystem::create_directories(folder / "model");
    network->write(info, folder / "model");
    write_labels(rows::LabelTable({{".", "no", -1}, {".", "yes", -1}}), folder / "model");
    const ModelFolder opened = open_model(folder / "model", examples::Task::sequences, at::kCPU);
    DOCTEST_CHECK(opened.info.link() == LinkFunction::softmax);
    DOCTEST_CHECK(identical(logits_of(*opened.network, records), logits));
    DOCTEST_CHECK(identical(logits_of(*network->twin(), records), logits));
}

DOCTEST_TEST_CASE("sequence_network: numbers are made of logits by their mean and deviation") {
    TempDir folder;
    TaskInfo info;
    info.task = examples::Task::sequences;
    info.target = examples::TargetKind::numbers;
    info.architecture = "kmer-ridge";
    info.standardisation = Standardisation{.mean = {10, -1}, .deviation = {2, 0.5}};
    std::filesystem::create_directories(folder / "model");
    small_kmers()->write(info, folder / "model");
    write_labels(rows::LabelTable({{".", "a", -1}, {".", "b", -1}}), folder / "model");
    const ModelFolder opened = open_model(folder / "model", examples::Task::sequences, at::kCPU);
    const at::Tensor logits = at::tensor({1.0, 2.0, 0.0, -2.0}, at::kDouble).view({2, 2});
    const at::Tensor numbers = opened.calibration.probabilities(logits);
    DOCTEST_CHECK(identical(numbers, at::tensor({12.0, 0.0, 10.0, -2.0}, at::kDouble).view({2, 2})));
    info.standardisation->mean.pop_back();
    small_kmers()->write(info, folder / "model");
    DOCTEST_CHECK(holds(
        message_of<InputError>([&] { open_model(folder / "model", examples::Task::sequences, at::kCPU); }),
        "standardises 1 number, but the model has 2"));
}

DOCTEST_TEST_CASE("sequence_network: of a record that is too long the middle is read") {
    sequences::Config config = small();
    config.longest = 64;
    const auto network = new_sequence_network(config, 2, 1, at::kCPU);
    const std::string dna = random_dna(100, 3);
    const EncodedWindow window = network->encode(dna, false);
    DOCTEST_CHECK(window.truncated);
    DOCTEST_CHECK(window.ids == network->encode(dna.substr(18, 64), false).ids);
    DOCTEST_CHECK(network->encode("NNNN", false).all_n());
}
