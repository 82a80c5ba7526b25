// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/grid_rows.hpp"

#include "bigbird/core/interrupt.hpp"

#include <algorithm>
#include <map>

namespace bigbird::task_models {

namespace {

constexpr std::size_t windows_kept = 4;

/// The window with a base in its core.
std::int64_t window_at(const bins::Grid& grid, std::int64_t base) {
    return grid.window_of(std::max<std::int64_t>(0, base) / grid.bin);
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

std::size_t windows_at_once(const BinNetwork& network, std::int64_t batch_tokens) {
    if (network.device().is_cpu()) return 1;
    return static_cast<std::size_t>(network.windows_at_once(batch_tokens));
}

GridRows::GridRows(const bins::Grid& grid, const SequenceOf& sequence_of, std::size_t at_once, Values values)
    : grid_(grid), sequence_of_(sequence_of), at_once_(at_once), values_(std::move(values)) {}

void GridRows::add(std::span<const GridRow> rows, std::int64_t width, std::span<double> sums,
                   const std::function<void(double)>& after_window) {
    const Plan plan = plan_of(rows);
    const auto columns = static_cast<std::size_t>(width);
    for (std::size_t next = 0; next < plan.size();) {
        stop_if_asked();
        for (const at::Tensor& window : read(plan, next)) {
            const auto* const values = window.const_data_ptr<float>();  // (window_bins, width)
            for (const Share& share : plan[next].second) {
                const float* const bin = values + static_cast<std::size_t>(share.bin) * columns;
                const std::span<double> sum = sums.subspan(share.row * columns, columns);
                for (std::size_t i = 0; i < columns; ++i)
                    sum[i] += share.weight * static_cast<double>(bin[i]);
            }
            ++next;
            if (after_window) after_window(static_cast<double>(next) / static_cast<double>(plan.size()));
        }
    }
}

GridRows::Plan GridRows::plan_of(std::span<const GridRow> rows) const {
    std::map<Place, std::vector<Share>> plan;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const genome::Interval& where = rows[i].where;
        if (!rows[i].wanted) continue;
        for (const bins::BinShare& share : bins::shares_of(where.begin, where.end, grid_.bin)) {
            plan[{where.contig, grid_.window_of(share.bin)}].push_back(
                {i, grid_.place_of(share.bin), share.weight});
        }
    }
    return {plan.begin(), plan.end()};
}

const at::Tensor* GridRows::find(const Place& place) const {
    const auto found = std::ranges::find_if(kept_, [&](const auto& entry) { return entry.first == place; });
    return found == kept_.end() ? nullptr : &found->second;
}

std::vector<at::Tensor> GridRows::read(const Plan& plan, std::size_t first) {
    if (const at::Tensor* kept = find(plan[first].first)) return {*kept};
    std::vector<std::string> windows;
    for (std::size_t i = first; i < plan.size() && windows.size() < at_once_ && !find(plan[i].first); ++i) {
        const Place& place = plan[i].first;
        const std::int64_t begin = grid_.begin_of(place.number);
        windows.push_back(sequence_of_({place.contig, begin, begin + grid_.window_bases()}));
    }
    const at::Tensor values = values_(windows).contiguous();
    std::vector<at::Tensor> each;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        each.push_back(values[static_cast<std::int64_t>(i)]);
        kept_.emplace_back(plan[first + i].first, each.back());
        if (kept_.size() > windows_kept) kept_.pop_front();
    }
    return each;
}

}  // namespace bigbird::task_models
