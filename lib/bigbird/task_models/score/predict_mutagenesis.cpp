// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/task_models/score/letter_rows.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/score/score_rows.hpp"
#include "bigbird/task_models/score/scorers.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::task_models {

namespace {

constexpr std::size_t letters = dna_letters.size();
constexpr std::size_t substitutions_a_call = 256;
constexpr std::int64_t bases_a_call = std::int64_t{1} << 22, most_a_call = 1024;

/// The substitution of one base; `base` counts from the row's first.
struct Change {
    std::int64_t base = 0;
    std::uint8_t code = 0;  ///< index into dna_letters
};

/// All substitutions of a row, except where it has N.
std::vector<Change> all_changes(std::string_view dna) {
    std::vector<Change> changes;
    for (std::size_t i = 0; i < dna.size(); ++i) {
        if (dna[i] == 'N') continue;
        for (std::uint8_t code = 0; code < dna_letters.size(); ++code)
            if (dna_letters[code] != dna[i]) changes.push_back({static_cast<std::int64_t>(i), code});
    }
    return changes;
}

/// The letters of `window` after the stretch of `spec` at `at` is deleted or shuffled. After a deletion, the
/// following sequence moves to the left, as on an edited contig. `ends`: the window is a record, which gets
/// shorter instead of being filled up.
std::string with_stretch(const LetterRow& row, const genome::Interval& window, std::int64_t at,
                         const MutagenesisSpec& spec, bool ends = false) {
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

/// Computes the effects of changes in a row. Not thread-safe.
class MutationEffects {
public:
    using PutStretch =
        std::function<void(const genome::Interval& stretch, const std::vector<float>& effects)>;

    explicit MutationEffects(const MutagenesisSpec& spec) : spec_(spec) {}
    virtual ~MutationEffects() = default;
    /// At least one model; all have the same labels.
    virtual std::span<const ModelFolder> models() const = 0;
    /// Maximum length in bases of a row with one score; 0 means unlimited.
    virtual std::int64_t longest() const = 0;
    /// Effects of every substitution on the chosen labels: (chosen, bases, 4) float32. They are 0 for the
    /// row's own letter, NaN where that is N, and 0 where the model does not read the base.
    std::vector<float> substitutions(const LetterRow& row, std::span<const std::size_t> chosen) {
        std::vector<float> effects;
        for (std::size_t i = 0; i < chosen.size(); ++i)
            for (const char letter : row.dna)
                effects.insert(effects.end(), letters,
                               letter == 'N' ? std::numeric_limits<float>::quiet_NaN() : 0.0F);
        substitute(
            row, all_changes(row.dna), [&](const Change& change, const double* ref, const double* alt) {
                const std::vector<float> own = effects_of(ref, alt);
                for (std::size_t i = 0; i < chosen.size(); ++i) {
                    const std::size_t base = i * row.dna.size() + static_cast<std::size_t>(change.base);
                    effects[base * letters + change.code] = own[chosen[i]];
                }
            });
        return effects;
    }
    /// Calls `put` with the stretch that begins at each base, and with the effects by label of deleting or
    /// shuffling it. The effects are empty for a stretch of only N. A row shorter than a stretch has no
    /// calls.
    virtual void stretches(const LetterRow& row, const PutStretch& put) = 0;

protected:
    /// Gets a change, and the (labels) scores before and after it.
    using PutChange = std::function<void(const Change& change, const double* ref, const double* alt)>;
    /// Calls `put` for every change that the model sees.
    virtual void substitute(const LetterRow& row, std::vector<Change> changes, const PutChange& put) = 0;

    std::size_t labels() const { return models().front().labels.size(); }
    /// Effects by label, from (labels) scores.
    std::vector<float> effects_of(const double* ref, const double* alt) const {
        const LinkFunction link = models().front().calibration.link;
        std::vector<float> effects;
        for (std::size_t i = 0; i < labels(); ++i) {
            effects.push_back(static_cast<float>(spec_.quantity == Quantity::difference
                                                     ? alt[i] - ref[i]
                                                     : additive(alt[i], link) - additive(ref[i], link)));
        }
        return effects;
    }
    /// The stretch of the row that begins at row.where.begin + offset.
    genome::Interval stretch_at(const LetterRow& row, std::int64_t offset) const {
        const std::int64_t first = row.head.where.begin + offset;
        return {row.head.where.contig, first, first + spec_.stretch()};
    }
    bool is_only_n_at(const LetterRow& row, std::int64_t offset) const {
        return std::string_view(row.dna)
                   .substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(spec_.stretch()))
                   .find_first_not_of('N') == std::string_view::npos;
    }

    const MutagenesisSpec& spec_;
};

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

/// Computes effects with bin models, on the contig's grid of windows.
class BinEffects : public MutationEffects {
public:
    BinEffects(std::vector<ModelFolder> models, const MutagenesisSpec& spec)
        : MutationEffects(spec), models_(std::move(models)) {
        require_one_grid(models_);
        grid_ = models_.front().bins()->grid();
    }
    std::span<const ModelFolder> models() const override { return models_; }
    std::int64_t longest() const override { return grid_.core_bins() * grid_.bin; }

