// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/scoring/edited_window.hpp"
#include "bigbird/scoring/motifs/footprints.hpp"
#include "bigbird/scoring/motifs/motifs.hpp"
#include "bigbird/tasks/profile_network.hpp"
#include "bigbird/tasks/sequence_network.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>

namespace bigbird::tasks {

namespace {

constexpr std::int64_t shuffled_count = 100, tries = 50, record_length = 1000;
constexpr std::size_t insertions_per_call = 64;

/// How a model scores backgrounds.
struct Scorer {
    explicit Scorer(const MarginalizeSpec& spec)
        : job(open_job(spec)), models(open_models(std::span(&spec.model, 1), std::nullopt, job)) {
        if (const auto bins = model().bins()) {
            const bins::Grid grid = bins->grid();
            segment = grid.window_bins / 2;
            length = grid.window_bases();
            middle = segment * grid.bin + grid.bin / 2;
            strands = Strands::average;
        } else {
            reads_rows = model().info.reads_records();
            length = reads_rows ? record_length : model().info.window.size();
            middle = length / 2;
            if (profile_network(model())) strands = Strands::average;
        }
        if (spec.profile.empty()) return;
        if (!profile_network(model()))
            throw ConfigError("--profile needs a model that gives profiles: ChromBPNet, BPNet or Cherimoya");
        if (!spec.spacings.empty()) throw ConfigError("--profile is of single motifs: leave out --spacing");
    }
    const ModelFolder& model() const { return models.front(); }

    Job job;
    std::vector<ModelFolder> models;  ///< one
    std::int64_t length = 0;          ///< bases that it reads; the default length of a record, too
    std::int64_t middle = 0;          ///< position of the motif's middle; a given record uses its own middle
    std::int64_t segment = 0;
    bool reads_rows = false;  ///< whether rows are records
    Strands strands = Strands::none;
};

std::vector<std::string> rows_of(const MarginalizeSpec& spec, const genome::ReferenceGenome& reference,
                                 const Scorer& scorer) {
    std::vector<std::string> backgrounds;
    for (const genome::BedRecord& row :
         genome::read_regions_on(reference, spec.backgrounds, "--backgrounds")) {
        const genome::Interval& where = row.where;
        const std::int64_t begin = where.begin + where.size() / 2 - scorer.middle;
        backgrounds.push_back(reference.fetch(
            scorer.reads_rows ? where : genome::Interval{where.contig, begin, begin + scorer.length}));
        if (backgrounds.back().find_first_not_of('N') == std::string::npos)
            throw InputError("the reference has no letters but N here", spec.backgrounds, row.line);
    }
    if (backgrounds.empty()) throw InputError("has no rows", spec.backgrounds);
    return backgrounds;
}

/// Random sequence of the reference without N, dinucleotide-shuffled.
std::vector<std::string> shuffled(const genome::ReferenceGenome& reference, std::int64_t length) {
    std::int64_t bases = 0;
    for (const genome::Contig& contig : reference.contigs())
        bases += contig.length;
    std::vector<std::string> backgrounds;
    Rng rng = Rng(0).split("backgrounds");
    for (std::int64_t i = 0; i < shuffled_count * tries && std::ssize(backgrounds) < shuffled_count; ++i) {
        std::int64_t start = rng.between(0, bases - 1);
        auto contig = reference.contigs().begin();
        for (; start >= contig->length; ++contig)
            start -= contig->length;
        const std::string dna = reference.fetch({contig->name, start, start + length});
        if (genome::n_fraction(dna) == 0) backgrounds.push_back(genome::dinucleotide_shuffle(dna, rng));
    }
    if (!backgrounds.empty()) return backgrounds;
    throw ConfigError(
        fmt::format("the reference has no {} bases without N; give a BED as --backgrounds", length));
}

/// The most likely letters of a motif.
std::string site_of(const motifs::Motif& motif) {
    std::string site;
    for (const motifs::Shares& column : motif.shares)
        site += "ACGT"[std::ranges::max_element(column) - column.begin()];
    return site;
}

/// Sequence into which words are inserted around a base.
struct Background {
    const std::string& dna;
    std::int64_t middle;

