// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/bins_model.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/task_models/batched_logits.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

void write_folder(const std::filesystem::path& folder, const bins::BinsNetwork& network) {
    std::filesystem::create_directories(folder);
    write_bins_model(network, small_bins_info(network->config()), folder);
    write_file(folder / "labels.tsv", rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}}).to_text());
}

}  // namespace

DOCTEST_TEST_CASE("bins model: what is written is loaded") {
    const TempDir folder;
    bins::BinsNetwork network = small_bins_network(1);
    write_folder(folder / "m", network);
    TaskModel model = load_task_model(folder / "m", examples::Task::chromatin, at::kCPU);
    DOCTEST_REQUIRE_FALSE(model.bins.is_empty());
    DOCTEST_CHECK(model.info.architecture == "bigbird-bins");
    DOCTEST_CHECK_FALSE(model.bins->is_training());
    const at::Tensor codes = window_codes(std::vector{random_dna(160, 1)}, at::kCPU);
    const auto type = training::ComputeType::fp32;
    DOCTEST_CHECK(at::equal(bin_logits(model.bins, codes, type), bin_logits(network, codes, type)));
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

DOCTEST_TEST_CASE("bins model: a window alone has the logits of its middle bases") {
    bins::BinsNetwork network = small_bins_network(2);
    const auto middle = bin_in_the_middle(network, small_bins_info(), {}, at::kCPU);
    const std::vector<std::string> dna{random_dna(160, 1), random_dna(160, 2), random_dna(160, 3)};
    std::vector<EncodedWindow> windows;
    for (const std::string& one : dna)
        windows.push_back(middle->encode(one, false));
    const at::Tensor all = bin_logits(network, window_codes(dna, at::kCPU), training::ComputeType::fp32);
    const at::Tensor wanted = (all.select(1, 3) + all.select(1, 4)) / 2;  // 70 to 90 are half of each
    DOCTEST_CHECK(difference(batched_logits(*middle, windows, 1), wanted) < 1e-5);
    DOCTEST_CHECK(difference(batched_logits(*middle, windows, 1000), wanted) < 1e-5);
    DOCTEST_CHECK(middle->encode(std::string(160, 'N'), false).all_n());
}
