// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/scoring/edited_window.hpp"
#include "bigbird/scoring/letters/letter_rows.hpp"
#include "bigbird/scoring/letters/letters.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace bigbird::tasks {

namespace {

constexpr std::size_t letters = dna_letters.size();
constexpr std::int64_t changes_per_call = 256;

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

/// The effects of changes in a row: what they do to the scores of the row's windows (Placement). Not
/// thread-safe.
class MutationEffects {
public:
    using PutStretch =
        std::function<void(const genome::Interval& stretch, const std::vector<float>& effects)>;

    /// Throws ConfigError if the models do not score such rows.
    MutationEffects(const MutagenesisSpec& spec, const Job& job)
        : spec_(spec),
          job_(job),
          models_(open_models(spec.models, std::nullopt, job)),
          placement_(models_, spec.by_records()),
          strands_(placement_.reads_both_strands() || placement_.by_bins() ? spec.strands : Strands::none) {
        placement_.require_one_grid(models_);
        if (placement_.by_bins()) return;
        if (placement_.of_records() && !spec.by_records()) {
            throw ConfigError(spec.models.front().string() +
                              " scores sequences without a place in a genome: give --sequences, not "
                              "--regions");
        }
        if (by_own_bin())
            throw ConfigError("--score own-bin needs a bin model; others have one score for a region");
    }
    /// At least one model; all have the same labels.
    std::span<const ModelFolder> models() const { return models_; }
    const Placement& placement() const { return placement_; }

    /// Effects of every substitution on the chosen labels: (chosen, bases, 4) float32. They are 0 for the
    /// row's own letter, NaN where that is N, and 0 where the model does not read the base.
    std::vector<float> substitutions(const LetterRow& row, std::span<const std::size_t> chosen) {
        std::vector<float> effects;
        for (std::size_t i = 0; i < chosen.size(); ++i)
            for (const char letter : row.dna)
                effects.insert(effects.end(), letters,
                               letter == 'N' ? std::numeric_limits<float>::quiet_NaN() : 0.0F);
        const auto put = [&](const Change& change, const double* ref, const double* alt) {
            const std::vector<float> own = effects_of(ref, alt);
            for (std::size_t i = 0; i < chosen.size(); ++i) {
                const std::size_t base = i * row.dna.size() + static_cast<std::size_t>(change.base);
                effects[base * letters + change.code] = own[chosen[i]];
            }
        };
        const std::vector<Change> changes = all_changes(row.dna);
        by_own_bin() ? own_bins(row, changes, put) : region(row, changes, put);
        return effects;
    }
    /// Calls `put` with the stretch that begins at each base, and with the effects by label of deleting or
    /// shuffling it. The effects are empty for a stretch of only N. A row shorter than a stretch has no
    /// calls.
    void stretches(const LetterRow& row, const PutStretch& put) {
        Windows windows;
        const std::int64_t count = row.where.size() - spec_.stretch() + 1,
                           most = placement_.by_bins() ? 1 : changes_per_call;
        for (std::int64_t first = 0; first < count; first += most) {
            stop_if_asked();
            std::vector<std::int64_t> places;
            const std::int64_t end = std::min(first + most, count);
            for (std::int64_t offset = first; offset < end; ++offset)
                if (!is_only_n_at(row, offset)) places.push_back(row.where.begin + offset);
            if (by_own_bin() && windows.size() > 2) windows.clear();
            at::Tensor ref, alt;
            if (!places.empty()) std::tie(ref, alt) = of_stretches(row, places, windows);
            for (std::int64_t offset = first, next = 0; offset < end; ++offset) {
                put(stretch_at(row, offset),
                    is_only_n_at(row, offset)
                        ? std::vector<float>()
                        : effects_of(ref.const_data_ptr<double>(), alt[next++].const_data_ptr<double>()));
            }
        }
    }

private:
    /// Gets a change, and the (labels) scores before and after it.
    using PutChange = std::function<void(const Change& change, const double* ref, const double* alt)>;
    /// A window to score, and its scores before changes.
    struct Opened {
        EditedWindow window;
        at::Tensor reference;  // (segments, labels)
    };
    using Windows = std::map<std::int64_t, Opened>;  ///< by their first bases

