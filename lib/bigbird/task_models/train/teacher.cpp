// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/teacher.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>

namespace bigbird::task_models {

using examples::Split;

namespace {

/// Which bins are rows of train. Both are in the order of the reference.
RankedBits rows_of_train(const examples::ExampleSet& examples, const examples::LabelledBins& bins) {
    const std::vector<std::int64_t> train = examples.rows(Split::train);
    auto next = train.begin();
    RankedBits are;
    for (const examples::BinStretch& stretch : bins.stretches()) {
        for (std::int64_t bin = stretch.first; bin < stretch.first + stretch.count; ++bin) {
            const bool is =
                stretch.split == Split::train && next != train.end() &&
                examples.row(*next).where ==
                    genome::Interval{stretch.contig, bin * bins.bin_size(), (bin + 1) * bins.bin_size()};
            are.push_back(is);
            if (is) ++next;
        }
    }
    if (next != train.end()) throw InputError("--examples: train.bed has rows that are no bins of bins.bed");
    return are;
}

}  // namespace

Teacher::Teacher(const std::filesystem::path& path, const examples::ExampleSet& examples,
                 const examples::LabelledBins& bins)
    : rows_(rows_of_train(examples, bins)), scores_(path, rows_.ones(), bins.label_table().size()) {
    for (std::int64_t row = 0; row < rows_.ones(); ++row)
        if (std::ranges::any_of(scores_.row(row), [](float score) { return score < 0 || score > 1; }))
            throw InputError("holds a number that is no probability", path);
}

std::span<const float> Teacher::scores(std::int64_t row) const {
    if (!rows_[row]) return {};
    return scores_.row(rows_.ones_before(row));
}

}  // namespace bigbird::task_models
