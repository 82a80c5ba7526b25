// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/mat/deepsea_mat.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <zlib.h>

#include <cstring>
#include <string>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using bigbird::testing::test_data;
using examples::check_mat5;
using testing::test_data;

namespace {

struct Row {
    std::string labels, sequence;
};

/// What the files were made of, by split.
std::vector<Row> rows_of(const std::string& split) {
    genome::TextInput text(test_data("chromatin/mat/rows.tsv"));
    std::vector<Row> rows;
    for (std::string line; text.next(line);) {
        const auto fields = split_fields(line, '\t');
        if (fields[2] == split) rows.push_back({std::string(fields[3]), std::string(fields[4])});
    }
    return rows;
}

std::string bits_of(const BitRows& bits, std::size_t row, std::size_t labels) {
    std::string text;
    for (std::size_t label = 0; label < labels; ++label)
        text += bits.get(row, label) ? '1' : '0';
    return text;
}

}  // namespace

DOCTEST_TEST_CASE(
    "deepsea_mat: MATLAB 7.3 in slabs and MATLAB 5 give the sequences and labels they were made of") {
    for (const auto& [name, split] :
         {std::pair("train", "train"), std::pair("valid", "validation"), std::pair("test", "test")}) {
        const std::vector<Row> expected = rows_of(split);
        for (const std::int64_t step : {1, 3, 100}) {
            DeepseaMat mat(test_data(std::string("chromatin/mat/") + name + ".mat"), step);
            DOCTEST_REQUIRE(mat.rows() == std::ssize(expected));
            DOCTEST_CHECK(mat.labels() == 5);
            DOCTEST_CHECK(mat.bases() == 1000);
            for (std::int64_t begin = 0; begin < mat.rows(); begin += step) {
                const DeepseaMat::Slab slab = mat.next();
                for (std::size_t i = 0; i < slab.sequences.size(); ++i) {
                    const Row& row = expected[static_cast<std::size_t>(begin) + i];
                    DOCTEST_CHECK(slab.sequences[i] == row.sequence);
                    DOCTEST_CHECK(bits_of(slab.bits, i, 5) == row.labels);
                }
            }
        }
    }
}

DOCTEST_TEST_CASE("deepsea_mat: what is cut off or of another shape is refused") {
    const auto error = [](const std::string& name) {
        return testing::message_of<InputError>([&] {
            DeepseaMat mat(test_data("chromatin/mat/malformed/" + name), 100);
            mat.next();
        });
    };
    DOCTEST_CHECK(testing::holds(error("truncated_73.mat"), "truncated_73.mat: is"));
    DOCTEST_CHECK(testing::holds(error("truncated_5.mat"), "truncated_5.mat: "));
    DOCTEST_CHECK(testing::holds(error("shape.mat"), "is cut off or of another shape: DeepSEA's has"));
    DOCTEST_CHECK(testing::holds(error("rows.mat"), "has 4 sequences but 3 rows of labels"));
    DOCTEST_CHECK(testing::holds(error("values.mat"), "holds the value 7"));
    DOCTEST_CHECK(testing::holds(
        testing::message_of<InputError>([] { DeepseaMat mat(test_data("chromatin/mat/bins.bed"), 100); }),
        "is no .mat file"));
}

namespace {

std::string number(std::uint32_t value) {
    std::string bytes(4, '\0');
    std::memcpy(bytes.data(), &value, 4);
    return bytes;
}
std::string element(std::uint32_t type, const std::string& content) {
    return number(type) + number(static_cast<std::uint32_t>(content.size())) + content +
           std::string((8 - content.size() % 8) % 8, '\0');
}
std::string header() {
    return std::string(124, ' ') + std::string("\0\1IM", 4);
}
/// An array of one row and four numbers, as the format's document lays it out.
std::string array(std::uint32_t kind, const std::string& dimensions) {
    return element(6, number(kind) + number(0)) + dimensions + element(1, "x") + element(2, "\1\2\3\4");
}
const std::string one_by_four = element(5, number(1) + number(4));

std::string message(const std::string& content) {
    const testing::TempDir folder;
    testing::write_file(folder / "x.mat", content);
    try {
        check_mat5(folder / "x.mat");
    } catch (const InputError& error) {
        const std::string what = error.what();
        return what.substr(what.find(": ") + 2);
    }
    return "";
}

/// A compressed element of `content`.
std::string compressed(const std::string& content) {
    std::string packed(compressBound(content.size()), '\0');
    uLongf size = packed.size();
    DOCTEST_REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(content.data()), content.size()) == Z_OK);
    packed.resize(size);
    return number(15) + number(static_cast<std::uint32_t>(size)) + packed;
}

