// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/bin_sample.hpp"

#include "bigbird/bins/network.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

using Rows = std::vector<std::int64_t>;

/// A uniform random sample of at most `most` of the offered items (algorithm R).
class Reservoir {
public:
    Reservoir(std::int64_t most, Rng rng) : most_(most), rng_(rng) {}
    void offer(std::int64_t item) {
        if (std::ssize(kept_) < most_)
            kept_.push_back(item);
        else if (const std::int64_t place = rng_.between(0, offered_); place < most_)
            kept_[static_cast<std::size_t>(place)] = item;
        ++offered_;
    }
    const Rows& kept() const { return kept_; }

private:
    std::int64_t most_, offered_ = 0;
    Rng rng_;
    Rows kept_;
};

Rows background_rows(const BinWindows& windows, std::int64_t most, const Rng& rng) {
    Reservoir chosen(most, rng.split("background"));
    windows.for_each_row([&](std::int64_t row) { chosen.offer(row); });
    Rows rows = chosen.kept();
    std::ranges::sort(rows);
    return rows;
}

/// For each label up to `most` of its bins, minus its bins in the background.
std::vector<Rows> rows_of_labels(const BinWindows& windows, const Rows& background,
                                 const bins::LabelledSequence& sample, std::int64_t most, const Rng& rng) {
    std::vector<Reservoir> chosen;
    for (const std::vector<std::int32_t>& with : sample.with)
        chosen.emplace_back(std::max<std::int64_t>(0, most - std::ssize(with)),
                            rng.split("label").split(chosen.size()));
    auto next = background.begin();
    windows.for_each_row([&](std::int64_t row) {
        if (next != background.end() && *next == row)
            ++next;
        else
            windows.bins().for_each_label(row, [&](std::size_t label) { chosen[label].offer(row); });
    });
    std::vector<Rows> rows;
    for (const Reservoir& some : chosen)
        rows.push_back(some.kept());
    return rows;
}

void append_codes(const BinWindows& windows, const Rows& rows, bins::LabelledSequence& sample) {
    sample.codes.reserve(sample.codes.size() + rows.size() * static_cast<std::size_t>(sample.length));
    for (const std::int64_t row : rows) {
        const at::Tensor codes = bins::codes_of(windows.sequence_of(row));
        const auto* const first = codes.const_data_ptr<std::uint8_t>();
        sample.codes.insert(sample.codes.end(), first, first + codes.numel());
    }
}

/// Appends every bin that was chosen for a label, once, after the background.
void append_bins_of_labels(const BinWindows& windows, const std::vector<Rows>& of_labels,
                           bins::LabelledSequence& sample) {
    Rows added;
    for (const Rows& rows : of_labels)
        added.insert(added.end(), rows.begin(), rows.end());
    std::ranges::sort(added);
    added.erase(std::ranges::unique(added).begin(), added.end());
    for (std::size_t label = 0; label < of_labels.size(); ++label) {
        std::vector<std::int32_t>& with = sample.with[label];
        for (const std::int64_t row : of_labels[label]) {
            const auto place = std::ranges::lower_bound(added, row) - added.begin();
            with.push_back(static_cast<std::int32_t>(sample.background + place));
        }
        std::ranges::sort(with);
    }
    append_codes(windows, added, sample);
}

}  // namespace

bins::LabelledSequence sample_of(const BinWindows& windows, const SampleSize& size, const Rng& rng) {
    const Rows background = background_rows(windows, size.background, rng);
    bins::LabelledSequence sample{.length = windows.bins().bin_size(), .background = std::ssize(background)};
    sample.with.resize(windows.bins().label_table().size());
    for (std::size_t i = 0; i < background.size(); ++i) {
        windows.bins().for_each_label(
            background[i],
            [&](std::size_t label) { sample.with[label].push_back(static_cast<std::int32_t>(i)); });
    }
    append_codes(windows, background, sample);
    if (sample.background == windows.usable()) return sample;
    const std::int64_t most =
        std::min(size.of_label, size.of_labels / std::max<std::int64_t>(sample.labels(), 1));
    append_bins_of_labels(windows, rows_of_labels(windows, background, sample, most, rng), sample);
    return sample;
}

}  // namespace bigbird::task_models
