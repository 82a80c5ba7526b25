// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/report_motifs.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/scoring/letters/letters.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using examples::ExampleSet, examples::Split, examples::TargetKind;
using motifs::Shares;

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

constexpr int letter_width = 14, height = 60;
constexpr double most_bits = 2;

/// A C G T as outlines in a square of 100, so that a letter can be stretched to any height.
constexpr std::array outlines{"M0 100 38 0H62L100 100H76L69 78H31L24 100ZM37 59H63L50 20Z",
                              "M99 31C92 10 75 0 52 0 20 0 0 20 0 50 0 80 20 100 52 100 75 100 92 90 99 "
                              "69L77 62C73 75 65 81 52 81 34 81 "
                              "23 69 23 50 23 31 34 19 52 19 65 19 73 25 77 38Z",
                              "M99 31C92 10 75 0 52 0 20 0 0 20 0 50 0 80 20 100 52 100 72 100 88 93 99 "
                              "82V45H54V63H77V73C71 78 63 81 53 81 "
                              "34 81 23 69 23 50 23 31 34 19 52 19 65 19 73 25 77 36Z",
                              "M0 0H100V20H62V100H38V20H0Z"};
constexpr std::array colours{"#2e8b57", "#1b6ca8", "#c98a1b", "#d1495b"};

double information(const Shares& place) {
    double bits = most_bits;
    for (const double share : place)
        if (share > 0) bits += share * std::log2(share);
    return std::max(0.0, bits);
}

/// Stacks the letters of a position, with the most common on top.
std::string column(const Shares& place, std::size_t index) {
    constexpr double least = 0.5;  // minimum height of a drawn letter in pixels
    std::array<std::size_t, 4> order{};
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::size_t letter) { return place[letter]; });
    std::string svg;
    double bottom = height;
    for (const std::size_t letter : order) {
        const double size = place[letter] * information(place) / most_bits * height;
        if (size < least) continue;
        bottom -= size;
        svg += fmt::format(
            "<path d='{}' fill='{}' fill-rule=evenodd transform='translate({} {:.1f}) scale({:.3f} "
            "{:.4f})'/>",
            outlines[letter], colours[letter], static_cast<double>(index * letter_width) + 0.5, bottom,
            (letter_width - 1) / 100.0, size / 100);
    }
    return svg;
}

std::string logo(const motifs::Motif& motif, const std::string& caption) {
    const auto width = motif.shares.size() * letter_width;
    std::string letters;
    for (std::size_t i = 0; i < motif.shares.size(); ++i)
        letters += column(motif.shares[i], i);
    return fmt::format(
        "<figure><svg width={0} height={1} viewBox='0 0 {0} {1}'>{2}<line x1=0 y1={3} x2={0} y2={3} "
        "stroke='#999'/></svg><figcaption>{4}</figcaption></figure>\n",
        width, height + 1, letters, height, evaluation::escaped_html(caption));
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

std::string nearest(const motifs::Motif& motif, std::span<const motifs::Motif> known) {
    if (known.empty()) return "";
    const motifs::Similarity best = motifs::compare(motif, known).front();
    const motifs::Motif& target = known[best.target];
    return fmt::format("; most similar: {}{} (p {:.2g})", target.id,
                       target.name.empty() ? "" : " " + target.name, best.p_value);
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
            logos += logo(
                motif, fmt::format("{}{}, {} in {}{}", label,
                                   motif.id.starts_with("negative_") ? ", lowers the score" : "",
                                   counted(motif.sites, "site"), searched(one.from), nearest(motif, known)));
        }
    }
    if (logos.empty() && none.empty()) return "";
    if (logos.empty()) return "<h2>Motifs that the model learned</h2>" + none;
    return "<h2>Motifs that the model learned</h2><p>Stretches that contribute to the score and are alike, "
           "found as by motifs find. Full height: 2 bits. run/" +
           std::string(learned_file) + " has them.</p>" + none + "<div class=pictures>" + logos + "</div>\n";
}

}  // namespace bigbird::tasks
