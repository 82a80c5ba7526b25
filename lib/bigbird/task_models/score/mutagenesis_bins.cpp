// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"
#include "bigbird/task_models/score/mutagenesis.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace bigbird::task_models {

namespace {

constexpr std::size_t letters = letters_of_changes.size();
constexpr std::size_t substitutions_a_call = 256;

/// The bins of one window that belong to a row. Weights sum to 1 over all of the row's windows.
struct WindowPart {
    std::int64_t begin = 0;  ///< first base of the window on the contig
    std::vector<std::int64_t> bins;
    std::vector<double> weights;
};

/// A window to score, and its scores before changes.
struct Opened {
    EditedWindow window;
    at::Tensor reference;  // (window_bins, labels)
};

class BinEffects : public MutationEffects {
public:
    BinEffects(EditedWindows models, const MutagenesisSpec& spec)
        : models_(std::move(models)), grid_(models_.grid()), spec_(spec) {}
    std::span<const ModelFolder> models() const override { return models_.models(); }
    std::int64_t longest() const override { return grid_.core_bins() * grid_.bin; }

    std::vector<float> substitutions(const MutatedRow& row) override {
        const auto labels = static_cast<std::size_t>(models_.labels());
        std::vector<float> effects = no_effects(row.dna, labels);
        const LinkFunction link = models_.models().front().info.link();
        const auto put = [&](const Change& change, const double* ref, const double* alt) {
            float* const out =
                effects.data() + (static_cast<std::size_t>(change.base) * letters + change.code) * labels;
            for (std::size_t label = 0; label < labels; ++label)
                out[label] = effect_of(ref[label], alt[label], spec_.quantity, link);
        };
        const std::vector<Change> changes = all_changes(row.dna);
        if (spec_.score == MutagenesisScore::own_bin)
            own_bins(row, changes, put);
        else
            region(row, changes, put);
        return effects;
    }
    void stretches(const MutatedRow& row, const PutStretch& put) override {
        const std::int64_t size = std::max(spec_.deleted, spec_.shuffled);
        std::map<std::int64_t, Opened> windows;  // the keys are the windows' first bases
        for (std::int64_t at = row.where.begin; at + size <= row.where.end; ++at) {
            stop_if_asked();
            const std::int64_t first = row.head.where.begin + at - row.where.begin;
            const genome::Interval stretch{row.head.where.contig, first, first + size};
            const auto own = row.dna.substr(static_cast<std::size_t>(at - row.where.begin),
                                            static_cast<std::size_t>(size));
            if (own.find_first_not_of('N') == std::string::npos) {
                put(stretch, {});
            } else {
                if (spec_.score == MutagenesisScore::own_bin && windows.size() > 2) windows.clear();
                put(stretch, of_stretch(row, at, windows));
            }
        }
    }

private:
    std::string window_at(const MutatedRow& row, std::int64_t begin) const {
        return row.sequence_of({row.where.contig, begin, begin + grid_.window_bases()});
    }
    std::int64_t begin_at(std::int64_t base) const {
        return grid_.begin_of(grid_.window_of(base / grid_.bin));
    }

    /// Scores each substitution by the bin that contains the base.
    template <typename Put>
    void own_bins(const MutatedRow& row, const std::vector<Change>& changes, const Put& put) const {
        std::optional<EditedWindow> window;
        at::Tensor ref;  // (window_bins, labels)
        std::int64_t opened = 0;
        for (std::size_t next = 0; next < changes.size();) {
            stop_if_asked();
            const std::int64_t begin = begin_at(row.where.begin + changes[next].base);
            const std::size_t first = next;
            if (!window || begin != opened) {
                window.emplace(models_.open(window_at(row, begin)));
                ref = window->reference();
                opened = begin;
            }
            std::vector<bins::Substitution> each;
            std::vector<std::int64_t> bins;
            for (; next < changes.size() && each.size() < substitutions_a_call; ++next) {
                const std::int64_t base = row.where.begin + changes[next].base;
                if (begin_at(base) != begin) break;
                each.push_back({base - begin, changes[next].code});
                bins.push_back((base - begin) / grid_.bin);
            }
            const at::Tensor alt = window->substituted(each, at::tensor(bins, at::kLong).unsqueeze(1));
            for (std::size_t i = 0; i < each.size(); ++i) {
                put(changes[first + i], ref.const_data_ptr<double>() + bins[i] * models_.labels(),
                    alt.const_data_ptr<double>() + static_cast<std::int64_t>(i) * models_.labels());
            }
        }
    }

    std::vector<WindowPart> parts_of(const MutatedRow& row) const {
        std::map<std::int64_t, WindowPart> parts;
        for (const bins::BinShare& share : bins::shares_of(row.where.begin, row.where.end, grid_.bin)) {
            const std::int64_t begin = grid_.begin_of(grid_.window_of(share.bin));
            WindowPart& part = parts[begin];
            part.begin = begin;
            part.bins.push_back(grid_.place_of(share.bin));
            part.weights.push_back(share.weight);
        }
        std::vector<WindowPart> all;
        for (auto& [begin, part] : parts)
            all.push_back(std::move(part));
        return all;
    }