    void stretches(const LetterRow& row, const PutStretch& put) override {
        std::map<std::int64_t, Opened> windows;  // the keys are the windows' first bases
        for (std::int64_t offset = 0; offset + spec_.stretch() <= row.where.size(); ++offset) {
            stop_if_asked();
            if (is_only_n_at(row, offset)) {
                put(stretch_at(row, offset), {});
            } else {
                if (spec_.score == MutagenesisScore::own_bin && windows.size() > 2) windows.clear();
                put(stretch_at(row, offset), of_stretch(row, row.where.begin + offset, windows));
            }
        }
    }

private:
    void substitute(const LetterRow& row, std::vector<Change> changes, const PutChange& put) override {
        spec_.score == MutagenesisScore::own_bin ? own_bins(row, changes, put) : region(row, changes, put);
    }

    /// The window that begins at a base of the row's contig, from `windows` if it is there.
    const Opened& open(const LetterRow& row, std::int64_t begin,
                       std::map<std::int64_t, Opened>& windows) const {
        auto found = windows.find(begin);
        if (found == windows.end()) {
            EditedWindow window(models_, spec_.strands,
                                row.sequence_of({row.where.contig, begin, begin + grid_.window_bases()}));
            at::Tensor reference = window.reference();
            found = windows.emplace(begin, Opened{std::move(window), std::move(reference)}).first;
        }
        return found->second;
    }
    /// Scores each substitution by the bin that contains the base.
    void own_bins(const LetterRow& row, const std::vector<Change>& changes, const PutChange& put) const {
        const auto begin_at = [&](const Change& change) {
            return grid_.begin_of(grid_.window_of((row.where.begin + change.base) / grid_.bin));
        };
        std::map<std::int64_t, Opened> windows;
        for (std::size_t next = 0; next < changes.size();) {
            stop_if_asked();
            const std::int64_t begin = begin_at(changes[next]);
            const std::size_t first = next;
            const auto& [window, ref] = open(row, begin, windows);
            std::vector<bins::Substitution> each;
            std::vector<std::int64_t> bins;
            for (; next < changes.size() && each.size() < substitutions_a_call; ++next) {
                if (begin_at(changes[next]) != begin) break;
                each.push_back({row.where.begin + changes[next].base - begin, changes[next].code});
                bins.push_back(each.back().at / grid_.bin);
            }
            const at::Tensor alt = window.substituted(each, at::tensor(bins, at::kLong).unsqueeze(1));
            for (std::size_t i = 0; i < each.size(); ++i) {
                put(changes[first + i], ref.const_data_ptr<double>() + bins[i] * alt.size(2),
                    alt.const_data_ptr<double>() + i * labels());
            }
        }
    }
    /// (labels).
    at::Tensor zeros() const { return at::zeros({static_cast<std::int64_t>(labels())}, at::kDouble); }
    std::vector<WindowPart> parts_of(const LetterRow& row) const {
        std::vector<WindowPart> parts;
        for (const bins::BinShare& share : bins::shares_of(row.where.begin, row.where.end, grid_.bin)) {
            const std::int64_t begin = grid_.begin_of(grid_.window_of(share.bin));
            if (parts.empty() || parts.back().begin != begin) parts.push_back({begin, {}, {}});
            parts.back().bins.push_back(grid_.place_of(share.bin));
            parts.back().weights.push_back(share.weight);
        }
        return parts;
    }

