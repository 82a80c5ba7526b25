// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/merge_scores.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/genome/regions/variant_writer.hpp"
#include "bigbird/outputs/outputs.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using outputs::OutputSpec;

// Parts of some rows, and the same rows in one run.

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(),
                infinite = std::numeric_limits<float>::infinity();

const std::vector<genome::Contig>& merged_contigs() {
    static const std::vector<genome::Contig> contigs{{"2", 20'000'000}, {"1", 10'000'000}};
    return contigs;
}

/// Where row i lies: bins of 200 bp, the first half on contig 1.
using Placing = std::function<genome::Interval(std::int64_t i, std::int64_t rows)>;
genome::Interval bin_of(std::int64_t i, std::int64_t rows) {
    return i < rows / 2 ? genome::Interval{"1", 200 * i, 200 * i + 200}
                        : genome::Interval{"2", 200 * i, 200 * i + 200};
}
/// Rows of 300 bp every 200 bp.
genome::Interval overlapping(std::int64_t i, std::int64_t) {
    return {"2", 200 * i, 200 * i + 300};
}

/// A job: what its parts and its single run have in common.
struct Job {
    std::int64_t rows = 100;
    outputs::Overlap overlap = outputs::Overlap::mean;
    Placing place = bin_of;
    outputs::TableSchema schema = one_label();
    std::optional<double> min_score = 0.3;
    bool has_tracks = true;
};

/// Scores of which each is exact only where every bit is.
std::array<float, 2> scores_of(std::int64_t i) {
    const float special[] = {not_a_number, -not_a_number, infinite, -infinite, -0.0F, 1e-45F, 3.4028235e38F};
    const float thirds = static_cast<float>(i) / 3;
    return {std::nextafter(thirds, infinite), i % 9 < 7 && i % 2 == 1 ? special[i % 7] : 1 / (thirds + 1)};
}

/// Writes the part of the job that `shard` says, or all.
void write_scores(const std::vector<std::filesystem::path>& paths, const Job& job,
                  std::optional<Shard> shard) {
    const OutputSpec spec{.paths = paths,
                          .min_score = job.min_score,
                          .overlap = job.overlap,
                          .tracks = job.has_tracks,
                          .shard = shard};
    outputs::prepare_outputs(spec);
    outputs::Outputs outputs(spec, job.schema, merged_contigs(), 1);
    SegmentCounter segments(job.rows, shard.value_or(Shard{}));
    for (std::int64_t i = 0; i < job.rows; ++i) {
        const std::int64_t segment = segments.next();
        if (!segments.is_mine(segment)) continue;
        rows::Row row{.where = job.place(i, job.rows), .name = "row" + std::to_string(i)};
        row.score = i % 5 == 0 ? "" : "7.50";
        row.n_fraction = 1 / static_cast<double>(i + 1);
        if (i % 4 == 2) row.status = rows::RowStatus::all_n;
        if (i % 16 == 2) {
            row = {.status = rows::RowStatus::malformed, .n_fraction = std::nan("")};
            row.as_read = {"", "007", ".", "NA", "a \"b\", c", "?"};
        }
        const std::array<float, 2> values = scores_of(i);
        outputs.begin_segment(segment);
        outputs.write(rows::fields_of(row), rows::is_scored(row.status)
                                                ? std::span(values).first(job.schema.columns.size())
                                                : std::span<const float>());
    }
    outputs.commit();
}

/// part1.tsv, part2.tsv … in falling order.
std::vector<std::filesystem::path> write_parts(const TempDir& folder, const Job& job, std::int64_t count,
                                               const std::string& ending = ".tsv") {
    std::vector<std::filesystem::path> parts;
    for (std::int64_t number = count; number >= 1; --number) {
        parts.push_back(folder / ("part" + std::to_string(number) + ending));
        write_scores({parts.back()}, job, Shard{number, count});
    }
    return parts;
}

void merge(const std::vector<Part>& parts, const std::vector<std::filesystem::path>& paths) {
    const OutputSpec outputs = outputs::merged_outputs(parts.front(), paths, Overwrite::refuse);
    outputs::merge_scores(parts, outputs, 1);
}