    /// Scores each substitution by the mean of the bins that the row overlaps.
    template <typename Put>
    void region(const MutatedRow& row, const std::vector<Change>& changes, const Put& put) const {
        const std::vector<WindowPart> parts = parts_of(row);
        std::vector<EditedWindow> windows;
        std::vector<at::Tensor> refs;  // (labels) per window: its part of the row's score
        at::Tensor ref = at::zeros({models_.labels()}, at::kDouble);
        for (const WindowPart& part : parts) {
            windows.push_back(models_.open(window_at(row, part.begin)));
            const at::Tensor weights = at::tensor(part.weights, at::kDouble).unsqueeze(1);
            refs.push_back(
                (windows.back().reference().index_select(0, at::tensor(part.bins, at::kLong)) * weights)
                    .sum(0));
            ref += refs.back();
        }
        for (std::size_t first = 0; first < changes.size(); first += substitutions_a_call) {
            stop_if_asked();
            const auto some =
                std::span(changes).subspan(first, std::min(substitutions_a_call, changes.size() - first));
            at::Tensor alt = at::zeros({std::ssize(some), models_.labels()}, at::kDouble);
            for (std::size_t i = 0; i < parts.size(); ++i)
                add_part(row, some, parts[i], windows[i], refs[i], alt);
            for (std::size_t i = 0; i < some.size(); ++i) {
                put(some[i], ref.const_data_ptr<double>(),
                    alt.const_data_ptr<double>() + static_cast<std::int64_t>(i) * models_.labels());
            }
        }
    }
    /// Adds to `alt`, (changes, labels), this window's part of the row's score after each change. A change
    /// outside the window does not affect that part.
    void add_part(const MutatedRow& row, std::span<const Change> changes, const WindowPart& part,
                  const EditedWindow& window, const at::Tensor& ref, at::Tensor& alt) const {
        std::vector<bins::Substitution> each;
        std::vector<std::int64_t> seen;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            const std::int64_t at = row.where.begin + changes[i].base - part.begin;
            if (at < 0 || at >= grid_.window_bases()) {
                alt[static_cast<std::int64_t>(i)] += ref;
                continue;
            }
            each.push_back({at, changes[i].code});
            seen.push_back(static_cast<std::int64_t>(i));
        }
        if (each.empty()) return;
        const at::Tensor bins = at::tensor(part.bins, at::kLong).expand({std::ssize(each), -1});
        const at::Tensor weights = at::tensor(part.weights, at::kDouble).view({1, -1, 1});
        alt.index_add_(0, at::tensor(seen, at::kLong), (window.substituted(each, bins) * weights).sum(1));
    }

    std::vector<float> of_stretch(const MutatedRow& row, std::int64_t at,
                                  std::map<std::int64_t, Opened>& windows) const {
        const bool whole = spec_.score == MutagenesisScore::region;
        at::Tensor ref = at::zeros({models_.labels()}, at::kDouble), alt = at::zeros_like(ref), edited_bins;
        std::int64_t edited_begin = -1;
        for (const bins::BinShare& share :
             bins::shares_of(whole ? row.where.begin : at, whole ? row.where.end : at + 1, grid_.bin)) {
            const std::int64_t begin = grid_.begin_of(grid_.window_of(share.bin));
            auto found = windows.find(begin);
            if (found == windows.end()) {
                EditedWindow window = models_.open(window_at(row, begin));
                at::Tensor reference = window.reference();
                found = windows.emplace(begin, Opened{std::move(window), std::move(reference)}).first;
            }
            if (!edited_bins.defined() || begin != edited_begin) {
                edited_bins = found->second.window.edited(
                    with_stretch(row, {row.where.contig, begin, begin + grid_.window_bases()}, at, spec_));
            }
            edited_begin = begin;
            const std::int64_t bin = grid_.place_of(share.bin);
            ref += found->second.reference[bin] * share.weight;
            alt += edited_bins[bin] * share.weight;
        }
        std::vector<float> effects;
        const LinkFunction link = models_.models().front().info.link();
        for (std::int64_t label = 0; label < models_.labels(); ++label)
            effects.push_back(effect_of(ref.const_data_ptr<double>()[label],
                                        alt.const_data_ptr<double>()[label], spec_.quantity, link));
        return effects;
    }

    EditedWindows models_;
    bins::Grid grid_;
    const MutagenesisSpec& spec_;
};

}  // namespace

std::unique_ptr<MutationEffects> bin_effects(EditedWindows models, const MutagenesisSpec& spec) {
    return std::make_unique<BinEffects>(std::move(models), spec);
}

}  // namespace bigbird::task_models
