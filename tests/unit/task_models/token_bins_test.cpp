// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/token_bins.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/batching.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

const bins::Grid grid{.bin = 20, .window_bins = 8, .margin_bins = 2};

model::BigBirdConfig head_of_bins() {
    model::BigBirdConfig config = tiny_config(2);
    config.classifier_head = "bins";
    return config;
}

std::shared_ptr<BinNetwork> small_token_bins(std::uint64_t seed) {
    return token_bins(tiny_network(head_of_bins(), seed), small_tokenizer(), grid, {});
}

/// The mean over the bases of a bin that some id spells of a one at that id, base by base.
std::vector<double> base_by_base(const EncodedWindow& window, std::int64_t bin) {
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    std::vector<double> sums(window.ids.size());
    double spelt = 0;
    std::int64_t base = window.first_base;
    for (std::size_t i = 0; i < window.ids.size(); ++i) {
        for (std::int32_t letter = 0; letter < tokenizer.piece_length(window.ids[i]); ++letter, ++base) {
            if (base / grid.bin != bin) continue;
            sums[i] += 1;
            spelt += 1;
        }
    }
    for (double& sum : sums)
        sum /= std::max(spelt, 1.0);
    return sums;
}

}  // namespace

DOCTEST_TEST_CASE("token bins: weights are the bases that an id spells of a bin, and sum to one") {
    std::string dna = random_dna(160, 3);
    dna.replace(0, 27, std::string(27, 'N'));  // bin 0 is left out, bin 1 begins late
    const auto network = small_token_bins(1);
    const EncodedWindow window = network->encode(dna);
    const auto ids = std::ssize(window.ids);
    const at::Tensor weights = bin_weights(window, small_tokenizer(), grid, ids + 5);
    DOCTEST_REQUIRE(weights.sizes() == at::IntArrayRef{8, ids + 5});
    for (std::int64_t bin = 0; bin < 8; ++bin) {
        DOCTEST_CHECK(weights[bin].sum().item<double>() == doctest::Approx(bin == 0 ? 0 : 1));
        const std::vector<double> wanted = base_by_base(window, bin);
        for (std::int64_t i = 0; i < ids; ++i) {
            DOCTEST_CHECK(weights[bin][i].item<double>() ==
                          doctest::Approx(wanted[static_cast<std::size_t>(i)]));
        }
    }
}

DOCTEST_TEST_CASE("token bins: a bin's features are the mean of its bases' hidden states") {
    model::SequenceClassifier encoder = tiny_network(head_of_bins(), 1);
    const auto network = token_bins(encoder, small_tokenizer(), grid, {});
    const EncodedWindow window = network->encode(random_dna(160, 4));
    const at::Tensor hidden =
        encoder
            ->encode(model::make_input(std::vector<model::TokenSequence>{{window.ids, {}}}, encoder->config(),
                                       at::kCPU))
            .hidden[0];
    const std::vector<double> wanted = base_by_base(window, 5);
    at::Tensor mean = at::zeros({hidden.size(1)});
    for (std::size_t i = 0; i < wanted.size(); ++i)
        mean += hidden[static_cast<std::int64_t>(i)] * wanted[i];
    const at::Tensor features = network->features(std::vector{window});
    DOCTEST_REQUIRE(features.sizes() == at::IntArrayRef{1, 8, hidden.size(1)});
    DOCTEST_CHECK(difference(features[0][5], mean) < 1e-5);
    DOCTEST_CHECK(difference(network->predict(features), encoder->predict(features)) < 1e-6);
}

DOCTEST_TEST_CASE("token bins: windows of other lengths in a batch change nothing and keep their places") {
    const auto network = small_token_bins(2);
    std::vector<std::string> dna;
    for (std::uint64_t i = 0; i < 5; ++i) {
        dna.push_back(random_dna(160, i));
        dna.back().replace(0, 25 * i, std::string(25 * i, 'N'));  // fewer tokens, fewer blocks
    }
    dna.emplace_back(160, 'N');
    const at::Tensor all = logits_of(*network, dna);
    DOCTEST_REQUIRE(all.sizes() == at::IntArrayRef{6, 8, 2});
    for (std::size_t i = 0; i < dna.size(); ++i) {
        const at::Tensor alone = logits_of(*network, {dna[i]})[0];
        DOCTEST_CHECK(difference(all[static_cast<std::int64_t>(i)], alone) < 1e-5);
    }
    DOCTEST_CHECK(all.isfinite().all().item<bool>());
}

DOCTEST_TEST_CASE("token bins: dropout follows the window's sample, not its place") {
    const auto network = small_token_bins(2);
    network->module()->train();
    std::vector<EncodedWindow> windows;
    for (std::uint64_t i = 0; i < 3; ++i)
        windows.push_back(network->encode(random_dna(160 - 40 * static_cast<std::int64_t>(i), i) +
                                          std::string(40 * i, 'N')));
    const at::Tensor some = network->features(windows, {.seed = 1, .step = 2, .samples = {7, 8, 9}});
    const at::Tensor last =
        network->features(std::vector{windows[2]}, {.seed = 1, .step = 2, .samples = {9}});
    DOCTEST_CHECK(difference(some[2], last[0]) < 1e-5);
}

DOCTEST_TEST_CASE("token bins: what is written is loaded, and an encoder of others' use") {
    const TempDir folder;
    std::filesystem::create_directories(folder / "m");
    const auto network = small_token_bins(3);
    TaskInfo info;
    info.window = {-80, 80};
    network->write(info, folder / "m");
    write_file(folder / "m/labels.tsv", rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}}).to_text());
    const TaskModel model = load_task_model(folder / "m", examples::Task::chromatin, at::kCPU);
    DOCTEST_REQUIRE(model.bins != nullptr);
    DOCTEST_CHECK(model.bins->grid() == grid);
    const std::vector<std::string> dna{random_dna(160, 1)};
    DOCTEST_CHECK(at::equal(logits_of(*model.bins, dna), logits_of(*network, dna)));
    DOCTEST_CHECK(read_json(folder / "m/config.json")["architectures"][0] == "BigBirdForBins");
    const auto copy = network->copy();
    copy->module()->eval();
    DOCTEST_CHECK(at::equal(logits_of(*copy, dna), logits_of(*network, dna)));
}

DOCTEST_TEST_CASE("token bins: as many bins fit as the densest sample allows") {
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    const std::vector<std::string> samples{random_dna(2000, 1), random_dna(2000, 2)};
    const auto densest =
        std::max(tokenizer.encode(samples[0]).size(), tokenizer.encode(samples[1]).size());  // in 100 bins
    const std::int64_t fitting =
        fitting_bins(samples, tokenizer, 20, static_cast<std::int64_t>(densest) / 2 + 3);
    DOCTEST_CHECK(fitting == 50);
    DOCTEST_CHECK_THROWS_AS(fitting_bins(samples, tokenizer, 20, 4), ConfigError);
    DOCTEST_CHECK_THROWS_AS(fitting_bins({}, tokenizer, 20, 512), InputError);
}