    /// Returns the background with `words`, pairs of (offset, letters), written over a span of `size` letters
    /// around the middle.
    std::string with(std::size_t size,
                     std::initializer_list<std::pair<std::size_t, std::string_view>> words) const {
        const auto begin = static_cast<std::size_t>(middle) - size / 2;
        if (size > dna.size() || static_cast<std::size_t>(middle) < size / 2 || begin + size > dna.size()) {
            throw ConfigError(fmt::format(
                "{} bases of motifs do not fit into a background, which has {} bases", size, dna.size()));
        }
        std::string changed = dna;
        for (const auto& [offset, word] : words)
            changed.replace(begin + offset, word.size(), word);
        return changed;
    }
};

/// What is inserted into backgrounds: one motif, or two with bases between them.
struct Insertion {
    std::string head;  ///< first fields of its rows in the table
    std::string site, other;
    std::int64_t spacing = 0;

    bool is_pair() const { return !other.empty(); }
    /// The sequences to score, without the background itself. A pair gives three: both motifs, only the
    /// first, only the second.
    std::vector<std::string> sequences(const Background& background) const {
        if (!is_pair()) return {background.with(site.size(), {{0, site}})};
        const std::size_t second = site.size() + static_cast<std::size_t>(spacing),
                          size = second + other.size();
        return {background.with(size, {{0, site}, {second, other}}), background.with(size, {{0, site}}),
                background.with(size, {{second, other}})};
    }
    /// Effects, (labels). For a pair, (labels) interactions follow: the effect of both motifs minus the
    /// effects of each. `before`: (labels) scores of the background. `after`: scores of each of sequences().
    std::vector<double> effects(std::span<const double> before, std::span<const double> after) const {
        const std::size_t labels = before.size();
        std::vector<double> effects;
        for (std::size_t label = 0; label < labels; ++label)
            effects.push_back(after[label] - before[label]);
        for (std::size_t label = 0; is_pair() && label < labels; ++label)
            effects.push_back(after[label] - after[labels + label] - after[2 * labels + label] +
                              before[label]);
        return effects;
    }
};

std::vector<Insertion> insertions_of(const motifs::MotifSet& set, const std::vector<std::int64_t>& spacings) {
    const auto name = [](const motifs::Motif& motif) { return motif.name.empty() ? "." : motif.name; };
    std::vector<Insertion> all;
    for (const motifs::Motif& motif : set.motifs) {
        if (spacings.empty())
            all.push_back({fmt::format("{}\t{}", motif.id, name(motif)), site_of(motif), ""});
        for (const motifs::Motif& other : set.motifs) {
            for (const std::int64_t spacing : spacings)
                all.push_back({fmt::format("{}\t{}\t{}", motif.id, other.id, spacing), site_of(motif),
                               site_of(other), spacing});
        }
    }
    return all;
}

/// The scores of a background with insertions, and its profiles if they are asked for.
class BackgroundScores {
public:
    BackgroundScores(const Scorer& scorer, const std::string& dna, bool with_profiles) : scorer_(scorer) {
        if (with_profiles)
            profiles_.emplace(scorer.models, scorer.strands);
        else
            window_.emplace(scorer.models, scorer.strands, dna, scorer.job);
    }
    /// On the scale on which effects are additive: the labels of each text. `profiles` gets those of texts.
    std::vector<double> of(const std::vector<std::string>& texts, at::Tensor& profiles) const {
        at::Tensor scores;
        if (profiles_)
            std::tie(scores, profiles) = profiles_->of(texts);
        else
            scores = window_->edited(texts).select(1, scorer_.segment).contiguous();
        std::vector<double> values(scores.const_data_ptr<double>(),
                                   scores.const_data_ptr<double>() + scores.numel());
        for (double& value : values)
            value = additive(value, scorer_.model().calibration.link);
        return values;
    }

private:
    const Scorer& scorer_;
    std::optional<EditedWindow> window_;
    std::optional<ProfileReadings> profiles_;
};

/// "mean<TAB>standard error" over backgrounds of the effect at index `which`.
std::string summary(const std::vector<std::vector<double>>& effects, std::size_t which) {
    const auto count = static_cast<double>(effects.size());
    double sum = 0, squares = 0;
    for (const std::vector<double>& of_background : effects)
        sum += of_background[which];
    for (const std::vector<double>& of_background : effects)
        squares += (of_background[which] - sum / count) * (of_background[which] - sum / count);
    return fmt::format("{:.5g}\t{}", sum / count,
                       count > 1 ? fmt::format("{:.4g}", std::sqrt(squares / (count - 1) / count)) : "NA");
}

void write_effects(const Insertion& insertion, const std::vector<std::vector<double>>& effects,
                   const rows::LabelTable& labels, genome::TextOutput& output) {
    for (std::size_t label = 0; label < labels.size(); ++label) {
        std::string row =
            insertion.head + '\t' + labels.column_name(label) + '\t' + summary(effects, label) + '\t';
        if (insertion.is_pair()) row += summary(effects, labels.size() + label) + '\t';
        output.write(fmt::format("{}{}\n", row, effects.size()));
    }
}

}  // namespace

std::int64_t marginalize_motifs(const MarginalizeSpec& spec) {
    const motifs::MotifSet set = motifs::read_motifs(spec.motifs);
    const auto reference = genome::open_references(spec.references);
    std::vector<std::unique_ptr<genome::TextOutput>> outputs;
    for (const auto& path : {spec.output, spec.profile})
        if (!path.empty()) outputs.push_back(std::make_unique<genome::TextOutput>(path, spec.overwrite));
    const Scorer scorer(spec);
    const std::vector<std::string> backgrounds = spec.backgrounds == shuffled_backgrounds
                                                     ? shuffled(*reference, scorer.length)
                                                     : rows_of(spec, *reference, scorer);
    const std::vector<Insertion> insertions = insertions_of(set, spec.spacings);
    std::vector<std::vector<std::vector<double>>> effects(insertions.size());  // background, label
    Footprints footprints(insertions.size());
    Progress progress("Scoring", "backgrounds", std::ssize(backgrounds));
    for (const std::string& dna : backgrounds) {
        const Background background{dna, scorer.reads_rows ? std::ssize(dna) / 2 : scorer.middle};
        const BackgroundScores score(scorer, dna, !spec.profile.empty());
        at::Tensor profiles;
        const std::vector<double> before = score.of({dna}, profiles);
        footprints.add_background(profiles);
        for (std::size_t first = 0; first < insertions.size(); first += insertions_per_call) {
            stop_if_asked();
            const auto some = std::span(insertions)
                                  .subspan(first)
                                  .first(std::min(insertions_per_call, insertions.size() - first));
            std::vector<std::string> sequences;
            for (const Insertion& insertion : some)
                std::ranges::move(insertion.sequences(background), std::back_inserter(sequences));
            const std::vector<double> values = score.of(sequences, profiles);
            footprints.add_insertions(first, profiles);
            const std::size_t each = values.size() / some.size();
            for (std::size_t i = 0; i < some.size(); ++i) {
                const std::span<const double> own = std::span(values).subspan(i * each, each);
                effects[first + i].push_back(some[i].effects(before, own));
            }
        }
        progress.update(std::ssize(effects.front()));
    }
    progress.finish();
    genome::TextOutput& output = *outputs.front();
    output.write(
        spec.spacings.empty()
            ? "#motif\tname\tlabel\teffect\tse\tbackgrounds\n"
            : "#motif\tother\tspacing\tlabel\teffect\tse\tinteraction\tinteraction_se\tbackgrounds\n");
    for (std::size_t i = 0; i < insertions.size(); ++i)
        write_effects(insertions[i], effects[i], scorer.model().labels, output);
    if (!spec.profile.empty()) {
        outputs.back()->write(Footprints::header);
        for (std::size_t i = 0; i < insertions.size(); ++i)
            footprints.write(i, insertions[i].head, scorer.model(), *outputs.back());
    }
    genome::commit_together(outputs);
    return std::ssize(backgrounds);
}

}  // namespace bigbird::tasks
