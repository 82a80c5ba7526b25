// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/placement.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>

namespace bigbird::tasks {

namespace {

/// The window with a base in its core.
std::int64_t window_at(const bins::Grid& grid, std::int64_t base) {
    return grid.window_of(std::max<std::int64_t>(0, base) / grid.bin);
}

bool same_labels(const rows::LabelTable& a, const rows::LabelTable& b) {
    bool same = a.size() == b.size();
    for (std::size_t label = 0; same && label < a.size(); ++label)
        same = a[label].name == b[label].name && a[label].group == b[label].group;
    return same;
}

void require_agreement(std::span<const ModelFolder> models) {
    if (models.empty()) throw ConfigError("--model is needed");
    const ModelFolder& first = models.front();
    const auto bins = first.bins();
    for (std::size_t i = 1; i < models.size(); ++i) {
        const std::string which = "--model number " + std::to_string(i + 1);
        const auto other = models[i].bins();
        if (!bins != !other)
            throw ConfigError(which +
                              (bins ? " scores one window a row, another model bins"
                                    : " scores bins, another model one window a row") +
                              ": they cannot be averaged");
        if (bins && other->grid().bin != bins->grid().bin) {
            throw ConfigError(which + " has bins of " + std::to_string(other->grid().bin) +
                              " bases, the first one of " + std::to_string(bins->grid().bin) +
                              ": models that are averaged must agree");
        }
        if (models[i].info.task != first.info.task || models[i].info.window != first.info.window) {
            throw ConfigError(which + " takes the window " + to_string(models[i].info.window) +
                              ", the first one " + to_string(first.info.window) +
                              ": models that are averaged must agree");
        }
        if (!same_labels(models[i].labels, first.labels)) {
            throw ConfigError(which +
                              " has other labels than the first: models that are averaged must agree");
        }
    }
}

}  // namespace

std::string cut_out(const std::string& record, const genome::Interval& where) {
    std::string window(static_cast<std::size_t>(where.size()), 'N');
    const std::int64_t first = std::max<std::int64_t>(where.begin, 0),
                       last = std::min(where.end, std::ssize(record));
    if (first < last)
        std::copy(record.begin() + first, record.begin() + last, window.begin() + (first - where.begin));
    return window;
}

SequenceOf sequence_of_record(std::string dna) {
    return [dna = std::move(dna)](const genome::Interval& where) { return cut_out(dna, where); };
}

at::Tensor RowPart::weights_of_all(std::int64_t count) const {
    const at::Tensor all = at::zeros({count, 1});
    for (std::size_t i = 0; i < segments.size(); ++i)
        all[segments[i]][0] = weights[i];
    return all;
}

bool begin_in_one_window(const bins::Grid& grid, const genome::Interval& a, const genome::Interval& b) {
    return a.contig == b.contig && window_at(grid, a.begin) == window_at(grid, b.begin);
}

std::int64_t count_new_windows(const bins::Grid& grid, const genome::Interval* before,
                               const genome::Interval& where) {
    const auto last_of = [&](const genome::Interval& of) {
        return window_at(grid, std::max(of.begin, of.end - 1));
    };
    std::int64_t first = window_at(grid, where.begin);
    if (before != nullptr && before->contig == where.contig && window_at(grid, before->begin) <= first)
        first = std::max(first, last_of(*before) + 1);
    return std::max<std::int64_t>(0, last_of(where) - first + 1);
}

std::vector<bool> directions_of(Strands strands) {
    std::vector<bool> directions;
    if (strands != Strands::only) directions.push_back(false);
    if (strands != Strands::none) directions.push_back(true);
    return directions;
}

Placement::Placement(std::span<const ModelFolder> models, bool by_records) : by_records_(by_records) {
    require_agreement(models);
    const TaskInfo& info = models.front().info;
    bounds_ = info.window;
    promoters_ = info.traits().about_tss;
    of_records_ = info.traits().has_records;
    by_bases_ = info.traits().labels_bases;
    about_tss_ = promoters_ && !by_records;
    whole_records_ = of_records_ && std::ranges::all_of(models, [](const ModelFolder& model) {
                         return model.network->any_length();
                     });
    if (const auto bins = models.front().bins()) grid_ = bins->grid();
    if (by_bases_) grid_ = info.base_grid();
}

void Placement::require_one_grid(std::span<const ModelFolder> models) const {
    for (const ModelFolder& model : models)
        if (by_bins() && model.bins()->grid() != *grid_)
            throw ConfigError("models that are averaged must have equal bins and windows");
}

rows::RegionOptions Placement::region_options(rows::Anchor anchor) const {
    if (!grid_) {
        return {.anchor = promoters_ ? rows::Anchor::tss : anchor,
                .bounds = bounds_,
                .use_strand = promoters_,
                .tile_both_strands = promoters_};
    }
    // A row's window is the row itself or, for summits, the bases of one bin around the summit.
    const std::int64_t bin = grid_->bin;
    return {.anchor = anchor == rows::Anchor::summit ? anchor : rows::Anchor::itself,
            .bounds = {-(bin / 2), bin - bin / 2},
            .bin = bin,
            .clip = true};
}

RecordFit Placement::record_fit() const {
    if (grid_) return {.shortest = grid_->bin};
    return {.window = whole_records_ ? 0 : bounds_.size()};
}

std::int64_t Placement::longest() const {
    if (grid_) return grid_->core_bins() * grid_->bin;
    return by_records_ ? 0 : bounds_.size();
}

std::vector<RowPart> Placement::parts(const genome::Interval& where, genome::Strand strand) const {
    if (whole_records_) return {{where, {0}, {1}}};
    if (!grid_) {
        genome::BedRecord record;
        record.where = where;
        record.strand = strand;
        const auto anchor = about_tss_ ? rows::Anchor::tss : rows::Anchor::centre;
        return {{rows::window_of(record, anchor, bounds_), {0}, {1}}};
    }
    std::vector<RowPart> parts;
    for (const bins::BinShare& share : bins::shares_of(where.begin, where.end, grid_->bin)) {
        const std::int64_t begin = grid_->begin_of(grid_->window_of(share.bin));
        if (parts.empty() || parts.back().window.begin != begin)
            parts.push_back({{where.contig, begin, begin + grid_->window_bases()}, {}, {}});
        parts.back().segments.push_back(grid_->place_of(share.bin));
        parts.back().weights.push_back(share.weight);
    }
    return parts;
}

std::int64_t Placement::new_windows(const rows::RegionRow* before, const rows::RegionRow& row) const {
    if (!rows::is_scored(row.head.status)) return 0;
    return grid_ ? count_new_windows(*grid_, before != nullptr ? &before->window : nullptr, row.window) : 1;
}

}  // namespace bigbird::tasks
