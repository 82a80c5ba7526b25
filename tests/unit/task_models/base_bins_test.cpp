// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/base_bins.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

void write_folder(const std::filesystem::path& folder, const BinNetwork& network) {
    std::filesystem::create_directories(folder);
    network.write(small_bins_info(), folder);
    write_file(folder / "labels.tsv", rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}}).to_text());
}

}  // namespace

DOCTEST_TEST_CASE("base bins: logits are the network's, of windows as codes") {
    bins::BinsNetwork network = small_bins_network(1);
    const auto model = base_bins(network, {});
    const std::vector<std::string> dna{random_dna(160, 1), random_dna(150, 2) + "NNNNNNNNNN"};
    const at::Tensor codes = at::stack({bins::codes_of(dna[0]), bins::codes_of(dna[1])});
    DOCTEST_CHECK(at::equal(logits_of(*model, dna), network->forward(codes)));
    DOCTEST_CHECK(model->grid() == bins::Grid{20, 8, 2});
    DOCTEST_CHECK(model->first_filters().sizes() == at::IntArrayRef{12, 4, 7});
}

DOCTEST_TEST_CASE("base bins: a copy has the weights and none of the tensors") {
    const auto model = small_base_bins(1), copy = model->copy();
    const std::vector<std::string> dna{random_dna(160, 1)};
    copy->module()->eval();
    DOCTEST_CHECK(at::equal(logits_of(*copy, dna), logits_of(*model, dna)));
    const at::NoGradGuard no_gradients;
    copy->output_bias().add_(1);
    DOCTEST_CHECK_FALSE(at::equal(logits_of(*copy, dna), logits_of(*model, dna)));
}

DOCTEST_TEST_CASE("base bins: what is written is loaded") {
    const TempDir folder;
    const auto network = small_base_bins(1);
    write_folder(folder / "m", *network);
    const TaskModel model = load_task_model(folder / "m", examples::Task::chromatin, at::kCPU);
    DOCTEST_REQUIRE(model.bins != nullptr);
    DOCTEST_CHECK(model.info.architecture == "bigbird-bins");
    DOCTEST_CHECK_FALSE(model.bins->module()->is_training());
    const std::vector<std::string> dna{random_dna(160, 1)};
    DOCTEST_CHECK(at::equal(logits_of(*model.bins, dna), logits_of(*network, dna)));
    // A folder whose weights are of another network.
    bins::BinsConfig other = small_bins();
    other.encoder.num_hidden_layers = 2;
    write_json(folder / "m/config.json",
               {{"num_labels", 2}, {"bigbird_dna", {{"task_model", to_json(small_bins_info(other))}}}},
               Overwrite::allow);
    DOCTEST_CHECK(message_of<InputError>([&] {
                      load_task_model(folder / "m", examples::Task::chromatin, at::kCPU);
                  }).find("encoder.1.query.weight") != std::string::npos);
}
