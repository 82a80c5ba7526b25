// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/import_chromatin.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/build/bin_regions.hpp"
#include "bigbird/examples/build/mat/deepsea_mat.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/deepsea_labels.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t rows_per_slab = 4096;
constexpr std::int64_t deepsea_bin = 200;
constexpr std::size_t deepsea_train_lines = 2'200'000;
constexpr double most_mismatches = 0.01;

/// Bins, their splits and labels, in the input's order.
struct Bins {
    rows::LabelTable labels{};
    std::vector<genome::Interval> places{};
    std::vector<Split> splits{};
    BitRows bits{0};
};

/// DeepSEA's labels, or label0, label1, ... for another number.
rows::LabelTable unnamed_labels(std::size_t count) {
    if (count == rows::deepsea_labels().size()) return rows::deepsea_labels();
    std::vector<rows::Label> labels;
    for (std::size_t i = 0; i < count; ++i)
        labels.push_back({".", "label" + std::to_string(i)});
    return rows::LabelTable(std::move(labels));
}

/// The labels that a table's header names.
rows::LabelTable read_header(genome::TextInput& input) {
    std::string line;
    do {
        if (!input.next(line)) throw InputError("is empty", input.path());
    } while (line.starts_with("##"));
    const auto fields = rows::split_fields(line, '\t');
    const std::string_view first = fields[0].starts_with('#') ? fields[0].substr(1) : fields[0];
    const bool head = fields.size() > 3 && (first == "chrom" || first == "chr" || first == "contig") &&
                      fields[1] == "start" && fields[2] == "end";
    if (!head) {
        throw input.fault(
            "begins with no header; '#chrom start end' and the labels' names, tab-separated, are needed");
    }
    std::vector<rows::Label> labels;
    for (std::size_t i = 3; i < fields.size(); ++i)
        labels.push_back({".", std::string(fields[i])});
    return rows::LabelTable(std::move(labels));
}

Bins read_table(const ImportOptions& options, const genome::ReferenceGenome& reference,
                const HoldOuts& hold_outs) {
    genome::TextInput input(options.table);
    Bins bins{.labels = read_header(input)};
    bins.bits = BitRows(bins.labels.size());
    std::string line;
    while (input.next(line)) {
        if (line.empty() || line.starts_with('#')) continue;
        const auto fields = rows::split_fields(line, '\t');
        if (fields.size() != bins.labels.size() + 3) {
            throw input.fault("has " + counted(fields.size(), "column") + " where the header has " +
                              std::to_string(bins.labels.size() + 3));
        }
        const auto begin = parse_number<std::int64_t>(fields[1]), end = parse_number<std::int64_t>(fields[2]);
        const auto contig = reference.find(fields[0]);
        if (!begin || !end || *begin < 0 || *begin >= *end) throw input.fault("start and end are no bin");
        if (!contig) throw input.fault("contig '" + shortened(fields[0]) + "' is not in the reference");
        const genome::Contig& known = reference.contigs()[*contig];
        if (*end > known.length) throw input.fault("reaches past the end of contig '" + known.name + "'");
        bins.bits.resize(bins.places.size() + 1);
        for (std::size_t label = 0; label < bins.labels.size(); ++label) {
            const std::string_view value = fields[label + 3];
            if (value != "0" && value != "1")
                throw input.fault("label '" + std::string(value) + "' is neither 0 nor 1");
            if (value == "1") bins.bits.set(bins.places.size(), label);
        }
        bins.places.push_back({known.name, *begin, *end});
        bins.splits.push_back(hold_outs.split_of(bins.places.back()));
    }
    if (bins.places.empty()) throw InputError("holds no bins", options.table);
    return bins;
}

/// The intervals of a .mat file's rows, from the lines of --coordinates.
std::vector<genome::Interval> places_of(Split split, std::int64_t rows, std::int64_t train_rows,
                                        const std::vector<genome::Interval>& lines,
                                        const fs::path& coordinates) {
    std::vector<genome::Interval> places;
    if (split == Split::test) {
        for (const genome::Interval& line : lines) {
            std::string_view contig = line.contig;
            if (contig.starts_with("chr")) contig.remove_prefix(3);
            if (contig == "8" || contig == "9") places.push_back(line);
        }
    } else {
        const std::size_t first = split == Split::train ? 0
                                  : train_rows > 0      ? static_cast<std::size_t>(train_rows)
                                                        : deepsea_train_lines;
        for (std::size_t i = first; i < lines.size() && std::ssize(places) < rows; ++i)
            places.push_back(lines[i]);
    }
    if (std::ssize(places) != rows) {
        throw InputError("has " + std::to_string(places.size()) + " lines for the " + std::to_string(rows) +
                             " rows of " + std::string(to_string(split)) +
                             "; is it the allTFs.pos.bed of these files?",
                         coordinates);
    }
    return places;
}

