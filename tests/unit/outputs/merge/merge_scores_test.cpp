// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/merge_scores.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/outputs.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using Id = outputs::Hdf5Handle;

// Parts of some rows, and the same rows in one run.

namespace {

const std::vector<genome::Contig>& merged_contigs() {
    static const std::vector<genome::Contig> contigs{{"2", 1'000'000}, {"1", 500'000}};
    return contigs;
}

/// Where row i lies: bins of 200 bp, the first half on contig 1.
using Placing = std::function<genome::Interval(std::int64_t i, std::int64_t rows)>;
genome::Interval bin_of(std::int64_t i, std::int64_t rows) {
    return i < rows / 2 ? genome::Interval{"1", 200 * i, 200 * i + 200}
                        : genome::Interval{"2", 200 * i, 200 * i + 200};
}

/// Writes the part of `rows` rows that `shard` says, or all.
void write_scores(const std::filesystem::path& path, std::int64_t rows, std::optional<Shard> shard,
                  outputs::Overlap overlap = outputs::Overlap::mean, const Placing& place = bin_of) {
    const outputs::OutputSpec spec{.paths = {path}, .min_score = 0.3, .overlap = overlap, .shard = shard};
    const std::vector<std::size_t> one{0};
    outputs::Outputs outputs(spec, small_layout(), one, merged_contigs(), 1);
    SegmentCounter segments(rows, shard.value_or(Shard{}));
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t segment = segments.next();
        if (!segments.is_mine(segment)) continue;
        const bool scored = i % 4 != 2;
        const rows::Row row{.where = place(i, rows),
                            .name = "row" + std::to_string(i),
                            .status = scored ? rows::RowStatus::ok : rows::RowStatus::all_n,
                            .n_fraction = scored ? 0.125 : 1};
        const std::vector<float> values{static_cast<float>(i) / 1024, static_cast<float>(i % 10) / 10};
        outputs.begin_segment(segment);
        outputs.write(rows::fields_of(row),
                      scored ? std::span<const float>(values) : std::span<const float>());
    }
    outputs.commit();
}

/// part1, part2 … beside `whole`, in falling order.
std::vector<std::filesystem::path> write_parts(const TempDir& folder, const std::string& ending,
                                               std::int64_t rows, std::int64_t count,
                                               outputs::Overlap overlap = outputs::Overlap::mean,
                                               const Placing& place = bin_of) {
    std::vector<std::filesystem::path> parts;
    for (std::int64_t number = count; number >= 1; --number) {
        parts.push_back(folder / ("part" + std::to_string(number) + ending));
        write_scores(parts.back(), rows, Shard{number, count}, overlap, place);
    }
    return parts;
}

/// Whether parts of these rows make the file that one run writes.
bool merges(const std::string& ending, std::int64_t rows, std::int64_t count,
            outputs::Overlap overlap = outputs::Overlap::mean, const Placing& place = bin_of) {
    const TempDir folder;
    write_scores(folder / ("whole" + ending), rows, std::nullopt, overlap, place);
    const auto paths = write_parts(folder, ending, rows, count, overlap, place);
    const std::vector<Part> parts = open_parts(paths, 1);
    outputs::merge_scores(parts, folder / ("merged" + ending), Overwrite::refuse, 1);
    return read_file(folder / ("merged" + ending)) == read_file(folder / ("whole" + ending));
}

/// Merges `parts` and says how that was refused, naming the second; nothing must have been written.
std::string refusal_of_second(const TempDir& folder, const std::vector<Part>& parts,
                              const std::string& ending) {
    const std::filesystem::path output = folder / ("refused" + ending);
    const std::string message =
        message_of<InputError>([&] { outputs::merge_scores(parts, output, Overwrite::refuse, 1); });
    DOCTEST_CHECK(!std::filesystem::exists(output));
    DOCTEST_CHECK(message.starts_with((folder / "part2").string()));
    return message;
}

/// Checks that parts are refused in these words whose record counts more or fewer rows than there are.
void check_miscounts(const std::string& ending, const std::string& words) {
    using Segments = std::vector<PartSegment>;
    const std::function<void(Segments&)> changes[] = {
        [](Segments& segments) { segments[3].records += 1; }, [](Segments& segments) { segments.pop_back(); },
        [](Segments& segments) { segments[0].records = 0; }, [](Segments& segments) { segments.clear(); }};
    for (const auto& change : changes) {
        const TempDir folder;
        std::vector<Part> parts = open_parts(write_parts(folder, ending, 100, 2), 1);
        change(parts[1].record.segments);
        const std::string message = refusal_of_second(folder, parts, ending);
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(message.find(words) != std::string::npos);
    }
}

}  // namespace

DOCTEST_TEST_CASE("merge scores: an output of another format is refused") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".tsv", 10, 2), 1);
    for (const char* name : {"m.h5", "m.long.tsv", "m.txt", "-"}) {
        const auto path = std::string(name) == "-" ? std::filesystem::path("-") : folder / name;
        DOCTEST_CHECK(message_of<ConfigError>([&] {
                          outputs::merge_scores(parts, path, Overwrite::refuse, 1);
                      }).find("the parts are of the format table") != std::string::npos);
    }
}