constexpr const char* damaged = "is cut off or damaged: an array's head is not whole";

}  // namespace

DOCTEST_TEST_CASE("mat5_structure: DeepSEA's files, compressed or not, and those of MATLAB 7.3 pass") {
    for (const char* name : {"train.mat", "valid.mat", "test.mat"})
        DOCTEST_CHECK_NOTHROW(check_mat5(test_data(std::string("chromatin/mat/") + name)));
    DOCTEST_CHECK(message(header()) == "");
    DOCTEST_CHECK(message(header() + element(14, array(9, one_by_four))) == "");
    // A name of up to four letters may stand in its tag.
    const std::string small_name = number(1 << 16 | 1) + std::string("x\0\0\0", 4);
    DOCTEST_CHECK(
        message(header() + element(14, element(6, number(6) + number(0)) + one_by_four + small_name)) == "");
}

DOCTEST_TEST_CASE("mat5_structure: sizes beyond the file and variables of other kinds are refused") {
    const std::string whole = header() + element(14, array(9, one_by_four));
    for (std::size_t size = header().size() + 1; size < whole.size(); ++size)
        DOCTEST_CHECK(message(whole.substr(0, size)) == damaged);
    DOCTEST_CHECK(message(header() + element(14, array(9, number(5) + number(0x54410000) + number(1)))) ==
                  damaged);
    DOCTEST_CHECK(message(header() + element(14, array(9, element(5, std::string(1024, '\1'))))) == damaged);
    DOCTEST_CHECK(message(header() + element(14, array(9, element(6, number(1) + number(4))))) == damaged);
    DOCTEST_CHECK(message(header() + element(14, array(2, one_by_four))) ==
                  "holds a variable that is no array of numbers");
    DOCTEST_CHECK(message(header() + element(15, "no zlib stream")) == damaged);
    DOCTEST_CHECK_THROWS_AS(check_mat5(test_data("fuzz/deepsea_mat/dimensions_beyond_file")), InputError);
    const std::string other = "is no .mat file of MATLAB 5 or 7.3, or is cut off";
    DOCTEST_CHECK(message("") == other);
    DOCTEST_CHECK(message(testing::read_file(test_data("chromatin/mat/bins.bed"))) == other);
    DOCTEST_CHECK(message(testing::read_file(
                      test_data("fuzz/deepsea_mat/matlab_4_with_a_name_of_a_gigabyte"))) == other);
}

DOCTEST_TEST_CASE("mat5_structure: a compressed array's checksum and length must be right") {
    const std::string wrong = "is damaged: a compressed array's length or checksum is wrong; fetch it again";
    // Longer than the stretches that are inflated at a time.
    const std::string large = array(9, one_by_four) + element(2, std::string(200'000, '\1'));
    const std::string whole = header() + compressed(element(14, large));
    DOCTEST_CHECK(message(whole) == "");
    DOCTEST_CHECK(message(whole + compressed(element(14, array(9, one_by_four)))) == "");
    std::string changed = whole;
    changed.back() = static_cast<char>(changed.back() ^ 1);
    DOCTEST_CHECK(message(changed) == wrong);
    DOCTEST_CHECK(message(header() + compressed(element(14, large) + std::string(8, '\0'))) == wrong);
    DOCTEST_CHECK(message(header() + compressed(element(14, large) + std::string(100'000, '\0'))) == wrong);
    DOCTEST_CHECK(message(header() + compressed(element(14, large).substr(0, 150'000))) == wrong);
    // One byte of real numbers, which matio reads as others.
    std::string test = testing::read_file(test_data("chromatin/mat/test.mat"));
    test[4188] = '\204';
    DOCTEST_CHECK(message(test) == wrong);
}