/// Reads the .mat files' labels and compares their sequences with the reference.
Bins read_mats(const ImportOptions& options, const genome::ReferenceGenome& reference) {
    std::vector<genome::Interval> lines;
    genome::BedReader coordinates(options.coordinates);
    while (auto record = coordinates.next()) {
        // Contigs that the reference lacks are reported where needed.
        genome::place(record->where, reference);
        lines.push_back(std::move(record->where));
    }
    Bins bins;
    std::int64_t train_rows = 0;
    for (const auto& [split, path] : options.mats) {
        DeepseaMat mat(path, rows_per_slab);
        if (bins.labels.size() == 0) {
            bins.labels = unnamed_labels(mat.labels());
            bins.bits = BitRows(mat.labels());
        } else if (bins.labels.size() != mat.labels()) {
            throw InputError("has " + counted(mat.labels(), "label") + ", the file before it " +
                                 std::to_string(bins.labels.size()),
                             path);
        }
        if (split == Split::train) train_rows = mat.rows();
        const auto places = places_of(split, mat.rows(), train_rows, lines, options.coordinates);
        Progress progress("reading " + path.filename().string(), "rows", mat.rows());
        std::int64_t compared = 0, different = 0;
        for (std::int64_t begin = 0; begin < mat.rows(); begin += rows_per_slab) {
            stop_if_asked();
            const DeepseaMat::Slab slab = mat.next();
            for (std::size_t i = 0; i < slab.sequences.size(); ++i) {
                const genome::Interval& bin = places[static_cast<std::size_t>(begin) + i];
                if (!reference.find(bin.contig)) {
                    throw InputError("contig '" + bin.contig + "' is not in the reference",
                                     options.coordinates);
                }
                const std::string here = reference.fetch(genome::window_around(bin, mat.bases()));
                ++compared;
                const bool same = std::ranges::equal(
                    here, slab.sequences[i], [](char a, char b) { return a == b || a == 'N' || b == 'N'; });
                different += same ? 0 : 1;
                bins.places.push_back(bin);
                bins.splits.push_back(split);
                bins.bits.append(slab.bits.row(i));
            }
            if (static_cast<double>(different) > most_mismatches * static_cast<double>(compared)) {
                throw InputError(
                    std::to_string(different) + " of the first " + std::to_string(compared) +
                        " sequences differ from the reference at --coordinates; they are hg19's (GRCh37's)",
                    path);
            }
            progress.update(compared);
        }
        progress.finish();
        if (different > 0) {
            log_warning("{}: {} of {} sequences differ from the reference", path.string(), different,
                        compared);
        }
    }
    return bins;
}

Json inputs_of(const ImportOptions& options) {
    Json inputs = Json::array();
    const auto add = [&](const char* role, const fs::path& path) {
        inputs.push_back({{"role", role}, {"sha256", checksum_of_input(path)}});
    };
    for (const fs::path& reference : options.references)
        add("reference", reference);
    if (!options.table.empty()) add("table", options.table);
    for (const auto& [split, path] : options.mats)
        add((std::string(to_string(split)) + ".mat").c_str(), path);
    if (!options.coordinates.empty()) add("coordinates", options.coordinates);
    return inputs;
}

void say(const ExampleWriter& writer, std::int64_t left_out_n, std::int64_t left_out_shared) {
    if (left_out_n > 0) log_info("left out {} whose window has too much N", counted(left_out_n, "bin"));
    if (left_out_shared > 0)
        log_info("left out {} whose window reaches into one that is held out",
                 counted(left_out_shared, "bin"));
    log_info("{}: {} for training, {} for validation, {} for test", counted(writer.rows(), "bin"),
             writer.rows(Split::train), writer.rows(Split::validation), writer.rows(Split::test));
}