DOCTEST_TEST_CASE("merge scores: an output that exists stays") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".tsv", 10, 2), 1);
    write_file(folder / "m.tsv", "mine");
    DOCTEST_CHECK_THROWS_AS(outputs::merge_scores(parts, folder / "m.tsv", Overwrite::refuse, 1),
                            ConfigError);
    DOCTEST_CHECK(read_file(folder / "m.tsv") == "mine");
}

DOCTEST_TEST_CASE("merge lines: tables and long tables have the bytes of one run") {
    for (const char* ending : {".tsv", ".tsv.gz", ".csv", ".csv.gz", ".long.tsv", ".long.tsv.gz"}) {
        DOCTEST_CAPTURE(ending);
        for (const std::int64_t count : {1, 2, 3, 7})
            DOCTEST_CHECK(merges(ending, 2000, count));
        DOCTEST_CHECK(merges(ending, 3, 5));  // two parts are empty
        DOCTEST_CHECK(merges(ending, 0, 2));
    }
}

DOCTEST_TEST_CASE("merge lines: a part says which part it is") {
    const TempDir folder;
    write_scores(folder / "p.tsv", 10, Shard{1, 2});
    DOCTEST_CHECK(read_file(folder / "p.tsv").find("\n##shard=1/2\n#chrom") != std::string::npos);
}

DOCTEST_TEST_CASE("merge lines: a record of other lines than there are") {
    for (const char* ending : {".tsv", ".tsv.gz", ".csv"}) {
        DOCTEST_CAPTURE(ending);
        check_miscounts(ending, "holds other lines than its .part.json counts");
    }
}

DOCTEST_TEST_CASE("merge npy: matrix and side tables have the bytes of one run") {
    for (const std::int64_t count : {1, 2, 5}) {
        const TempDir folder;
        write_scores(folder / "whole.npy", 1500, std::nullopt);
        const auto paths = write_parts(folder, ".npy", 1500, count);
        outputs::merge_scores(open_parts(paths, 1), folder / "merged.npy", Overwrite::refuse, 1);
        for (const char* ending : {".npy", ".rows.tsv", ".labels.tsv"}) {
            DOCTEST_CAPTURE(ending);
            DOCTEST_CHECK(read_file(folder / (std::string("whole") + ending)) ==
                          read_file(folder / (std::string("merged") + ending)));
        }
    }
}

DOCTEST_TEST_CASE("merge npy: a record of other rows than there are") {
    check_miscounts(".npy", "is not the matrix of ");
}

DOCTEST_TEST_CASE("merge npy: numbers of another type, order or shape are refused, not read as float32") {
    const TempDir folder;
    std::vector<Part> parts = open_parts(write_parts(folder, ".npy", 100, 2), 1);
    const std::string whole = read_file(folder / "part2.npy"), header = npy_header("<f4", 50, 2);
    DOCTEST_REQUIRE(whole.starts_with(header));
    const auto refused = [&](const std::string& content) {
        write_file(folder / "part2.npy", content);
        const std::string message = refusal_of_second(folder, parts, ".npy");
        DOCTEST_CHECK(message.find("part2.npy: is not the matrix of 50 rows and 2 columns of float32 that "
                                   "its .part.json counts: one of the two was changed") != std::string::npos);
    };
    const std::string numbers = whole.substr(header.size());
    for (const char* type : {"<f8", ">f4", "<i4", "<f2"})
        refused(npy_header(type, 50, 2) + numbers);
    std::string columns_first = whole;
    columns_first.replace(columns_first.find("False"), 5, "True ");
    refused(columns_first);
    refused(npy_header("<f4", 25, 4) + numbers);
    refused(whole + "more");
    refused("");
}