    /// Scores each substitution by the mean of the bins that the row overlaps.
    void region(const LetterRow& row, std::span<const Change> changes, const PutChange& put) const {
        const std::vector<WindowPart> parts = parts_of(row);
        std::map<std::int64_t, Opened> windows;
        std::vector<at::Tensor> refs;  // (labels) per window: its part of the score
        at::Tensor ref = zeros();
        for (const WindowPart& part : parts) {
            const at::Tensor weights = at::tensor(part.weights, at::kDouble).unsqueeze(1);
            refs.push_back(
                (open(row, part.begin, windows).reference.index_select(0, at::tensor(part.bins, at::kLong)) *
                 weights)
                    .sum(0));
            ref += refs.back();
        }
        for (std::size_t first = 0; first < changes.size(); first += substitutions_a_call) {
            stop_if_asked();
            const auto some = changes.subspan(first, std::min(substitutions_a_call, changes.size() - first));
            at::Tensor alt = at::zeros({std::ssize(some), ref.size(0)}, at::kDouble);
            for (std::size_t i = 0; i < parts.size(); ++i)
                add_part(row, some, parts[i], open(row, parts[i].begin, windows).window, refs[i], alt);
            for (std::size_t i = 0; i < some.size(); ++i)
                put(some[i], ref.const_data_ptr<double>(), alt.const_data_ptr<double>() + i * labels());
        }
    }
    /// Adds to `alt`, (changes, labels), this window's part of the row's score after each change. A change
    /// outside the window does not affect that part.
    void add_part(const LetterRow& row, std::span<const Change> changes, const WindowPart& part,
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

    std::vector<float> of_stretch(const LetterRow& row, std::int64_t at,
                                  std::map<std::int64_t, Opened>& windows) const {
        const bool whole = spec_.score == MutagenesisScore::region;
        at::Tensor ref = zeros(), alt = zeros(), edited_bins;
        std::int64_t edited_begin = -1;
        for (const bins::BinShare& share :
             bins::shares_of(whole ? row.where.begin : at, whole ? row.where.end : at + 1, grid_.bin)) {
            const std::int64_t begin = grid_.begin_of(grid_.window_of(share.bin));
            const auto& [window, reference] = open(row, begin, windows);
            if (!edited_bins.defined() || begin != edited_begin) {
                edited_bins = window.edited(
                    with_stretch(row, {row.where.contig, begin, begin + grid_.window_bases()}, at, spec_));
            }
            edited_begin = begin;
            const std::int64_t bin = grid_.place_of(share.bin);
            ref += reference[bin] * share.weight;
            alt += edited_bins[bin] * share.weight;
        }
        return effects_of(ref.const_data_ptr<double>(), alt.const_data_ptr<double>());
    }

    std::vector<ModelFolder> models_;
    bins::Grid grid_;
};

/// Computes effects with models that read a record, or a window around a region's middle or TSS. Each change
/// needs a forward pass.
class WindowEffects : public MutationEffects {
public:
    WindowEffects(Predictor models, const MutagenesisSpec& spec, int threads)
        : MutationEffects(spec),
          models_(std::move(models)),
          threads_(threads),
          windows_(models_.models(), !spec.by_records()) {}
    std::span<const ModelFolder> models() const override { return models_.models(); }
    std::int64_t longest() const override { return spec_.by_records() ? 0 : models_.info().window.size(); }