/// Checks that parts of a job make the files that one run writes.
void check_merged(const std::vector<std::string>& names, const Job& job, std::int64_t count,
                  const std::string& ending = ".tsv") {
    const TempDir folder;
    std::vector<std::filesystem::path> whole, merged;
    for (const std::string& name : names) {
        whole.push_back(folder / "whole" / name);
        merged.push_back(folder / "merged" / name);
    }
    std::filesystem::create_directory(folder / "whole");
    std::filesystem::create_directory(folder / "merged");
    write_scores(whole, job, std::nullopt);
    merge(open_parts(write_parts(folder, job, count, ending), 1), merged);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "whole")) {
        DOCTEST_CAPTURE(entry.path());
        DOCTEST_CHECK((read_file(entry.path()) == read_file(folder / "merged" / entry.path().filename())));
        ++files;
    }
    DOCTEST_CHECK(files >= names.size());
}

std::string refusal(const std::vector<Part>& parts, const std::vector<std::filesystem::path>& paths) {
    return message_of<ConfigError>([&] { merge(parts, paths); });
}

/// Says how merging to `output` was refused, of the second part; nothing must have been written.
std::string refusal_of_second(const TempDir& folder, const std::vector<Part>& parts,
                              const std::string& output) {
    const std::string message = message_of<InputError>([&] { merge(parts, {folder / output}); });
    DOCTEST_CHECK(!std::filesystem::exists(folder / output));
    DOCTEST_CHECK(message.starts_with((folder / "part2").string()));
    return message;
}

/// Checks that parts are refused in these words whose record counts more or fewer records than there are.
void check_miscounts(const std::function<std::vector<std::filesystem::path>(const TempDir&)>& write,
                     const std::string& output, const std::string& words) {
    using Segments = std::vector<PartSegment>;
    const std::function<void(Segments&)> changes[] = {
        [](Segments& segments) { segments[3].records += 1; }, [](Segments& segments) { segments.pop_back(); },
        [](Segments& segments) { segments[0].records = 0; }, [](Segments& segments) { segments.clear(); }};
    for (const auto& change : changes) {
        const TempDir folder;
        std::vector<Part> parts = open_parts(write(folder), 1);
        change(parts[1].record.segments);
        const std::string message = refusal_of_second(folder, parts, output);
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(message.find(words) != std::string::npos);
    }
}

const std::vector<std::string> all_formats{"s.tsv",      "s.tsv.gz", "s.csv",        "s.csv.gz",
                                           "s.long.tsv", "s.npy",    "s.h5",         "s.{index}.bedgraph",
                                           "s.bdg.gz",   "s.bw",     "s.long.tsv.gz"};

}  // namespace

DOCTEST_TEST_CASE("merge scores: every format has the bytes of one run, all at once") {
    for (const std::int64_t count : {1, 2, 3, 7}) {
        DOCTEST_CAPTURE(count);
        check_merged(all_formats, {.rows = 2000}, count, count == 2 ? ".tsv.gz" : ".tsv");
    }
    check_merged(all_formats, {.rows = 3}, 5);  // two parts are empty
    check_merged(all_formats, {.rows = 0}, 2);
    check_merged({"s.npy", "s.h5", "s.tsv", "s.long.tsv", "{index}.bw"},
                 {.rows = 500, .schema = small_layout()}, 3);
    check_merged({"s.npy", "s.tsv"}, {.min_score = {}, .has_tracks = false}, 2);
}