/// Writes rows with positions on a reference.
void write_placed(const ImportOptions& options, const fs::path& folder, const Bins& bins,
                  const genome::ReferenceGenome& reference, const Json& held_out) {
    std::vector<SplitWindow> windows;
    for (std::size_t i = 0; i < bins.places.size(); ++i)
        windows.push_back({genome::window_around(bins.places[i], options.window), bins.splits[i]});
    std::vector<bool> kept = without_shared_windows(windows);
    const std::int64_t left_out_shared = std::ranges::count(kept, false);
    std::int64_t left_out_n = 0;
    std::map<std::string, std::vector<std::size_t>> rows_on;
    for (std::size_t i = 0; i < kept.size(); ++i)
        if (kept[i]) rows_on[windows[i].window.contig].push_back(i);
    TwoBitWriter store = store_of_contigs(folder, reference);
    for (const genome::Contig& contig : reference.contigs()) {
        const auto found = rows_on.find(contig.name);
        if (found == rows_on.end()) continue;
        stop_if_asked();
        ContigSequence sequence(reference, contig);
        for (const std::size_t i : found->second) {
            const genome::Interval& window = windows[i].window;
            const std::int64_t n = sequence.count_n(window.begin, window.end);
            if (static_cast<double>(n) > most_n * static_cast<double>(window.size())) {
                kept[i] = false;
                ++left_out_n;
                continue;
            }
            sequence.keep(window);
        }
        store.add(contig.name, sequence.kept());
    }
    store.finish();
    ExampleWriter writer(folder, Task::chromatin, rows::centred_bounds(options.window), bins.labels.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
        if (kept[i])
            writer.add({bins.places[i], ".", genome::Strand::none, bins.splits[i]}, bins.bits.row(i));
    if (writer.rows() == 0) throw InputError("no bin is left: every window has too much N");
    writer.finish(bins.labels, {{"parameters", {{"max_n_fraction", most_n}, {"held_out", held_out}}},
                                {"inputs", inputs_of(options)},
                                {"contigs", contigs_json(reference.contigs())}});
    say(writer, left_out_n, left_out_shared);
}

/// Writes rows with their own sequences: each is a contig of the store.
void write_unplaced(const ImportOptions& options, const fs::path& folder) {
    std::deque<DeepseaMat> mats;
    std::vector<std::string> names;
    const auto name_of = [](Split split, std::int64_t row) {
        return std::string(to_string(split)) + "_" + std::to_string(row + 1);
    };
    for (const auto& [split, path] : options.mats) {
        mats.emplace_back(path, rows_per_slab);
        if (mats.back().labels() != mats.front().labels() || mats.back().bases() != mats.front().bases())
            throw InputError("has other labels or sequences of another length than the file before it", path);
        for (std::int64_t row = 0; row < mats.back().rows(); ++row)
            names.push_back(name_of(split, row));
    }
    const std::int64_t bases = mats.front().bases();
    const rows::LabelTable labels = unnamed_labels(mats.front().labels());
    const bool long_offsets =
        std::ssize(names) * (bases / 4 + 300) > std::int64_t{std::numeric_limits<std::uint32_t>::max()};
    TwoBitWriter store(folder / store_name, names, long_offsets);
    ExampleWriter writer(folder, Task::chromatin, rows::centred_bounds(bases), labels.size());
    std::int64_t left_out = 0;
    Progress progress("reading", "rows", std::ssize(names));
    for (std::size_t m = 0; m < mats.size(); ++m) {
        for (std::int64_t begin = 0; begin < mats[m].rows(); begin += rows_per_slab) {
            stop_if_asked();
            const DeepseaMat::Slab slab = mats[m].next();
            for (std::size_t i = 0; i < slab.sequences.size(); ++i) {
                if (genome::n_fraction(slab.sequences[i]) > most_n) {
                    ++left_out;
                    continue;
                }
                const Split split = options.mats[m].first;
                const std::string name = name_of(split, begin + static_cast<std::int64_t>(i));
                store.add(name, slab.sequences[i]);
                const genome::Interval bin =
                    genome::window_around({name, 0, bases}, std::min(deepsea_bin, bases));
                writer.add({bin, ".", genome::Strand::none, split}, slab.bits.row(i), false);
            }
            progress.update(writer.rows() + left_out);
        }
    }
    progress.finish();
    if (writer.rows() == 0) throw InputError("no row is left: every sequence has too much N");
    store.finish();
    writer.finish(labels, {{"parameters", {{"max_n_fraction", most_n}}},
                           {"inputs", inputs_of(options)},
                           {"contigs", Json::array()}});
    say(writer, left_out, 0);
}

/// Throws ConfigError if two names, of splits or of files, are one file.
void require_distinct(const std::vector<std::pair<Split, fs::path>>& mats) {
    for (auto mat = mats.begin(); mat != mats.end(); ++mat) {
        for (auto before = mats.begin(); before != mat; ++before) {
            std::error_code missing;  // a missing file is reported when it is read
            if (!fs::equivalent(before->second, mat->second, missing)) continue;
            throw ConfigError(mat->second.string() + ": is given to --mat as " +
                              std::string(to_string(before->first)) + " and again as " +
                              std::string(to_string(mat->first)) + "; a file is one split");
        }
    }
}

}  // namespace

void ImportOptions::validate() const {
    const auto require = [](bool fine, const char* what) {
        if (!fine) throw ConfigError(what);
    };
    require(table.empty() != mats.empty(), "give either --peaks, --table or --mat");
    require_distinct(mats);
    require(coordinates.empty() || !mats.empty(), "--coordinates belongs to --mat");
    require(!references.empty() || (!mats.empty() && coordinates.empty()),
            "--reference is needed, out of which windows are cut");
    require(mats.empty() || (validation.empty() && test.empty()),
            "--validation and --test do not go with --mat, whose files are splits already");
    require(window > 0, "--window must be at least 1");
}

void import_chromatin(const ImportOptions& options, const fs::path& folder) {
    options.validate();
    if (!options.mats.empty() && options.coordinates.empty()) {
        log_info("without --coordinates the windows are the .mat files' own sequences");
        write_unplaced(options, folder);
        return;
    }
    const auto reference = genome::open_references(options.references);
    if (options.table.empty()) {
        write_placed(options, folder, read_mats(options, *reference), *reference, "as the .mat files");
    } else {
        const HoldOuts hold_outs(*reference, options.validation, options.test);
        write_placed(options, folder, read_table(options, *reference, hold_outs), *reference,
                     hold_outs.describe());
    }
}

}  // namespace bigbird::examples
