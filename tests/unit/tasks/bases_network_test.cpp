// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/bases_network.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/tasks/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/sequence.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

TaskInfo info_of(const std::string& architecture, const rows::WindowBounds& window) {
    TaskInfo info;
    info.architecture = architecture;
    info.window = window;
    info.network = to_json(KmerSpec{.word = 5, .informative = 3, .unit_length = true});
    return info;
}

bool is_linear(const std::string& architecture) {
    return architecture.find('-') != std::string::npos;
}

/// A baseline of three labels over windows of 300 bases, with weights drawn at random.
std::shared_ptr<TaskNetwork> some_network(const std::string& architecture) {
    const TaskInfo info = info_of(architecture, {-150, 150});
    return is_linear(architecture)
               ? linear_network(info, random_tensor({3, 320}, 1), random_tensor({3}, 2), at::kCPU)
               : new_base_network(info, 3, 1, at::kCPU);
}

std::vector<EncodedWindow> encoded(const TaskNetwork& network, bool reverse = false) {
    std::vector<EncodedWindow> windows;
    for (std::uint64_t seed = 0; seed < 7; ++seed)
        windows.push_back(network.encode(random_dna(300, seed), reverse));
    return windows;
}

void write_folder(const std::filesystem::path& folder, const BinNetwork& network) {
    std::filesystem::create_directories(folder);
    network.write(small_bins_info(), folder);
    write_labels(rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}}), folder);
}

}  // namespace

DOCTEST_TEST_CASE("bases_network: every baseline is written and read back, and predicts the same") {
    for (const std::string architecture : {"cnnprom", "deepromoter", "deepsea", "gkm-svm", "kmer-ridge"}) {
        DOCTEST_CAPTURE(architecture);
        const auto network = some_network(architecture);
        const TempDir folder;
        std::filesystem::create_directories(folder / "model");
        const rows::LabelTable labels({{"TF", "a", -1}, {"TF", "b", -1}, {"TF", "c", -1}});
        network->write(info_of(architecture, {-150, 150}), folder / "model");
        write_labels(labels, folder / "model");
        const auto loaded = open_model(folder / "model", examples::Task::chromatin, at::kCPU);
        DOCTEST_CHECK(loaded.info.architecture == architecture);
        const auto windows = encoded(*network);
        const at::Tensor expected = batched_logits(*network, windows, 1 << 20);
        DOCTEST_CHECK(expected.std().item<double>() > 1e-4);
        DOCTEST_CHECK(difference(batched_logits(*loaded.network, windows, 300), expected) < 1e-5);
        DOCTEST_CHECK(difference(batched_logits(*network, encoded(*network, true), 1 << 20),
                                 expected) <
                      (is_linear(architecture) ? 1e-5 : 1e9));  // k-mers are counted on both strands
    }
}

DOCTEST_TEST_CASE("bases_network: windows are codes, on either strand, all N has none") {
    const auto network = new_base_network(info_of("cnnprom", {-100, 100}), 1, 1, at::kCPU);
    DOCTEST_CHECK(network->encode("ACGTN", false).ids == std::vector<std::int32_t>{0, 1, 2, 3, 4});
    DOCTEST_CHECK(network->encode("AACN", true).ids == std::vector<std::int32_t>{4, 2, 3, 3});
    DOCTEST_CHECK(network->encode("NNNN", false).all_n());
    DOCTEST_CHECK(network->encode("", false).all_n());
}

DOCTEST_TEST_CASE("bases_network: features of a k-mer model") {
    const baselines::GappedKmers kmers(2, 2);
    std::vector<float> features(kmers.size());
    const std::vector<std::int32_t> codes{0, 0, 0, 1};  // AA, AA, AC
    kmer_features(kmers, {.word = 2, .informative = 2, .unit_length = false}, codes, features);
    double sum = 0, square = 0;
    for (const float value : features)
        sum += double{value};
    DOCTEST_CHECK(sum == doctest::Approx(std::sqrt(2.0)));  // neither is its own reverse complement
    kmer_features(kmers, {.word = 2, .informative = 2, .unit_length = true}, codes, features);
    for (const float value : features)
        square += double{value} * double{value};
    DOCTEST_CHECK(square == doctest::Approx(1));
    kmer_features(kmers, {.word = 2, .informative = 2, .unit_length = true}, std::vector<std::int32_t>{4, 4},
                  features);
    DOCTEST_CHECK(std::ranges::all_of(features, [](float value) { return value == 0; }));
}