DOCTEST_TEST_CASE("merge scores: HDF5 beyond one chunk, and beyond a small file") {
    for (const std::int64_t rows : {9000, 70'000})
        check_merged({"s.h5"}, {.rows = rows}, 3);
}

DOCTEST_TEST_CASE("merge scores: a track per label, of rows that overlap across parts") {
    for (const auto overlap : {outputs::Overlap::mean, outputs::Overlap::max})
        check_merged({"{label}.bedgraph", "{index}.bedgraph"},
                     {.rows = 1200, .overlap = overlap, .place = overlapping, .schema = small_layout()}, 3);
    check_merged({"s.bw"}, {.rows = 1200, .place = overlapping}, 2);
}

DOCTEST_TEST_CASE("merge scores: a bigWig of more segments of a contig than libBigWig takes at once") {
    const auto on_one = [](std::int64_t i, std::int64_t) { return genome::Interval{"2", 3 * i, 3 * i + 3}; };
    check_merged({"s.bw"}, {.rows = 200'000, .place = on_one}, 2);
}

DOCTEST_TEST_CASE("merge scores: a part says which part it is, and keeps what a table does not") {
    const TempDir folder;
    write_scores({folder / "p.tsv"}, {.rows = 8, .schema = small_layout()}, Shard{1, 1});
    const std::string text = read_file(folder / "p.tsv");
    DOCTEST_CAPTURE(text);
    DOCTEST_CHECK(text.find("\n##shard=1/1\n#chrom") != std::string::npos);
    DOCTEST_CHECK(text.find("\t-nan\n") != std::string::npos);
    DOCTEST_CHECK(text.find("\n\t007\t.\tNA\ta \"b\", c\t?\tmalformed\tnan\tNA\tNA\n") != std::string::npos);
    DOCTEST_CHECK(text.find("\trow5\t\t.\tok\t") != std::string::npos);
}

DOCTEST_TEST_CASE("merge scores: formats that need other parts are refused before the parts are read") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, {.min_score = {}}, 2), 1);
    std::filesystem::remove(parts[1].path);
    const auto check = [&](const std::string& name, const std::string& words) {
        const std::string message = refusal(parts, {folder / "m.tsv", folder / name});
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(message.starts_with((folder / name).string() + ": "));
        DOCTEST_CHECK(message.find(words) != std::string::npos);
        DOCTEST_CHECK(!std::filesystem::exists(folder / "m.tsv"));
    };
    check("m.txt", "the ending tells the format of scores");
    check("m.long.tsv", "needs parts that were made with --min-score");
    check("m.vcf.gz", "needs parts of predict-variants that end in .vcf.gz or .bcf");
    write_file(folder / "m.npy", "mine");
    check("m.npy", "exists already");
    DOCTEST_CHECK(read_file(folder / "m.npy") == "mine");
}

DOCTEST_TEST_CASE("merge scores: tracks need places, and a name per label") {
    const TempDir folder;
    std::vector<Part> parts = open_parts(write_parts(folder, {.schema = small_layout()}, 1), 1);
    DOCTEST_CHECK(refusal(parts, {folder / "m.bw"}).find("put {label} into the name") != std::string::npos);
    const TempDir without;
    parts = open_parts(write_parts(without, {.has_tracks = false}, 1), 1);
    DOCTEST_CHECK(refusal(parts, {folder / "m.bw"}).find("a track needs scores of places") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("merge scores: a record of other rows than there are") {
    for (const char* ending : {".tsv", ".tsv.gz"})
        check_miscounts([&](const TempDir& folder) { return write_parts(folder, {}, 2, ending); }, "m.h5",
                        "holds other rows than its .part.json counts");
}

DOCTEST_TEST_CASE("merge scores: a row that does not fit the record is named by its line") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, {.schema = small_layout()}, 2), 1);
    const std::string good = read_file(folder / "part2.tsv"), row = "1\t200\t400\trow1\t7.50\t.\tok\t0.5\t";
    const std::size_t at = good.find(row), end = good.find('\n', at);
    DOCTEST_REQUIRE(at != std::string::npos);
    for (const std::string& text :
         {row + "0.25", row + "0.25\t0.5\t0.5", row + "0.25\tx", row + "x\t0.5", std::string("1\t200"),
          std::string(), std::string("1\tx\t400\trow1\t7.50\t.\tok\t0.5\t0.25\t0.5"),
          std::string("1\t200\t400\trow1\t7.50\t.\tok\tx\t0.25\t0.5")}) {
        DOCTEST_CAPTURE(text);
        std::string bad = good;
        write_file(folder / "part2.tsv", bad.replace(at, end - at, text));
        DOCTEST_CHECK(refusal_of_second(folder, parts, "m.tsv")
                          .ends_with("part2.tsv:4: is no row as the part's .part.json says: one of the two "
                                     "was changed"));
    }
}

DOCTEST_TEST_CASE("merge scores: a damaged record is refused") {
    const TempDir folder;
    std::vector<Part> parts = open_parts(write_parts(folder, {}, 1), 1);
    parts[0].record.run.erase("columns");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      merge(parts, {folder / "m.bw"});
                  }).find("part1.tsv.part.json: is damaged: ") != std::string::npos);
}

DOCTEST_TEST_CASE("merge scores: a long table of parts without an effect is refused") {
    const TempDir folder;
    outputs::TableSchema schema = small_layout();
    schema.effect = "log_odds";
    schema.columns[0].quantity = schema.columns[1].quantity = "ref";
    outputs::Outputs part({.paths = {folder / "p.tsv"}, .min_score = 0, .shard = Shard{1, 1}}, schema,
                          merged_contigs(), 1);
    part.commit();
    const std::array paths{folder / "p.tsv"};
    DOCTEST_CHECK(refusal(open_parts(paths, 1), {folder / "m.long.tsv"}).find("add one of them to --write") !=
                  std::string::npos);
}