    bool by_own_bin() const { return spec_.score == MutagenesisScore::own_bin; }
    std::int64_t labels() const { return static_cast<std::int64_t>(models_.front().labels.size()); }
    /// Effects by label, from (labels) scores.
    std::vector<float> effects_of(const double* ref, const double* alt) const {
        const LinkFunction link = models_.front().calibration.link;
        std::vector<float> effects;
        for (std::int64_t i = 0; i < labels(); ++i) {
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
    bool is_turned(const LetterRow& row) const { return placement_.is_turned(row.head.strand); }
    std::string as_read(const LetterRow& row, std::string dna) const {
        return is_turned(row) ? genome::reverse_complement(dna) : dna;
    }
    /// A change in the coordinates of a window as it is read.
    bins::Substitution substitution(const LetterRow& row, const genome::Interval& window,
                                    const Change& change) const {
        const std::int64_t at = row.where.begin + change.base - window.begin;
        if (!is_turned(row)) return {at, change.code};
        return {window.size() - 1 - at, static_cast<std::uint8_t>(letters - 1 - change.code)};
    }
    /// A window of the row's contig, from `windows` if it is there.
    const Opened& open(const LetterRow& row, const genome::Interval& window, Windows& windows) const {
        auto found = windows.find(window.begin);
        if (found == windows.end()) {
            EditedWindow edited(models_, strands_, as_read(row, row.sequence_of(window)), job_);
            at::Tensor reference = edited.reference();
            found = windows.emplace(window.begin, Opened{std::move(edited), std::move(reference)}).first;
        }
        return found->second;
    }
    at::Tensor zeros(std::int64_t rows) const { return at::zeros({rows, labels()}, at::kDouble); }

    /// Scores each substitution by the bin that contains the base.
    void own_bins(const LetterRow& row, const std::vector<Change>& changes, const PutChange& put) const {
        const auto part_at = [&](const Change& change) {
            const std::int64_t at = row.where.begin + change.base;
            return placement_.parts({row.where.contig, at, at + 1}, row.head.strand).front();
        };
        Windows windows;
        for (std::size_t next = 0; next < changes.size();) {
            stop_if_asked();
            const genome::Interval where = part_at(changes[next]).window;
            const std::size_t first = next;
            const auto& [window, ref] = open(row, where, windows);
            std::vector<bins::Substitution> each;
            std::vector<std::int64_t> bins;
            for (; next < changes.size() && std::ssize(each) < changes_per_call; ++next) {
                const RowPart part = part_at(changes[next]);
                if (part.window != where) break;
                each.push_back(substitution(row, where, changes[next]));
                bins.push_back(part.segments.front());
            }
            const at::Tensor alt = window.substituted(each, at::tensor(bins, at::kLong).unsqueeze(1));
            for (std::size_t i = 0; i < each.size(); ++i)
                put(changes[first + i], ref[bins[i]].const_data_ptr<double>(),
                    alt[static_cast<std::int64_t>(i)].const_data_ptr<double>());
        }
    }

    /// Scores each substitution by the row's score.
    void region(const LetterRow& row, std::span<const Change> changes, const PutChange& put) const {
        const std::vector<RowPart> parts = placement_.parts(row.where, row.head.strand);
        Windows windows;
        std::vector<at::Tensor> refs;  // (labels) per window: its part of the score
        at::Tensor ref = zeros(1)[0];
        for (const RowPart& part : parts) {
            const at::Tensor weights = at::tensor(part.weights, at::kDouble).unsqueeze(1);
            refs.push_back((open(row, part.window, windows)
                                .reference.index_select(0, at::tensor(part.segments, at::kLong)) *
                            weights)
                               .sum(0));
            ref += refs.back();
        }
        for (std::size_t first = 0; first < changes.size(); first += changes_per_call) {
            stop_if_asked();
            const auto some =
                changes.subspan(first, std::min<std::size_t>(changes_per_call, changes.size() - first));
            at::Tensor alt = zeros(std::ssize(some));
            for (std::size_t i = 0; i < parts.size(); ++i)
                add_part(row, some, parts[i], open(row, parts[i].window, windows).window, refs[i], alt);
            for (std::size_t i = 0; i < some.size(); ++i)
                put(some[i], ref.const_data_ptr<double>(),
                    alt[static_cast<std::int64_t>(i)].const_data_ptr<double>());
        }
    }
    /// Adds to `alt`, (changes, labels), this window's part of the row's score after each change. A change
    /// outside the window does not affect that part.
    void add_part(const LetterRow& row, std::span<const Change> changes, const RowPart& part,
                  const EditedWindow& window, const at::Tensor& ref, at::Tensor& alt) const {
        std::vector<bins::Substitution> each;
        std::vector<std::int64_t> seen;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            const std::int64_t at = row.where.begin + changes[i].base;
            if (at < part.window.begin || at >= part.window.end) {
                alt[static_cast<std::int64_t>(i)] += ref;
                continue;
            }
            each.push_back(substitution(row, part.window, changes[i]));
            seen.push_back(static_cast<std::int64_t>(i));
        }
        if (each.empty()) return;
        const at::Tensor segments = at::tensor(part.segments, at::kLong).expand({std::ssize(each), -1});
        const at::Tensor weights = at::tensor(part.weights, at::kDouble).view({1, -1, 1});
        alt.index_add_(0, at::tensor(seen, at::kLong), (window.substituted(each, segments) * weights).sum(1));
    }

    /// Scores before, (labels), and after each of the stretches at `places` is changed, (places, labels).
    std::pair<at::Tensor, at::Tensor> of_stretches(const LetterRow& row, std::span<const std::int64_t> places,
                                                   Windows& windows) const {
        genome::Interval where = row.where;
        if (by_own_bin()) where = {where.contig, places.front(), places.front() + 1};
        at::Tensor ref = zeros(1)[0], alt = zeros(std::ssize(places));
        for (const RowPart& part : placement_.parts(where, row.head.strand)) {
            std::vector<std::string> texts;
            for (const std::int64_t at : places)
                texts.push_back(
                    as_read(row, with_stretch(row, part.window, at, spec_, placement_.whole_records())));
            const auto& [window, reference] = open(row, part.window, windows);
            const at::Tensor edited = window.edited(texts);
            for (std::size_t i = 0; i < part.segments.size(); ++i) {
                ref += reference[part.segments[i]] * part.weights[i];
                alt += edited.select(1, part.segments[i]) * part.weights[i];
            }
        }
        return {ref, alt};
    }

    const MutagenesisSpec& spec_;
    Job job_;
    std::vector<ModelFolder> models_;
    Placement placement_;
    Strands strands_;
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
    if (spec.by_records()) require_readable(spec.sequences);
    const Job job = open_job(spec);
    MutationEffects effects(spec, job);
    const std::int64_t longest = effects.placement().longest();
    LetterRows rows(spec, effects.models().front(), effects.placement(), {.skip_invalid = spec.skip_invalid});
    EffectWriter writer(spec, effects, rows.contigs(), job.threads);
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
    rows.report();
    writer.commit();
    report.tiled = rows.tiled();
    if (report.tiled > 0 && spec.score == MutagenesisScore::region) {
        log_warning(
            "{} longer than {} bases, what the model scores at once, were cut into tiles of that "
            "length, each with a score of its own ({} cuts)",
            spec.by_records() ? "sequences" : "regions", longest, report.tiled);
    }
    if (report.too_short > 0) {
        log_warning("{} of the {} are shorter than {} bases, the length of a stretch, and have no rows",
                    report.too_short, spec.by_records() ? "sequences" : "regions", spec.stretch());
    }
    return report;
}

}  // namespace bigbird::tasks