namespace {

/// Rows of 300 bp every 200 bp.
genome::Interval overlapping(std::int64_t i, std::int64_t) {
    return {"2", 200 * i, 200 * i + 300};
}

/// The place in a bigWig of the highest byte of the id of the first contig that it names. The place of the
/// tree of names stands at 8 and, 8 bytes into the tree, the length of a name; names follow 36 bytes in.
std::size_t place_of_contig_id(const std::string& bytes) {
    std::uint64_t tree = 0;
    std::memcpy(&tree, bytes.data() + 8, sizeof tree);
    std::uint32_t name_size = 0;
    std::memcpy(&name_size, bytes.data() + tree + 8, sizeof name_size);
    return tree + 36 + name_size + 3;
}

}  // namespace

DOCTEST_TEST_CASE("merge tracks: the bytes of one run") {
    for (const char* ending : {".bedgraph", ".bedgraph.gz", ".bw"}) {
        DOCTEST_CAPTURE(ending);
        for (const std::int64_t count : {1, 2, 5})
            DOCTEST_CHECK(merges(ending, 1200, count));
    }
}

DOCTEST_TEST_CASE("merge tracks: more segments of a contig than come at once") {
    const auto on_one = [](std::int64_t i, std::int64_t) { return genome::Interval{"2", 3 * i, 3 * i + 3}; };
    DOCTEST_CHECK(merges(".bw", 200'000, 2, outputs::Overlap::mean, on_one));
}

DOCTEST_TEST_CASE("merge tracks: a bigWig that is none, and one on which the library crashes") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".bw", 100, 2), 1);
    std::string bytes = read_file(folder / "part2.bw");
    write_file(folder / "part2.bw", "no bigWig");
    DOCTEST_CHECK(refusal_of_second(folder, parts, ".bw").ends_with("part2.bw: is no bigWig"));
    bytes.at(place_of_contig_id(bytes)) = '\x7f';  // which the library writes to memory by
    write_file(folder / "part2.bw", bytes);
    DOCTEST_CHECK(refusal_of_second(folder, parts, ".bw")
                      .ends_with("part2.bw: is damaged: the library that reads it ended by signal 11 "
                                 "(Segmentation fault)"));
}

DOCTEST_TEST_CASE("merge tracks: the largest of rows that overlap can be merged, their mean cannot") {
    DOCTEST_CHECK(merges(".bedgraph", 1200, 1, outputs::Overlap::mean, overlapping));
    const TempDir folder;
    const auto paths = write_parts(folder, ".bw", 1200, 2, outputs::Overlap::mean, overlapping);
    const std::string message = message_of<InputError>(
        [&] { outputs::merge_scores(open_parts(paths, 1), folder / "m.bw", Overwrite::refuse, 1); });
    DOCTEST_CHECK(message.find("rows of two parts overlap at 2:") != std::string::npos);
}

namespace {

/// A dataset as a sink makes it, but for what a test changes.
struct Dataset {
    hid_t type = H5T_IEEE_F32LE;
    std::vector<hsize_t> shape{50, 2};
    bool chunks = true, shuffle = true, deflate = true, fletcher = false;
    std::string external{}, source{};  ///< file that its numbers lie in; of a virtual dataset

    void put(hid_t file, const char* name) const {
        const int rank = static_cast<int>(shape.size());
        const Id space(H5Screate_simple(rank, shape.data(), nullptr), H5Sclose),
            properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        if (chunks) H5Pset_chunk(properties, rank, shape.data());
        if (shuffle) H5Pset_shuffle(properties);
        if (deflate) H5Pset_deflate(properties, 1);
        if (fletcher) H5Pset_fletcher32(properties);
        if (!external.empty()) H5Pset_external(properties, external.c_str(), 0, H5F_UNLIMITED);
        if (!source.empty()) H5Pset_virtual(properties, space, source.c_str(), "scores", space);
        H5Ldelete(file, name, H5P_DEFAULT);
        const Id made(H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
        DOCTEST_REQUIRE(made >= 0);
    }
};

/// Changes the second of two parts and says how merging them was refused.
std::string refusal(const std::function<void(hid_t file)>& change) {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".h5", 100, 2), 1);
    outputs::start_hdf5();
    {
        const Id file(H5Fopen((folder / "part2.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        DOCTEST_REQUIRE(file >= 0);
        change(file);
    }
    return refusal_of_second(folder, parts, ".h5");
}

void check_foreign(const char* name, const std::function<void(hid_t file)>& change) {
    const std::string message = refusal(change);
    DOCTEST_CAPTURE(message);
    DOCTEST_CHECK(
        message.find("part2.h5: holds no '" + std::string(name) +
                     "' as bigbird-dna writes it: in the file itself, of the same type and shape") !=
        std::string::npos);
}

}  // namespace

DOCTEST_TEST_CASE("merge HDF5: the bytes of one run, beyond one chunk of rows, too") {
    for (const std::int64_t rows : {0, 5, 9000, 70'000}) {
        for (const std::int64_t count : {1, 3}) {
            DOCTEST_CAPTURE(rows);
            DOCTEST_CHECK(merges(".h5", rows, count));
        }
    }
}

DOCTEST_TEST_CASE("merge HDF5: a record of other rows than there are") {
    check_miscounts(".h5", "holds other rows than its .part.json counts");
}

DOCTEST_TEST_CASE("merge HDF5: a file that is none") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".h5", 100, 2), 1);
    write_file(folder / "part2.h5", "no HDF5");
    DOCTEST_CHECK(refusal_of_second(folder, parts, ".h5").find("is cut off or damaged") != std::string::npos);
}

