// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/report_motifs.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/pipeline/logo.hpp"
#include "bigbird/scoring/letters/letters.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using examples::ExampleSet, examples::Split, examples::TargetKind;

constexpr std::size_t most_labels = 4, most_shown = 4;
constexpr std::int64_t least_bases = 200, most_bases = 2000;

/// The labels with the most positive test rows.
std::vector<std::size_t> commonest_labels_of_test(const ExampleSet& set) {
    std::vector<std::size_t> order(set.label_table().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (set.target() != TargetKind::numbers) {
        std::vector<std::int64_t> counts(order.size());
        std::vector<std::uint8_t> labels(order.size());
        for (const std::int64_t row : set.rows(Split::test)) {
            set.copy_labels(row, labels);
            std::ranges::transform(counts, labels, counts.begin(), std::plus());
        }
        std::ranges::stable_sort(order, std::greater(), [&](std::size_t label) { return counts[label]; });
    }
    if (order.size() > most_labels) order.resize(most_labels);
    std::ranges::sort(order);
    return order;
}

/// Rows of a split with the label, or with its largest numbers, ascending.
std::vector<std::int64_t> strong_rows(const ExampleSet& set, std::size_t label, Split split) {
    constexpr std::size_t part = 10;
    std::vector<std::int64_t> rows = set.rows(split);
    if (set.target() != TargetKind::numbers) {
        std::erase_if(rows, [&](std::int64_t row) { return set.label(row, label) == 0; });
        return rows;
    }
    std::ranges::stable_sort(rows, std::greater(), [&](std::int64_t row) { return set.numbers(row)[label]; });
    rows.resize((rows.size() + part - 1) / part);
    std::ranges::sort(rows);
    return rows;
}

/// Rows of bins as regions that do not overlap; leaves out others.
std::string bed_of(const ExampleSet& set, MotifRows& from) {
    std::string text;
    genome::Interval last;
    std::erase_if(from.rows, [&](std::int64_t row) {
        genome::Interval where = set.row(row).where;
        const std::int64_t wider = std::max<std::int64_t>(0, least_bases - where.size());
        where.begin = std::max<std::int64_t>(0, where.begin - wider / 2);
        where.end += wider - wider / 2;
        if (where.contig == last.contig && where.begin < last.end && last.begin < where.end) {
            --from.of_split[static_cast<std::size_t>(set.split(row))];
            return true;
        }
        text += fmt::format("{}\t{}\t{}\n", where.contig, where.begin, where.end);
        last = std::move(where);
        return false;
    });
    return text;
}

std::string fasta_of(const ExampleSet& set, const MotifRows& from) {
    std::string text;
    for (const std::int64_t row : from.rows)
        text += fmt::format(">{}\n{}\n", row, set.centred(row, std::min(set.length(row), most_bases)));
    return text;
}

/// "200 sequences: 150 of test, 50 of train".
std::string searched(const MotifRows& from) {
    std::string text = counted(from.rows.size(), "sequence");
    const char* separator = ": ";
    for (const Split split : {Split::test, Split::validation, Split::train}) {
        const std::int64_t count = from.of_split[static_cast<std::size_t>(split)];
        if (count == 0) continue;
        text += separator + std::to_string(count) + " of " + std::string(to_string(split));
        separator = ", ";
    }
    return text;
}

}  // namespace

std::vector<MotifRows> choose_motif_rows(const ExampleSet& set, std::int64_t most) {
    std::vector<MotifRows> chosen;
    for (const std::size_t label : commonest_labels_of_test(set)) {
        MotifRows& from = chosen.emplace_back(MotifRows{label});
        for (const Split split : {Split::test, Split::validation, Split::train}) {
            const std::vector<std::int64_t> rows = strong_rows(set, label, split);
            const auto count = std::min(std::ssize(rows), most - std::ssize(from.rows));
            for (std::int64_t i = 0; i < count; ++i)
                from.rows.push_back(rows[static_cast<std::size_t>(i * std::ssize(rows) / count)]);
            from.of_split[static_cast<std::size_t>(split)] = count;
        }
    }
    return chosen;
}

std::vector<LearnedMotifs> learned_motifs(const ExampleSet& set, std::vector<MotifRows> chosen,
                                          const fs::path& model, const std::vector<fs::path>& references,
                                          const std::string& device, int threads) {
    const TemporaryFolder scratch("train-motifs");
    std::vector<LearnedMotifs> all;
    int number = 0;
    for (MotifRows& from : chosen) {
        AttributeSpec spec;
        spec.models = {model};
        spec.labels = fmt::format("index:{}", from.label);
        spec.method = AttributionMethod::input_x_gradient;
        spec.strands = Strands::none;  // half the time
        spec.device = device;
        spec.threads = threads;
        const bool records = references.empty();
        const std::string text = records ? fasta_of(set, from) : bed_of(set, from);
        if (text.empty()) continue;
        fs::path& file = records ? spec.sequences : spec.regions;
        file = scratch.path() / (records ? "rows.fa" : "rows.bed");
        std::ofstream(file) << text;
        if (!records) spec.references = references;
        LearnedMotifs& learned = all.emplace_back(std::move(from));
        learned.motifs = motifs::find_motifs(contributions(spec)).motifs;
        for (motifs::Motif& motif : learned.motifs) {
            motif.name = set.label_table()[learned.from.label].name;
            std::ranges::replace(motif.name, ' ', '_');
            motif.id =
                fmt::format("{}pattern_{}", motif.id.starts_with("negative_") ? "negative_" : "", ++number);
        }
    }
    return all;
}

std::string motifs_html(const std::vector<LearnedMotifs>& learned, const ExampleSet& set,
                        const std::vector<motifs::Motif>& known) {
    std::string logos, none;
    for (const LearnedMotifs& one : learned) {
        const std::string& label = set.label_table()[one.from.label].name;
        if (one.motifs.empty())
            none += fmt::format("<p>None for {} in {}.</p>\n", evaluation::escaped_html(label),
                                searched(one.from));
        for (std::size_t i = 0; i < std::min(most_shown, one.motifs.size()); ++i) {
            const motifs::Motif& motif = one.motifs[i];
            logos += logo_html(
                motif.shares,
                fmt::format("{}{}, {} in {}{}", label,
                            motif.id.starts_with("negative_") ? ", lowers the score" : "",
                            counted(motif.sites, "site"), searched(one.from), nearest_motif(motif, known)));
        }
    }
    if (logos.empty() && none.empty()) return "";
    if (logos.empty()) return "<h2>Motifs that the model learned</h2>" + none;
    return "<h2>Motifs that the model learned</h2><p>Stretches that contribute to the score and are alike, "
           "found as by motifs find. Full height: 2 bits. run/" +
           std::string(learned_file) + " has them.</p>" + none + "<div class=pictures>" + logos + "</div>\n";
}

}  // namespace bigbird::tasks
