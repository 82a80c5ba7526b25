// SPDX-License-Identifier: Apache-2.0
// Examples with the labels of every bin, and a model of bins, small enough for tests.
#pragma once

#include "unit/bins/small_bins.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/labelled_bins.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/tasks/bases_network.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::testing {

/// The sequence of contig "c" that write_bin_examples labels: bins of 20 bases, of which every third or so
/// holds GATTACA, which is its label 0; label 1 is random. Bins 20 to 24 are N.
struct BinGenome {
    std::string dna;
    std::vector<std::uint8_t> labels;  ///< bits

    BinGenome(std::int64_t bins, std::uint64_t seed) : dna(random_dna(bins * 20, seed)) {
        Rng rng = Rng(seed).split("labels");
        for (std::int64_t bin = 0; bin < bins; ++bin) {
            const bool motif = rng.between(0, 2) == 0;
            if (motif) dna.replace(static_cast<std::size_t>(bin * 20 + rng.between(0, 13)), 7, "GATTACA");
            labels.push_back(static_cast<std::uint8_t>((motif ? 1 : 0) + 2 * rng.between(0, 1)));
        }
        dna.replace(20 * 20, 5 * 20, 5 * 20, 'N');
    }
};

/// An example folder as build-chromatin leaves it: the first 60 % of bins are train's, then a fifth each are
/// validation's and test's.
inline examples::LabelledBins write_bin_examples(const std::filesystem::path& directory, std::int64_t bins,
                                                 std::uint64_t seed) {
    std::filesystem::create_directories(directory);
    const BinGenome genome(bins, seed);
    examples::ExampleWriter rows(directory, examples::Task::chromatin, {-20, 20}, 2);
    std::vector<examples::BinStretch> stretches;
    examples::LabelWriter matrix(directory / "bins.npy", examples::Cells::bits, 2);
    for (std::int64_t bin = 0; bin < bins; ++bin) {
        const auto split = bin < bins * 3 / 5   ? examples::Split::train
                           : bin < bins * 4 / 5 ? examples::Split::validation
                                                : examples::Split::test;
        const std::span<const std::uint8_t> bits(&genome.labels[static_cast<std::size_t>(bin)], 1);
        examples::add_bin(stretches, "c", bin, split);
        matrix.append(std::as_bytes(bits));
        rows.add({{"c", bin * 20, (bin + 1) * 20}, ".", genome::Strand::none, split}, bits);
    }
    examples::write_stretches(directory, stretches, 20);
    matrix.finish();
    examples::TwoBitWriter store(directory / "sequences.2bit", {"c"}, false);
    store.add("c", genome.dna);
    store.finish();
    rows.finish(rows::LabelTable({{"TF", "motif", -1}, {"TF", "random", -1}}),
                Json{{"parameters", {{"bin", 20}}},
                     {"contigs", Json::array({Json{{"name", "c"}, {"length", bins * 20}}})}});
    return examples::LabelledBins::load(directory);
}

/// A network with random weights large enough to tell bins apart, in evaluation mode.
inline bins::BinsNetwork small_bins_network(std::uint64_t seed,
                                            const bins::BinsConfig& config = small_bins()) {
    bins::BinsNetwork network(config, 2);
    bins::initialise(*network, seed);
    const at::NoGradGuard no_gradients;
    network->named_parameters()["head.output.weight"].mul_(20);
    network->eval();
    return network;
}

/// The same as training and prediction know it.
inline std::shared_ptr<tasks::BinNetwork> small_base_bins(std::uint64_t seed,
                                                          const bins::BinsConfig& config = small_bins()) {
    return tasks::base_bins(small_bins_network(seed, config), {});
}

/// The logits of windows, (windows, window_bins, labels).
inline at::Tensor logits_of(const tasks::BinNetwork& network, const std::vector<std::string>& windows) {
    std::vector<tasks::EncodedWindow> encoded;
    for (const std::string& dna : windows)
        encoded.push_back(network.encode(dna));
    return network.logits(encoded);
}

/// What config.json says of it.
inline tasks::TaskInfo small_bins_info(const bins::BinsConfig& config = small_bins()) {
    tasks::TaskInfo info;
    info.architecture = tasks::bins_name;
    info.window = {-(config.window_bases() / 2), config.window_bases() - config.window_bases() / 2};
    info.network = bins::to_json(config);
    return info;
}

}  // namespace bigbird::testing