    void stretches(const LetterRow& row, const PutStretch& put) override {
        const genome::Interval window = windows_.of(row.where, row.head.strand);
        const auto text_of = [&](std::size_t i) {
            return with_stretch(row, window, row.where.begin + static_cast<std::int64_t>(i), spec_,
                                windows_.whole_records);
        };
        const std::int64_t count = std::max<std::int64_t>(0, row.where.size() - spec_.stretch() + 1);
        score_each(row, static_cast<std::size_t>(count), text_of,
                   [&](std::size_t i, const double* ref, const double* alt) {
                       const auto offset = static_cast<std::int64_t>(i);
                       put(stretch_at(row, offset),
                           is_only_n_at(row, offset) ? std::vector<float>() : effects_of(ref, alt));
                   });
    }

private:
    void substitute(const LetterRow& row, std::vector<Change> changes, const PutChange& put) override {
        const genome::Interval window = windows_.of(row.where, row.head.strand);
        const std::string dna = row.sequence_of(window);
        std::erase_if(changes, [&](const Change& change) {
            const std::int64_t at = row.where.begin + change.base;
            return at < window.begin || at >= window.end;
        });
        const auto text_of = [&](std::size_t i) {
            std::string text = dna;
            text[static_cast<std::size_t>(row.where.begin + changes[i].base - window.begin)] =
                dna_letters[changes[i].code];
            return text;
        };
        score_each(row, changes.size(), text_of,
                   [&](std::size_t i, const double* ref, const double* alt) { put(changes[i], ref, alt); });
    }

    /// Calls `put` in order with the scores before and after each of the `count` edits of the row's window.
    template <typename TextOf, typename Put>
    void score_each(const LetterRow& row, std::size_t count, const TextOf& text_of, const Put& put) {
        const genome::Interval window = windows_.of(row.where, row.head.strand);
        const bool reverse = windows_.reverse(row.head.strand);
        const auto oriented = [&](std::string text) {
            return reverse ? genome::reverse_complement(text) : text;
        };
        const auto scores = [&](const std::vector<std::string>& texts) {
            return models_.probabilities(models_.encode(texts, threads_));
        };
        const std::vector<double> ref = scores({oriented(row.sequence_of(window))});
        const auto most =
            static_cast<std::size_t>(std::clamp(bases_a_call / window.size(), std::int64_t{1}, most_a_call));
        for (std::size_t first = 0; first < count; first += most) {
            stop_if_asked();
            std::vector<std::string> texts;
            for (std::size_t i = first; i < std::min(first + most, count); ++i)
                texts.push_back(oriented(text_of(i)));
            const std::vector<double> alt = scores(texts);
            for (std::size_t i = 0; i < texts.size(); ++i)
                put(first + i, ref.data(), alt.data() + i * labels());
        }
    }

