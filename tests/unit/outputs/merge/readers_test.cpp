// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"

#include <array>
#include <cstring>
#include <limits>

using namespace bigbird;
using namespace bigbird::outputs;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

void write_track(const std::filesystem::path& path, const std::vector<genome::Contig>& contigs) {
    const auto sink = track_sink(path, Overwrite::refuse, Kind::bigwig, contigs, 0, Overlap::mean);
    const auto write = [&](std::int64_t begin, std::int64_t end, float value) {
        const rows::Field head[] = {std::string_view("chr2"), begin, end};
        sink->write(head, std::span(&value, 1));
    };
    write(10, 12, 3);
    write(12, 20, -1);
    write(30, 31, 7);
    sink->commit();
}

template <typename Number>
void write_letters(hid_t file, const char* group, hid_t type, const std::vector<Number>& numbers) {
    const std::array<hsize_t, 3> shape{1, 4, numbers.size() / 4};
    const Hdf5Handle parent(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose),
        space(H5Screate_simple(3, shape.data(), nullptr), H5Sclose),
        dataset(H5Dcreate2(parent, "seq", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
}

void check_refused(const TempDir& folder, const std::string& name, const std::string& message) {
    DOCTEST_CHECK_THROWS_WITH_AS(read_attributions(folder / name), doctest::Contains(message.c_str()),
                                 InputError);
}

/// The place in a bigWig of the highest byte of the id of the first contig that it names. The place of the
/// tree of names is at 8 and, 8 bytes into the tree, the length of a name; names follow 36 bytes in.
std::size_t place_of_contig_id(const std::string& bytes) {
    std::uint64_t tree = 0;
    std::memcpy(&tree, bytes.data() + 8, sizeof tree);
    std::uint32_t name_size = 0;
    std::memcpy(&name_size, bytes.data() + tree + 8, sizeof name_size);
    return tree + 36 + name_size + 3;
}

}  // namespace

DOCTEST_TEST_CASE("bigwig_reader: means of bases that have a value, under another name of the contig") {
    const TempDir folder;
    write_track(folder / "t.bw", {{"chr1", 50}, {"chr2", 100}});
    const std::vector<genome::Contig> contigs{{"2", 100}, {"3", 100}};
    const std::vector<Segment> segments = read_bigwig(folder / "t.bw", contigs);
    const auto mean = [&](std::size_t contig, std::int64_t begin, std::int64_t end) {
        return mean_over(segments, contig, begin, end);
    };
    DOCTEST_CHECK(mean(0, 0, 10) == std::nullopt);
    DOCTEST_CHECK(mean(0, 10, 12) == 3);
    DOCTEST_CHECK(mean(0, 11, 14) == doctest::Approx((3 - 1 - 1) / 3.0));
    DOCTEST_CHECK(mean(0, 18, 100) == doctest::Approx((7 - 1 - 1) / 3.0));
    DOCTEST_CHECK(mean(1, 0, 100) == std::nullopt);
    write_file(folder / "no.bw", "no bigWig");
    DOCTEST_CHECK_THROWS_WITH_AS(read_bigwig(folder / "no.bw", contigs), doctest::Contains("is no bigWig"),
                                 InputError);
}

DOCTEST_TEST_CASE("bigwig_reader: a file on which the library crashes") {
    const TempDir folder;
    write_track(folder / "t.bw", {{"chr1", 50}, {"chr2", 100}});
    std::string bytes = read_file(folder / "t.bw");
    bytes.at(place_of_contig_id(bytes)) = '\x7f';  // which the library writes to memory by
    write_file(folder / "t.bw", bytes);
    DOCTEST_CHECK_THROWS_WITH_AS(
        read_bigwig(folder / "t.bw", std::vector<genome::Contig>{{"2", 100}}),
        doctest::Contains("t.bw: is damaged: the library that reads it ended by signal 11"), InputError);
}

DOCTEST_TEST_CASE("attribution_reader: HDF5 in TF-MoDISco's form, and what is none") {
    const TempDir folder;
    const auto write = [&](const std::string& name, const std::vector<float>& scores) {
        start_hdf5();
        const Hdf5Handle file(H5Fcreate((folder / name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                              H5Fclose);
        write_letters<std::int8_t>(file, "raw", H5T_NATIVE_INT8, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0});
        if (!scores.empty()) write_letters<float>(file, "shap", H5T_NATIVE_FLOAT, scores);
    };
    write("K562.h5", {4, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 5});
    const LabelContributions found = read_attributions(folder / "K562.h5");
    DOCTEST_CHECK(found.label == "K562");
    DOCTEST_REQUIRE(found.regions.size() == 1);
    DOCTEST_CHECK(found.regions[0].dna == "ATN");
    DOCTEST_CHECK(found.regions[0].values[0] == 3);
    DOCTEST_CHECK(found.regions[0].values[1] == 0);
    write("none.h5", {});
    check_refused(folder, "none.h5", "none.h5: holds no 'shap/seq' of regions, 4 letters and bases");
    write("other.h5", {1, 2, 3, 4});
    check_refused(folder, "other.h5", "other.h5: its 'raw/seq' and 'shap/seq' have different shapes");
    write_file(folder / "no.h5", "no HDF5");
    check_refused(folder, "no.h5", "no.h5: is no HDF5 file, or damaged");
}

DOCTEST_TEST_CASE(
    "readers: .h5 and .npy of scores have the lines of .tsv, with few rows and many, of any precision") {
    const TempDir folder;
    const auto lines_of = [](const fs::path& path) {
        const rows::LineSource next = score_lines(path);
        std::string text;
        for (std::string line; next(line);)
            text += line + '\n';
        DOCTEST_CHECK_FALSE(text.empty());
        return text;
    };
    TableSchema regions = small_layout(), records = small_layout();
    regions.provenance = {
        {"task", "chromatin"}, {"model_sha256", "a"}, {"model_sha256", "b c"}, {"anchor", "1"}};
    records.head = record_head(true);
    const auto check = [&](const std::string& name, const TableSchema& schema, int count) {
        DOCTEST_CAPTURE(name);
        const auto write = [&](std::unique_ptr<Sink> sink) {
            if (schema.head.size() == regions.head.size()) return write_all(std::move(sink), count);
            const rows::Field head[] = {std::string_view("r \"1\""), std::int64_t{60}, std::string_view("ok"),
                                        0.25, std::string_view("NA")};
            sink->write(head, std::vector<float>{1.0F / 3, std::numeric_limits<float>::quiet_NaN()});
            sink->commit();
        };
        write(table_sink(folder / (name + ".tsv"), Overwrite::refuse, schema, 1));
        write(hdf5_sink(folder / (name + ".h5"), Overwrite::refuse, schema));
        write(npy_sink(folder / (name + ".npy"), Overwrite::refuse, schema));
        for (const char* ending : {".h5", ".npy"})
            DOCTEST_CHECK(lines_of(folder / (name + ending)) == read_file(folder / (name + ".tsv")));
    };
    check("regions", regions, 9000);
    regions.many_rows = true;
    check("many", regions, 100);
    check("records", records, 1);
    check("none", regions, 0);
}

DOCTEST_TEST_CASE("readers: .h5 of other things, or damaged, is refused") {
    const TempDir folder;
    DOCTEST_CHECK_FALSE(hdf5_lines(folder / "s.tsv"));
    DOCTEST_CHECK_FALSE(hdf5_lines("-"));
    const auto refusal = [&](const char* name) {
        return message_of<InputError>([&] { hdf5_lines(folder / name); });
    };
    DOCTEST_CHECK(holds(refusal("s.h5"), "s.h5: no such file"));
    write_file(folder / "s.h5", "no HDF5");
    DOCTEST_CHECK(
        holds(refusal("s.h5"), "s.h5: holds no scores of regions or sequences as predict writes them"));
    fs::copy_file(test_data("motifs/effects.h5"), folder / "effects.h5");
    DOCTEST_CHECK(holds(refusal("effects.h5"), "effects.h5: holds no scores of regions"));
    write_all(hdf5_sink(folder / "cut.h5", Overwrite::refuse, small_layout()), 5000);
    fs::resize_file(folder / "cut.h5", fs::file_size(folder / "cut.h5") / 2);
    DOCTEST_CHECK(holds(refusal("cut.h5"), "cut.h5"));
}

DOCTEST_TEST_CASE(
    "readers: .npy that is cut, or of other rows or columns than the tables beside it, is refused") {
    const TempDir folder;
    const fs::path npy = folder / "s.npy", labels = folder / "s.labels.tsv";
    write_all(npy_sink(npy, Overwrite::refuse, small_layout()), 5);
    const auto refusal = [&] { return message_of<InputError>([&] { score_lines(npy); }); };
    const std::string table = read_file(labels);
    write_file(labels, table.substr(0, table.find("1\t2")));
    DOCTEST_CHECK(
        holds(refusal(), "s.npy: is no float32 .npy of 5 rows and 1 column, as the .rows.tsv and "));
    write_file(labels, "column\tindex\tgroup\tname\tid\n");
    DOCTEST_CHECK(holds(refusal(), "s.labels.tsv: has no last column 'table_column'"));
    write_file(labels, table);
    fs::resize_file(npy, fs::file_size(npy) - 4);
    DOCTEST_CHECK(holds(refusal(), "s.npy: is no float32 .npy of 5 rows and 2 columns"));
    fs::remove(labels);
    DOCTEST_CHECK(holds(refusal(), "s.npy: lacks s.labels.tsv, which predict writes beside it"));
}
