// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/variants/variant_work.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace bigbird::tasks {

namespace {

constexpr int tries_per_allele = 10'000;
constexpr std::uint64_t background_seed = 0;

/// All of `total` that next() gives, or a random sample of `count` in their order (Knuth's algorithm S).
/// `stream`: of random numbers.
template <typename Next>
auto draw(std::int64_t total, std::int64_t count, const char* stream, Next next) {
    Rng rng = Rng(background_seed).split(stream);
    std::vector<typename decltype(next())::value_type> drawn;
    for (auto one = next(); one; one = next()) {
        const std::int64_t wanted = count - std::ssize(drawn);
        if (rng.between(0, total - 1) < wanted) drawn.push_back(std::move(*one));
        --total;
    }
    return drawn;
}

/// The row's allele at a position of the reference, counted over all contigs; nullopt if it does not fit
/// there. The row's alleles are normalized.
std::optional<rows::VariantRow> moved_to(const rows::VariantRow& row,
                                         const genome::ReferenceGenome& reference, std::int64_t position) {
    auto contig = reference.contigs().begin();
    for (; position >= contig->length; ++contig)
        position -= contig->length;
    const std::int64_t end = position + std::ssize(row.ref);
    if (end > contig->length) return std::nullopt;
    const std::string there = reference.fetch({contig->name, position, end});
    if (there.find('N') != std::string::npos) return std::nullopt;
    rows::VariantRow moved;
    moved.contig = contig->name;
    moved.position = position;
    moved.ref = there;
    moved.alt = row.alt;
    if (row.ref.size() == 1 && there != row.ref) return std::nullopt;
    if (row.ref.size() > row.alt.size()) moved.alt = there.substr(0, row.alt.size());
    if (moved.alt == moved.ref) return std::nullopt;
    return moved;
}

struct ScoredEffects {
    std::vector<std::vector<float>> of_labels;  ///< by label, of all variants
    std::vector<float> largest;                 ///< of each variant, in size
};

/// Returns the effects, and keeps only the scored rows in `rows`. If `counted`, the rows are also settled.
ScoredEffects score(VariantWork& work, bool counted, std::vector<rows::VariantRow>& rows,
                    Progress& progress) {
    ScoredEffects found;
    found.of_labels.resize(work.scorer->labels.size());
    std::vector<rows::VariantRow> scored;
    const std::size_t at_once = work.scorer->rows_at_once;
    for (std::size_t begin = 0; begin < rows.size(); begin += at_once) {
        stop_if_asked();
        const std::size_t count = std::min(at_once, rows.size() - begin);
        const std::span<rows::VariantRow> chunk = std::span(rows).subspan(begin, count);
        fill_rows(work.rows, chunk, work.threads);
        for (const rows::VariantRow& row : chunk)
            if (counted) work.rows.settle(row);
        const std::vector<AlleleEffects> effects = work.scorer->score(chunk, work.threads);
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t label = 0; label < effects[i].size(); ++label)
                found.of_labels[label].push_back(effects[i][label].log_odds);
            chunk[i].ref_sequence.clear();
            chunk[i].alt_sequence.clear();
            chunk[i].right_sequence.clear();
            if (effects[i].empty()) continue;
            found.largest.push_back(std::abs(top_of(effects[i]).effect));
            scored.push_back(chunk[i]);
        }
        progress.update(static_cast<std::int64_t>(begin + count));
    }
    rows = std::move(scored);
    return found;
}

/// The windows around the summits, or middles, of a BED's peaks that are on the reference, each once; a
/// random sample of at most spec.count.
std::vector<genome::Interval> draw_peaks(const BackgroundSpec& spec, const VariantWork& work) {
    rows::RegionReader peaks(spec.regions, *work.reference,
                             {.anchor = rows::Anchor::summit,
                              .bounds = rows::centred_bounds(work.scorer->window),
                              .skip_invalid = spec.skip_invalid});
    std::set<genome::Interval> windows;
    while (const std::optional<rows::RegionRow> peak = peaks.next()) {
        if (!rows::is_scored(peak->head.status)) continue;
        const genome::Interval& where = peak->window;
        const genome::Contig& contig = work.reference->contigs()[*work.reference->find(where.contig)];
        if (where.begin >= 0 && where.end <= contig.length) windows.insert(where);
    }
    peaks.report();
    if (windows.empty()) {
        throw InputError(
            fmt::format("has no peak whose window of {} bases is on the reference", work.scorer->window),
            spec.regions);
    }
    return draw(std::ssize(windows), spec.count, "peaks", [next = windows.begin(), &windows]() mutable {
        return next == windows.end() ? std::nullopt : std::optional(*next++);
    });
}

/// Reads of peaks, for EffectBackground.
void add_peaks(const BackgroundSpec& spec, VariantWork& work, outputs::EffectBackground& background) {
    constexpr std::size_t at_once = 64;
    const std::vector<genome::Interval> peaks = draw_peaks(spec, work);
    std::vector<std::vector<float>> reads;
    Progress progress("Scoring", "peaks", std::ssize(peaks));
    for (std::size_t begin = 0; begin < peaks.size(); begin += at_once) {
        std::vector<std::string> windows;
        for (const genome::Interval& peak :
             std::span(peaks).subspan(begin).first(std::min(at_once, peaks.size() - begin)))
            windows.push_back(work.reference->fetch(peak));
        const std::vector<std::vector<float>> some = work.scorer->reads_of(windows);
        reads.resize(some.size());
        for (std::size_t i = 0; i < some.size(); ++i)
            reads[i].insert(reads[i].end(), some[i].begin(), some[i].end());
        progress.update(static_cast<std::int64_t>(begin + windows.size()));
    }
    progress.finish();
    background.peaks = std::ssize(peaks);
    for (std::vector<float>& of_label : reads) {
        if (!std::ranges::all_of(of_label, [](float value) { return std::isfinite(value); }))
            throw InputError("has peaks whose predicted reads are no numbers", spec.regions);
        std::ranges::sort(of_label);
        background.of_peaks.insert(background.of_peaks.end(), of_label.begin(), of_label.end());
    }
}

