// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/score/edited_windows.hpp"
#include "bigbird/task_models/score/letter_outputs.hpp"
#include "bigbird/task_models/score/mutagenesis_stretches.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/score/score_rows.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t letters = 4;
constexpr std::size_t substitutions_a_call = 256;
constexpr std::string_view alphabet = "ACGT";

/// A base of a row, from its first, becomes another.
struct Change {
    std::int64_t base = 0;
    std::uint8_t code = 0;
};

std::vector<Change> all_changes(std::string_view dna) {
    std::vector<Change> changes;
    for (std::size_t i = 0; i < dna.size(); ++i) {
        if (dna[i] == 'N') continue;
        for (std::uint8_t code = 0; code < letters; ++code)
            if (alphabet[code] != dna[i]) changes.push_back({static_cast<std::int64_t>(i), code});
    }
    return changes;
}

/// What one window tells of a row: weights of its bins sum to 1 over the row's windows.
struct WindowPart {
    std::int64_t begin = 0;  ///< of the window, on the contig
    std::vector<std::int64_t> bins;
    std::vector<double> weights;
};

/// Effects of every substitution of a row.
class Effects {
public:
    Effects(const EditedWindows& models, const genome::ReferenceGenome& reference,
            const MutagenesisSpec& spec)
        : models_(models), reference_(reference), grid_(models.grid()), spec_(spec) {}

    /// (bases, 4, labels) float32, 0 at the reference's letter, NaN where that is N.
    std::vector<float> of(const rows::RegionRow& row) const {
        const auto labels = static_cast<std::size_t>(models_.labels());
        std::vector<float> effects(row.sequence.size() * letters * labels,
                                   std::numeric_limits<float>::quiet_NaN());
        for (std::size_t i = 0; i < row.sequence.size(); ++i) {
            const std::size_t code = alphabet.find(row.sequence[i]);
            if (code < letters)
                std::fill_n(effects.begin() + static_cast<std::ptrdiff_t>((i * letters + code) * labels),
                            labels, 0.0F);
        }
        const LinkFunction link = models_.models().front().info.link();
        const auto put = [&](const Change& change, const double* ref, const double* alt) {
            float* const out =
                effects.data() + (static_cast<std::size_t>(change.base) * letters + change.code) * labels;
            for (std::size_t label = 0; label < labels; ++label) {
                out[label] =
                    static_cast<float>(spec_.quantity == Quantity::difference
                                           ? alt[label] - ref[label]
                                           : additive(alt[label], link) - additive(ref[label], link));
            }
        };
        const std::vector<Change> changes = all_changes(row.sequence);
        if (spec_.score == MutagenesisScore::own_bin) {
            own_bins(row, changes, put);
        } else {
            region(row, changes, put);
        }
        return effects;
    }

private:
    std::string window_at(const rows::RegionRow& row, std::int64_t begin) const {
        return reference_.fetch({row.window.contig, begin, begin + grid_.window_bases()});
    }
    std::int64_t begin_at(std::int64_t base) const {
        return grid_.begin_of(grid_.window_of(base / grid_.bin));
    }