DOCTEST_TEST_CASE("merge HDF5: a file on which the library crashes") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".h5", 150'000, 2), 1);
    std::string bytes = read_file(folder / "part2.h5");
    const std::size_t name = bytes.find("row75");
    DOCTEST_REQUIRE(name != std::string::npos);
    bytes[name - 3] = 1;  // a text's length, 8 bytes before it: 1 TiB more
    write_file(folder / "part2.h5", bytes);
#if defined(__SANITIZE_ADDRESS__)  // which sees the fault before it is a crash, and ends the reader itself
    const std::string how = "with exit code 1";
#else
    const std::string how = "by signal ";
#endif
    const std::string message = refusal_of_second(folder, parts, ".h5");
    DOCTEST_CAPTURE(message);
    DOCTEST_CHECK(message.find("part2.h5: is damaged: the library that reads it ended " + how) !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("merge HDF5: nothing is read out of other files") {
    check_foreign(
        "scores",
        [](hid_t file) {
            Dataset{.chunks = false, .shuffle = false, .deflate = false, .external = "/etc/passwd"}.put(
                file, "scores");
        });
    check_foreign("scores", [](hid_t file) {
        Dataset{.chunks = false, .shuffle = false, .deflate = false, .source = "part1.h5"}.put(file,
                                                                                               "scores");
    });
    check_foreign("scores", [](hid_t file) {
        H5Ldelete(file, "scores", H5P_DEFAULT);
        DOCTEST_REQUIRE(H5Lcreate_external("part1.h5", "/scores", file, "scores", H5P_DEFAULT, H5P_DEFAULT) >=
                        0);
    });
    check_foreign("start", [](hid_t file) {
        DOCTEST_REQUIRE(H5Lmove(file, "rows/start", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        DOCTEST_REQUIRE(H5Lcreate_soft("/elsewhere", file, "rows/start", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    });
    check_foreign(
        "rows",
        [](hid_t file) {
            H5Ldelete(file, "rows", H5P_DEFAULT);
            DOCTEST_REQUIRE(H5Lcreate_external("part1.h5", "/rows", file, "rows", H5P_DEFAULT, H5P_DEFAULT) >=
                            0);
        });
    check_foreign("chrom", [](hid_t file) { H5Ldelete(file, "rows/chrom", H5P_DEFAULT); });
}

DOCTEST_TEST_CASE("merge HDF5: numbers of another type, shape or packing are refused, not converted") {
    DOCTEST_CHECK(refusal([](hid_t file) {
                      Dataset{.shape = {49, 2}}.put(file, "scores");
                  }).find("holds other rows than its .part.json counts") != std::string::npos);
    const Dataset scores[] = {{.type = H5T_IEEE_F64LE}, {.type = H5T_IEEE_F32BE}, {.type = H5T_STD_I32LE},
                              {.shape = {50, 3}},       {.shape = {50}},          {.shuffle = false},
                              {.deflate = false},       {.fletcher = true}};
    for (const Dataset& dataset : scores)
        check_foreign("scores", [&](hid_t file) { dataset.put(file, "scores"); });
    const Dataset starts[] = {{.type = H5T_STD_I32LE}, {.type = H5T_IEEE_F64LE}, {.type = H5T_STD_I64BE}};
    for (Dataset dataset : starts) {
        dataset.shape = {50};
        dataset.shuffle = dataset.deflate = false;
        check_foreign(
            "start", [&](hid_t file) { dataset.put(file, "rows/start"); });
        check_foreign("chrom", [&](hid_t file) { dataset.put(file, "rows/chrom"); });
    }
}