/// Keeps the figures of each model that gives profiles, while it lives.
class FiguresOfModels {
public:
    explicit FiguresOfModels(VariantScorer& scorer) : scorer_(scorer), labels_(scorer.labels.size()) {
        if (!scorer.gives_profiles) return;
        scorer.rank = [this](std::size_t model, std::size_t label, const ModelFigures& figures) {
            const std::size_t row = model * labels_ + label;
            for (auto* const of_rows : {&changes_, &distances_})
                if (of_rows->size() <= row) of_rows->resize(row + 1);
            changes_[row].push_back(static_cast<float>(std::abs(figures.log2_fold_change)));
            distances_[row].push_back(static_cast<float>(figures.jsd));
            return ModelFigures();
        };
    }
    FiguresOfModels(const FiguresOfModels&) = delete;
    FiguresOfModels& operator=(const FiguresOfModels&) = delete;
    ~FiguresOfModels() { scorer_.rank = {}; }

    /// EffectBackground::of_models
    std::vector<float> quantiles(std::span<const double> levels) const {
        std::vector<float> all;
        for (const auto* const of_rows : {&changes_, &distances_})
            for (const std::vector<float>& figures : *of_rows)
                std::ranges::copy(outputs::quantiles_of(figures, levels), std::back_inserter(all));
        return all;
    }

private:
    VariantScorer& scorer_;
    std::size_t labels_;
    std::vector<std::vector<float>> changes_, distances_;  // by model and label
};

}  // namespace

std::vector<rows::VariantRow> shuffled_variants(std::span<const rows::VariantRow> from,
                                                const genome::ReferenceGenome& reference, std::int64_t count,
                                                std::uint64_t seed) {
    std::int64_t bases = 0;
    for (const genome::Contig& contig : reference.contigs())
        bases += contig.length;
    Rng rng = Rng(seed).split("shuffled");
    std::multimap<std::int64_t, rows::VariantRow> moved;  // by position over all contigs
    for (int tries = 0; std::ssize(moved) < count;) {
        if (tries++ == tries_per_allele)
            throw ConfigError(
                "the reference has no positions for shuffled variants: it is too short, or all N");
        rows::VariantRow row = from[static_cast<std::size_t>(rng.between(0, std::ssize(from) - 1))];
        genome::normalise(row.ref);
        genome::normalise(row.alt);
        const std::int64_t position = rng.between(0, bases - 1);
        if (auto there = moved_to(row, reference, position)) {
            moved.emplace(position, std::move(*there));
            tries = 0;
        }
    }
    std::vector<rows::VariantRow> all;
    for (auto& [position, row] : moved)
        all.push_back(std::move(row));
    return all;
}

BackgroundReport build_background(const BackgroundSpec& spec) {
    spec.validate();
    if (spec.variants == "-")
        throw ConfigError("build-background reads the variants twice: give --variants as a file");
    prepare_output(spec.output, spec.overwrite);
    VariantWork work(spec);
    if (!spec.regions.empty() && !work.scorer->gives_profiles)
        throw ConfigError("--regions is for models that give profiles: leave it out");
    std::vector<rows::VariantRow> drawn = draw(rows::count_variant_rows(spec.variants), spec.count,
                                               "variants", [&] { return work.rows.next(); });
    outputs::EffectBackground background;
    background.run = work.scorer->run;
    background.labels = work.scorer->labels;
    background.seed = background_seed;
    background.levels = outputs::background_levels();
    if (!spec.regions.empty()) add_peaks(spec, work, background);
    const auto scored = [&](std::vector<rows::VariantRow>& rows, const char* what, bool counted) {
        Progress progress("Scoring", what, std::ssize(rows));
        ScoredEffects effects = score(work, counted, rows, progress);
        progress.finish();
        return effects;
    };
    const auto ranked = [&](ScoredEffects& effects) {
        std::vector<float> quantiles;
        for (std::vector<float>& of_label : effects.of_labels)
            std::ranges::copy(outputs::quantiles_of(std::move(of_label), background.levels),
                              std::back_inserter(quantiles));
        return quantiles;
    };
    ScoredEffects effects = scored(drawn, "variants", true);
    background.of_variants = ranked(effects);
    background.variants = std::ssize(drawn);
    work.rows.report(false, spec.skip_invalid);
    if (drawn.empty())
        throw InputError("has no variants that the model can score on this reference", spec.variants);
    std::vector<rows::VariantRow> moved =
        shuffled_variants(drawn, *work.reference, spec.count, background_seed);
    FiguresOfModels figures(*work.scorer);
    effects = scored(moved, "shuffled variants", false);
    background.of_models = figures.quantiles(background.levels);
    background.of_shuffled = ranked(effects);
    background.of_largest = outputs::quantiles_of(std::move(effects.largest), background.levels);
    background.shuffled = std::ssize(moved);
    outputs::write_background(spec.output, spec.overwrite, background);
    return {background.variants, background.shuffled, background.peaks};
}

}  // namespace bigbird::tasks