    /// Each base in the bin that holds it.
    template <typename Put>
    void own_bins(const rows::RegionRow& row, const std::vector<Change>& changes, const Put& put) const {
        std::optional<EditedWindow> window;
        at::Tensor ref;  // (window_bins, labels)
        std::int64_t opened = 0;
        for (std::size_t next = 0; next < changes.size();) {
            stop_if_asked();
            const std::int64_t begin = begin_at(row.window.begin + changes[next].base);
            const std::size_t first = next;
            if (!window || begin != opened) {
                window.emplace(models_.open(window_at(row, begin)));
                ref = window->reference();
                opened = begin;
            }
            std::vector<bins::Substitution> each;
            std::vector<std::int64_t> bins;
            for (; next < changes.size() && each.size() < substitutions_a_call; ++next) {
                const std::int64_t base = row.window.begin + changes[next].base;
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

    std::vector<WindowPart> parts_of(const rows::RegionRow& row) const {
        std::map<std::int64_t, WindowPart> parts;
        for (const bins::BinShare& share : bins::shares_of(row.window.begin, row.window.end, grid_.bin)) {
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

    /// Each base in the mean of the bins that the row touches.
    template <typename Put>
    void region(const rows::RegionRow& row, const std::vector<Change>& changes, const Put& put) const {
        const std::vector<WindowPart> parts = parts_of(row);
        std::vector<EditedWindow> windows;
        std::vector<at::Tensor> refs;  // (labels), each window's part of the row's score
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
    /// Adds to alt, (changes, labels), a window's part of the row's score after each change. A base that the
    /// window does not see changes nothing there.
    void add_part(const rows::RegionRow& row, std::span<const Change> changes, const WindowPart& part,
                  const EditedWindow& window, const at::Tensor& ref, at::Tensor& alt) const {
        std::vector<bins::Substitution> each;
        std::vector<std::int64_t> seen;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            const std::int64_t at = row.window.begin + changes[i].base - part.begin;
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

    const EditedWindows& models_;
    const genome::ReferenceGenome& reference_;
    bins::Grid grid_;
    const MutagenesisSpec& spec_;
};

rows::Provenance provenance_of(const MutagenesisSpec& spec, const EditedWindows& models) {
    rows::Provenance provenance{{"bigbird-dna", std::string(version())}};
    for (const ModelFolder& model : models.models())
        provenance.emplace_back("model_sha256", model.sha256);
    provenance.emplace_back("effect", std::string(to_string(spec.quantity)));
    provenance.emplace_back("score", std::string(word_of(mutagenesis_score_choices, spec.score)));
    provenance.emplace_back("reverse_complement", word_of(strand_choices, spec.strands));
    return provenance;
}

/// (chosen labels, bases, 4) of effects, (bases, 4, labels).
std::vector<float> by_label(std::span<const float> effects, std::size_t labels,
                            std::span<const std::size_t> chosen) {
    std::vector<float> turned;
    for (const std::size_t label : chosen) {
        for (std::size_t i = label; i < effects.size(); i += labels)
            turned.push_back(effects[i]);
    }
    return turned;
}

/// A row for each stretch and a column for each label.
class StretchWriter {
public:
    StretchWriter(const MutagenesisSpec& spec, const EditedWindows& models,
                  const genome::ReferenceGenome& reference, int threads)
        : effects_(models, reference, spec),
          choice_(choose_labels(models.models().front().labels, spec.labels)),
          outputs_(spec.outputs, layout_of(spec, models), choice_.tracks, reference.contigs(), threads) {}

    void write(const rows::RegionRow& row) {
        effects_.of(row, [&](const genome::Interval& stretch, const std::vector<float>& effects) {
            rows::Row head = row.head;
            head.where = stretch;
            std::vector<float> chosen;
            for (const std::size_t label : effects.empty() ? std::vector<std::size_t>() : choice_.labels)
                chosen.push_back(effects[label]);
            outputs_.write(rows::fields_of(head), chosen);
        });
    }
    void commit() { outputs_.commit(); }

private:
    static outputs::Layout layout_of(const MutagenesisSpec& spec, const EditedWindows& models) {
        const rows::LabelTable& labels = models.models().front().labels;
        outputs::Layout layout{outputs::region_head(),
                               outputs::label_columns(labels, choose_labels(labels, spec.labels).labels),
                               provenance_of(spec, models)};
        const bool deletes = spec.deleted > 0;
        layout.provenance.emplace_back(deletes ? "deleted" : "shuffled",
                                       std::to_string(deletes ? spec.deleted : spec.shuffled));
        return layout;
    }

    StretchEffects effects_;
    LabelChoice choice_;
    outputs::Outputs outputs_;
};

EditedWindows open_models(const MutagenesisSpec& spec, const Job& job) {
    std::vector<ModelFolder> models;
    for (const fs::path& path : spec.models) {
        models.push_back(open_model(path, examples::Task::chromatin, job.device, job.computing));
        if (!models.back().bins()) {
            throw ConfigError(path.string() +
                              " is no bin model, and predict-mutagenesis takes no other; "
                              "predict-variants scores substitutions with it");
        }
    }
    return {std::move(models), spec.strands};
}

}  // namespace

MutagenesisReport predict_mutagenesis(const MutagenesisSpec& spec) {
    const auto start = std::chrono::steady_clock::now();
    spec.by_stretches() ? outputs::prepare_outputs(spec.outputs) : LetterOutputs::prepare(spec.outputs);
    require_readable(spec.regions);
    const auto reference = genome::open_references(spec.references);
    const Job job = open_job(spec);
    const EditedWindows models = open_models(spec, job);
    const TaskInfo& info = models.models().front().info;
    if (const auto warning = other_build(info, *reference)) log_warning("{}", *warning);
    const std::int64_t longest = models.grid().core_bins() * models.grid().bin;
    rows::RegionReader regions(
        spec.regions, *reference,
        {.anchor = rows::Anchor::itself, .skip_invalid = spec.skip_invalid, .tile = longest});
    const Effects effects(models, *reference, spec);
    const rows::LabelTable& labels = models.models().front().labels;
    const std::vector<std::size_t> chosen = choose_labels(labels, spec.labels).labels;
    std::optional<LetterOutputs> writer;
    std::optional<StretchWriter> stretches;
    if (spec.by_stretches()) {
        stretches.emplace(spec, models, *reference, job.threads);
    } else {
        writer.emplace(spec.outputs, labels, chosen, provenance_of(spec, models), LetterTrack::largest,
                       reference->contigs(), job.threads);
    }
    MutagenesisReport report;
    Progress progress("Scoring", "bases", 0);
    while (auto row = regions.next()) {
        regions.fill(*row);
        report.tiled += row->last_of_line ? 0 : 1;
        if (row->sequence.empty()) continue;
        if (stretches) {
            stretches->write(*row);
        } else {
            writer->write(row->head, row->sequence, by_label(effects.of(*row), labels.size(), chosen));
        }
        report.bases += std::ssize(row->sequence);
        report.without_letter += std::ranges::count(row->sequence, 'N');
        progress.update(report.bases);
    }
    progress.finish();
    stretches ? stretches->commit() : writer->commit();
    regions.report();
    if (report.tiled > 0 && spec.score == MutagenesisScore::region) {
        log_warning(
            "regions longer than {} bases, the scored part of a window, were cut into tiles of that "
            "length, each with a score of its own ({} cuts)",
            longest, report.tiled);
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace bigbird::task_models
