// SPDX-License-Identifier: Apache-2.0
// A folder of labelled examples, read whole.
#include "bigbird/examples/examples.hpp"

#include "fuzz/fuzz_target.hpp"

#include "bigbird/examples/labelled_bins.hpp"

#include <algorithm>

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::Scratch& scratch = fuzz::scratch();
    scratch.write_files(fuzz::text_of(data, size), {"manifest.json", "labels.tsv", "sequences.bed",
                                                    "labels.npy", "sequences.2bit", "bins.bed", "bins.npy"});
    fuzz::expect_answer([&] {
        const auto set = examples::ExampleSet::load(scratch.folder());
        const std::int64_t rows = std::min<std::int64_t>(set.size(), 50);
        for (std::int64_t row = 0; row < rows; ++row) {
            static_cast<void>(set.row(row));
            static_cast<void>(set.labels(row));
            static_cast<void>(set.sequence(row));
        }
    });
    return fuzz::expect_answer([&] {
        const auto bins = examples::LabelledBins::load(scratch.folder());
        std::vector<std::uint8_t> labels(bins.label_table().size());
        for (const examples::BinStretch& stretch : bins.stretches()) {
            bins.copy_labels(stretch.row, labels);
            bins.copy_labels(stretch.row + stretch.count - 1, labels);
            const std::int64_t begin = stretch.first * bins.bin_size();
            static_cast<void>(bins.sequence(stretch.contig, begin - 5, begin + 1000));
        }
    });
}