DOCTEST_TEST_CASE("bases_network: descriptions that do not fit") {
    const TempDir folder;
    std::filesystem::create_directories(folder / "model");
    const auto network = new_base_network(info_of("cnnprom", {-100, 100}), 1, 1, at::kCPU);
    network->write(info_of("cnnprom", {-100, 100}), folder / "model");
    write_labels(rows::LabelTable({{"TF", "a", -1}}), folder / "model");
    const auto with = [&](const std::string& key, const Json& value) {
        Json json = read_json(folder / "model/config.json");
        json["bigbird_dna"]["task_model"][key] = value;
        write_json(folder / "model/config.json", json, Overwrite::allow);
        return message_of<InputError>(
            [&] { open_model(folder / "model", examples::Task::chromatin, at::kCPU); });
    };
    DOCTEST_CHECK(holds(with("window", "-10:5"), "needs at least 21"));
    DOCTEST_CHECK(holds(with("window", "-300:300"), "has the shape"));
    DOCTEST_CHECK(holds(with("architecture", "resnet"), "is not known"));
    DOCTEST_CHECK(holds(with("architecture", "kmer-ridge"), "model.safetensors"));
    DOCTEST_CHECK(holds(with("network", Json::object()), "description is damaged"));
    const Json cut{{"word", 4'294'967'304}, {"informative", 4}, {"unit_length", true}};  // 2^32 + 8
    DOCTEST_CHECK(holds(with("network", cut), "'word' must be a whole number, not 4294967304"));
}

DOCTEST_TEST_CASE("bases_network: a window's logits do not depend on what else is scored") {
    for (const std::string architecture : {"cnnprom", "deepromoter", "deepsea", "gkm-svm", "kmer-ridge"}) {
        DOCTEST_CAPTURE(architecture);
        const auto network = some_network(architecture);
        std::vector<EncodedWindow> windows;
        for (std::uint64_t seed = 0; seed < 21; ++seed)
            windows.push_back(network->encode(random_dna(300, seed), false));
        std::int64_t said = 0;
        const at::Tensor all =
            batched_logits(*network, windows, 1 << 20, [&](std::int64_t some) { said += some; });
        DOCTEST_CHECK(said == 21);
        using Stretch = std::pair<std::size_t, std::size_t>;
        for (const auto& [begin, count] : {Stretch(0, 1), Stretch(3, 5), Stretch(4, 17)}) {
            const at::Tensor some =
                batched_logits(*network, std::span(windows).subspan(begin, count), 1 << 20);
            DOCTEST_CHECK(at::equal(some, all.slice(0, static_cast<std::int64_t>(begin),
                                                    static_cast<std::int64_t>(begin + count))));
        }
        std::ranges::reverse(windows);
        DOCTEST_CHECK(at::equal(batched_logits(*network, windows, 1 << 20), all.flip(0)));
    }
}

DOCTEST_TEST_CASE("bases_network: bins, logits are the network's, of windows as codes") {
    bins::BinsNetwork network = small_bins_network(1);
    const auto model = base_bins(network, {});
    const std::vector<std::string> dna{random_dna(160, 1), random_dna(150, 2) + "NNNNNNNNNN"};
    const at::Tensor codes = at::stack({bins::codes_of(dna[0]), bins::codes_of(dna[1])});
    DOCTEST_CHECK(at::equal(logits_of(*model, dna), network->forward(codes)));
    DOCTEST_CHECK(model->grid() == bins::Grid{20, 8, 2});
    DOCTEST_CHECK(model->base_network()->first_filters().sizes() == at::IntArrayRef{12, 4, 7});
}

DOCTEST_TEST_CASE(
    "bases_network: bins, a substitution's logits do not depend on the others, to the last bit") {
    bins::BinsNetwork network(bins::preset("tiny"), 109);
    bins::initialise(*network, 1);
    network->eval();
    const at::NoGradGuard no_gradients;
    const auto model = base_bins(network, {});
    std::vector<bins::Substitution> each;
    std::vector<std::int64_t> segments;
    for (std::int64_t i = 0; i < 7; ++i) {
        each.push_back({1700 * i + 77, static_cast<std::uint8_t>(i % 4)});
        segments.push_back(each.back().at / network->config().bin);
    }
    const at::Tensor of_each = at::tensor(segments, at::kLong).unsqueeze(1);
    for (const bool reverse : {false, true}) {
        const auto window = model->edit(random_dna(network->config().window_bases(), 1), reverse, {});
        const at::Tensor all = window->logits(each, of_each);
        for (const std::int64_t count : {1, 2, 3, 4, 5}) {
            const auto some = std::span(each).last(static_cast<std::size_t>(count));
            DOCTEST_CHECK(at::equal(window->logits(some, of_each.narrow(0, 7 - count, count)),
                                    all.narrow(0, 7 - count, count)));
        }
    }
}

DOCTEST_TEST_CASE("bases_network: bins, a copy has the weights and none of the tensors") {
    const auto model = small_base_bins(1), copy = std::dynamic_pointer_cast<BinNetwork>(model->twin());
    const std::vector<std::string> dna{random_dna(160, 1)};
    copy->module()->eval();
    DOCTEST_CHECK(at::equal(logits_of(*copy, dna), logits_of(*model, dna)));
    const at::NoGradGuard no_gradients;
    copy->output_bias().add_(1);
    DOCTEST_CHECK_FALSE(at::equal(logits_of(*copy, dna), logits_of(*model, dna)));
}

DOCTEST_TEST_CASE("bases_network: bins, what is written is loaded") {
    const TempDir folder;
    const auto network = small_base_bins(1);
    write_folder(folder / "m", *network);
    const ModelFolder model = open_model(folder / "m", examples::Task::chromatin, at::kCPU);
    DOCTEST_REQUIRE(model.bins() != nullptr);
    DOCTEST_CHECK(model.info.architecture == "bigbird-bins");
    DOCTEST_CHECK_FALSE(model.network->module()->is_training());
    const std::vector<std::string> dna{random_dna(160, 1)};
    DOCTEST_CHECK(at::equal(logits_of(*model.bins(), dna), logits_of(*network, dna)));
    // A folder whose weights are of another network.
    bins::BinsConfig other = small_bins();
    other.encoder.num_hidden_layers = 2;
    write_json(folder / "m/config.json",
               {{"num_labels", 2}, {"bigbird_dna", {{"task_model", to_json(small_bins_info(other))}}}},
               Overwrite::allow);
    DOCTEST_CHECK(
        holds(message_of<InputError>([&] { open_model(folder / "m", examples::Task::chromatin, at::kCPU); }),
              "encoder.1.query.weight"));
}