namespace {

/// Writes records of a VCF with a number in INFO: all, or part I of N.
void write_variants(const std::filesystem::path& path, std::optional<Shard> shard) {
    genome::VariantReader reader(test_data("variants/1000g.chr22.vcf.gz"));
    const auto header = reader.keep_records(
        std::vector<std::string>{"##INFO=<ID=MOST,Number=1,Type=Float,Description=\"m\">"});
    genome::VariantWriter writer(path, Overwrite::refuse, header, 1);
    PartRecord record{.kind = path.extension() == ".bcf" ? outputs::part_of_bcf : outputs::part_of_vcf,
                      .shard = shard.value_or(Shard{}),
                      .run = to_json(outputs::ScoreRun{.schema = small_layout()})};
    for (std::int64_t i = 0; const auto variant = reader.next(); ++i) {
        const std::int64_t segment = i / 10;
        if (segment % record.shard.count != record.shard.number - 1) continue;
        if (i % 10 == 0) record.segments.push_back({segment, 0});
        ++record.segments.back().records;
        genome::set_info(*variant, *header,
                         std::vector<genome::VariantField>{{"MOST", {}, {1 / static_cast<float>(i + 3)}}});
        writer.write(*variant);
    }
    std::vector<PendingOutput*> pending;
    writer.finish(pending);
    std::unique_ptr<PendingOutput> json;
    if (shard) {
        const auto file = std::ranges::find(pending, path, [](const auto* p) { return p->target(); });
        json = pending_part_record(std::move(record), **file);
        pending.push_back(json.get());
    }
    commit_together(pending);
}

std::vector<std::filesystem::path> write_variant_parts(const TempDir& folder, const std::string& ending) {
    std::vector<std::filesystem::path> parts;
    for (const std::int64_t number : {1, 2}) {
        parts.push_back(folder / ("part" + std::to_string(number) + ending));
        write_variants(parts.back(), Shard{number, 2});
    }
    return parts;
}

}  // namespace

DOCTEST_TEST_CASE("merge variants: VCF and its index have the bytes of one run, as of BCF") {
    const TempDir folder;
    std::filesystem::create_directory(folder / "whole");
    for (const char* name : {"v.vcf", "v.vcf.gz", "v.bcf"})
        write_variants(folder / "whole" / name, std::nullopt);
    for (const std::string ending : {".vcf", ".vcf.gz", ".bcf"}) {
        DOCTEST_CAPTURE(ending);
        const std::string out = "of" + ending;
        std::filesystem::create_directory(folder / out);
        std::vector<std::filesystem::path> paths{folder / out / "v.vcf", folder / out / "v.vcf.gz"};
        if (ending == ".bcf") paths.push_back(folder / out / "v.bcf");
        merge(open_parts(write_variant_parts(folder, ending), 1), paths);
        for (const auto& entry : std::filesystem::directory_iterator(folder / out)) {
            DOCTEST_CAPTURE(entry.path());
            DOCTEST_CHECK((read_file(entry.path()) == read_file(folder / "whole" / entry.path().filename())));
        }
        DOCTEST_CHECK(std::filesystem::exists(folder / out / "v.vcf.gz.tbi"));
    }
}

DOCTEST_TEST_CASE("merge variants: VCF makes no table, and no BCF, whose numbers have more digits") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_variant_parts(folder, ".vcf.gz"), 1);
    DOCTEST_CHECK(refusal(parts, {folder / "m.h5"})
                      .ends_with("m.h5: parts in VCF or BCF merge to VCF or BCF only; for other formats make "
                                 "parts that end in .tsv.gz"));
    DOCTEST_CHECK(refusal(parts, {folder / "m.bcf"}).find("m.bcf: parts in VCF have six digits") !=
                  std::string::npos);
    write_file(folder / "m.vcf.gz.tbi", "mine");
    DOCTEST_CHECK(refusal(parts, {folder / "m.vcf.gz"}).find("m.vcf.gz.tbi: exists already") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("merge variants: a record of other variants than there are") {
    check_miscounts([](const TempDir& folder) { return write_variant_parts(folder, ".vcf"); }, "m.vcf",
                    "holds other records than its .part.json counts");
}
