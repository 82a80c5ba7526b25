// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/mutagenesis.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace bigbird::task_models {

std::vector<Change> all_changes(std::string_view dna) {
    std::vector<Change> changes;
    for (std::size_t i = 0; i < dna.size(); ++i) {
        if (dna[i] == 'N') continue;
        for (std::uint8_t code = 0; code < letters_of_changes.size(); ++code)
            if (letters_of_changes[code] != dna[i]) changes.push_back({static_cast<std::int64_t>(i), code});
    }
    return changes;
}

std::vector<float> no_effects(std::string_view dna, std::size_t labels) {
    std::vector<float> effects;
    for (const char letter : dna)
        effects.insert(effects.end(), letters_of_changes.size() * labels,
                       letter == 'N' ? std::numeric_limits<float>::quiet_NaN() : 0.0F);
    return effects;
}

float effect_of(double ref, double alt, Quantity quantity, LinkFunction link) {
    return static_cast<float>(quantity == Quantity::difference ? alt - ref
                                                               : additive(alt, link) - additive(ref, link));
}

std::string with_stretch(const MutatedRow& row, const genome::Interval& window, std::int64_t at,
                         const MutagenesisSpec& spec, bool ends) {
    const auto& [contig, begin, end] = window;
    if (spec.deleted > 0) {
        const std::int64_t cut = std::clamp(at, begin, end);
        return row.sequence_of({contig, begin, cut}) +
               row.sequence_of({contig, cut + spec.deleted, ends ? end : end + spec.deleted});
    }
    const std::int64_t size = spec.shuffled;
    Rng rng = Rng(0).split("stretch-shuffles").split(contig).split(static_cast<std::uint64_t>(at));
    const std::string other = genome::dinucleotide_shuffle(row.sequence_of({contig, at, at + size}), rng);
    std::string dna = row.sequence_of(window);
    const std::int64_t first = std::max(at, begin), last = std::min(at + size, end);
    if (first < last) {
        dna.replace(static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - first), other,
                    static_cast<std::size_t>(first - at), static_cast<std::size_t>(last - first));
    }
    return dna;
}

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

namespace {

constexpr std::int64_t bases_a_call = std::int64_t{1} << 22, most_a_call = 1024;

class WindowEffects : public MutationEffects {
public:
    WindowEffects(Predictor models, const MutagenesisSpec& spec, int threads)
        : models_(std::move(models)),
          spec_(spec),
          threads_(threads),
          windows_(models_.models(), !spec.by_records()) {}
    std::span<const ModelFolder> models() const override { return models_.models(); }
    std::int64_t longest() const override { return spec_.by_records() ? 0 : models_.info().window.size(); }

    std::vector<float> substitutions(const MutatedRow& row) override {
        std::vector<float> effects = no_effects(row.dna, labels());
        const genome::Interval window = windows_.of(row.where, row.head.strand);
        const std::string dna = row.sequence_of(window);
        std::vector<Change> changes = all_changes(row.dna);
        std::erase_if(changes, [&](const Change& change) {
            const std::int64_t at = row.where.begin + change.base;
            return at < window.begin || at >= window.end;
        });
        const auto text_of = [&](std::size_t i) {
            std::string text = dna;
            text[static_cast<std::size_t>(row.where.begin + changes[i].base - window.begin)] =
                letters_of_changes[changes[i].code];
            return text;
        };
        score_each(row, changes.size(), window.size(), text_of, [&](std::size_t i, std::vector<float> own) {
            const std::size_t at = static_cast<std::size_t>(changes[i].base) * letters + changes[i].code;
            std::ranges::copy(own, effects.begin() + static_cast<std::ptrdiff_t>(at * labels()));
        });
        return effects;
    }

    void stretches(const MutatedRow& row, const PutStretch& put) override {
        const std::int64_t size = std::max(spec_.deleted, spec_.shuffled);
        const genome::Interval window = windows_.of(row.where, row.head.strand);
        const auto text_of = [&](std::size_t i) {
            return with_stretch(row, window, row.where.begin + static_cast<std::int64_t>(i), spec_,
                                windows_.whole_records);
        };
        const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, row.where.size() - size + 1));
        score_each(row, count, window.size(), text_of, [&](std::size_t i, std::vector<float> effects) {
            const std::int64_t first = row.head.where.begin + static_cast<std::int64_t>(i);
            const bool nothing =
                row.dna.substr(i, static_cast<std::size_t>(size)).find_first_not_of('N') == std::string::npos;
            if (nothing) effects.clear();
            put({row.head.where.contig, first, first + size}, std::move(effects));
        });
    }

private:
    std::size_t labels() const { return models_.labels().size(); }

    /// Calls `put` in order with the effects of each of the `count` edited versions of the row's window.
    template <typename TextOf, typename Put>
    void score_each(const MutatedRow& row, std::size_t count, std::int64_t bases, const TextOf& text_of,
                    const Put& put) {
        const bool reverse = windows_.reverse(row.head.strand);
        const auto oriented = [&](std::string text) {
            return reverse ? genome::reverse_complement(text) : text;
        };
        const auto scores = [&](const std::vector<std::string>& texts) {
            return models_.score(models_.encode(texts, threads_));
        };
        const std::vector<double> ref =
            scores({oriented(row.sequence_of(windows_.of(row.where, row.head.strand)))});
        const auto most =
            static_cast<std::size_t>(std::clamp(bases_a_call / bases, std::int64_t{1}, most_a_call));
        for (std::size_t first = 0; first < count; first += most) {
            stop_if_asked();
            std::vector<std::string> texts;
            for (std::size_t i = first; i < std::min(first + most, count); ++i)
                texts.push_back(oriented(text_of(i)));
            const std::vector<double> alt = scores(texts);
            for (std::size_t i = 0; i < texts.size(); ++i) {
                std::vector<float> effects;
                for (std::size_t label = 0; label < labels(); ++label)
                    effects.push_back(effect_of(ref[label], alt[i * labels() + label], spec_.quantity,
                                                models_.info().link()));
                put(first + i, std::move(effects));
            }
        }
    }

    Predictor models_;
    const MutagenesisSpec& spec_;
    int threads_;
    RowWindows windows_;
};

}  // namespace

std::unique_ptr<MutationEffects> window_effects(Predictor models, const MutagenesisSpec& spec, int threads) {
    return std::make_unique<WindowEffects>(std::move(models), spec, threads);
}

}  // namespace bigbird::task_models