    Predictor models_;
    int threads_;
    RowWindows windows_;
};

rows::Provenance provenance_of(const MutagenesisSpec& spec, std::span<const ModelFolder> models) {
    rows::Provenance provenance{{"bigbird-dna", std::string(version())}};
    for (const ModelFolder& model : models)
        provenance.emplace_back("model_sha256", model.sha256);
    provenance.emplace_back("effect", spec.quantity == Quantity::difference
                                          ? to_string(spec.quantity)
                                          : additive_effect(models.front().info.link()));
    provenance.emplace_back("score", std::string(word_of(mutagenesis_score_choices, spec.score)));
    provenance.emplace_back("reverse_complement", word_of(strand_choices, spec.strands));
    return provenance;
}

/// A row for each stretch, with a column for each label.
outputs::TableSchema stretch_schema(const MutagenesisSpec& spec, std::span<const ModelFolder> models,
                                    std::span<const std::size_t> labels) {
    outputs::TableSchema schema{outputs::region_head(), outputs::label_columns(models.front().labels, labels),
                                provenance_of(spec, models)};
    schema.provenance.emplace_back(spec.deleted > 0 ? "deleted" : "shuffled", std::to_string(spec.stretch()));
    return schema;
}

/// Throws ConfigError for a model of another kind, with the command to use.
std::unique_ptr<MutationEffects> open_effects(const MutagenesisSpec& spec, const Job& job) {
    std::vector<ModelFolder> models = open_models(spec.models, std::nullopt, job);
    require_agreement(models);
    const TaskInfo& info = models.front().info;
    if (any_bins(models)) return std::make_unique<BinEffects>(std::move(models), spec);
    if (info.task == examples::Task::sequences && !spec.by_records()) {
        throw ConfigError(spec.models.front().string() +
                          " scores sequences without a place in a genome: give --sequences, not --regions");
    }
    if (spec.score == MutagenesisScore::own_bin)
        throw ConfigError("--score own-bin needs a bin model; others have one score for a region");
    const bool averaged = info.task == examples::Task::chromatin;
    Predictor predictor(std::move(models), averaged ? spec.strands : Strands::none, job.batch_tokens);
    return std::make_unique<WindowEffects>(std::move(predictor), spec, job.threads);
}

/// Writes the effects of substitutions, or of stretches.
class EffectWriter {
public:
    EffectWriter(const MutagenesisSpec& spec, MutationEffects& effects,
                 std::span<const genome::Contig> contigs, int threads)
        : effects_(effects), labels_(effects.models().front().labels.select(spec.labels)) {
        const std::span<const ModelFolder> models = effects.models();
        if (spec.by_stretches()) {
            stretches_.emplace(spec.outputs, stretch_schema(spec, models, labels_), contigs, threads);
        } else {
            letters_.emplace(spec.outputs, models.front().labels, labels_, provenance_of(spec, models),
                             LetterTrack::largest, contigs, threads);
        }
    }
    void write(const LetterRow& row) {
        if (letters_) return letters_->write(row.head, row.dna, effects_.substitutions(row, labels_));
        effects_.stretches(row, [&](const genome::Interval& stretch, const std::vector<float>& effects) {
            rows::Row head = row.head;
            head.where = stretch;
            std::vector<float> chosen;
            for (const std::size_t label : effects.empty() ? std::vector<std::size_t>() : labels_)
                chosen.push_back(effects[label]);
            stretches_->write(rows::fields_of(head), chosen);
        });
    }
    void commit() { stretches_ ? stretches_->commit() : letters_->commit(); }

private:
    MutationEffects& effects_;
    std::vector<std::size_t> labels_;
    std::optional<LetterOutputs> letters_;
    std::optional<outputs::Outputs> stretches_;
};

}  // namespace

MutagenesisReport predict_mutagenesis(const MutagenesisSpec& given) {
    given.validate();
    MutagenesisSpec spec = given;
    spec.outputs.tracks = !spec.by_records();
    spec.by_stretches() ? outputs::prepare_outputs(spec.outputs) : LetterOutputs::prepare(spec.outputs);
    require_readable(spec.by_records() ? spec.sequences : spec.regions);
    const Job job = open_job(spec);
    const std::unique_ptr<MutationEffects> effects = open_effects(spec, job);
    LetterRows rows(spec, effects->models().front(), effects->longest(), {.skip_invalid = spec.skip_invalid});
    EffectWriter writer(spec, *effects, rows.contigs(), job.threads);
    if (!spec.by_stretches()) rows.require_one_length(spec.outputs);
    MutagenesisReport report;
    Progress progress("Scoring", "bases", 0);
    while (const auto row = rows.next()) {
        writer.write(*row);
        report.bases += std::ssize(row->dna);
        report.without_letter += std::ranges::count(row->dna, 'N');
        report.too_short += std::ssize(row->dna) < spec.stretch() ? 1 : 0;
        progress.update(report.bases);
    }
    progress.finish();
    writer.commit();
    rows.report();
    report.tiled = rows.tiled();
    if (report.tiled > 0 && spec.score == MutagenesisScore::region) {
        log_warning(
            "{} longer than {} bases, what the model scores at once, were cut into tiles of that "
            "length, each with a score of its own ({} cuts)",
            spec.by_records() ? "sequences" : "regions", effects->longest(), report.tiled);
    }
    if (report.too_short > 0) {
        log_warning("{} of the {} are shorter than {} bases, the length of a stretch, and have no rows",
                    report.too_short, spec.by_records() ? "sequences" : "regions", spec.stretch());
    }
    return report;
}

}  // namespace bigbird::task_models
