// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/letter_arrays.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"

#include <hdf5.h>
#include <zlib.h>

#include <cstring>
#include <limits>

using namespace bigbird;
using namespace bigbird::testing;
using outputs::LetterArrays;

namespace {

constexpr float unscored = std::numeric_limits<float>::quiet_NaN();

/// Two regions of three bases; the first has an N.
void write(const std::filesystem::path& path) {
    LetterArrays arrays(path, Overwrite::refuse, {{"method", "some"}, {"method", "b"}});
    arrays.add({"1", 10, 13}, "a", "GNT",
               std::vector<float>{1, 2, 3, 4, unscored, unscored, unscored, unscored, 5, 6, 7, 8});
    arrays.add({"2", 0, 3}, "b", "AAC", std::vector<float>(12, 0.5F));
    std::vector<PendingOutput*> pending;
    arrays.finish(pending);
    commit_together(pending);
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// The array of an .npz as it is stored, with its header.
std::string member_of(const std::string& zip) {
    constexpr std::size_t front = 30, name = 9;
    DOCTEST_CHECK(zip.starts_with("PK\x03\x04"));
    DOCTEST_CHECK(zip.substr(front, name) == "arr_0.npy");
    const std::uint32_t checksum = number_at(zip, 14), size = number_at(zip, 18);
    const std::string member = zip.substr(front + name, size);
    DOCTEST_CHECK(member.size() == size);
    DOCTEST_CHECK(crc32_z(0, reinterpret_cast<const Bytef*>(member.data()), member.size()) == checksum);
    const std::size_t end = zip.size() - 22;
    DOCTEST_CHECK(zip.substr(end, 4) == std::string("PK\x05\x06"));
    DOCTEST_CHECK(number_at(zip, end + 16) == front + name + size);
    DOCTEST_CHECK(zip.substr(front + name + size, 4) == std::string("PK\x01\x02"));
    return member;
}

template <typename Number>
std::vector<Number> numbers_of(const std::string& member) {
    std::vector<Number> numbers((member.size() - 128) / sizeof(Number));
    std::memcpy(numbers.data(), member.data() + 128, numbers.size() * sizeof(Number));
    return numbers;
}

const std::vector<std::int8_t> letters{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,   // G N T
                                       1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};  // A A C
const std::vector<float> scores{1,    0,    5,    2,    0,    6,    3,    0,    7,    4,    0,    8,
                                0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F};

}  // namespace

DOCTEST_TEST_CASE(
    "letter_arrays: .npz of one-hot sequence and scores, (regions, 4, length), as NumPy has it") {
    const TempDir folder;
    write(folder / "x.npz");
    const std::string shape = "'shape': (2, 4, 3), }";
    const std::string hypothetical = member_of(read_file(folder / "x.npz")),
                      one_hot = member_of(read_file(folder / "x.onehot.npz"));
    DOCTEST_CHECK(hypothetical.find("'<f4', 'fortran_order': False, " + shape) != std::string::npos);
    DOCTEST_CHECK(one_hot.find("'|i1', 'fortran_order': False, " + shape) != std::string::npos);
    DOCTEST_CHECK(numbers_of<float>(hypothetical) == scores);
    DOCTEST_CHECK(numbers_of<std::int8_t>(one_hot) == letters);
    write(folder / "y.npz");
    DOCTEST_CHECK(read_file(folder / "x.npz") == read_file(folder / "y.npz"));
}

DOCTEST_TEST_CASE(
    "letter_arrays: .h5 with raw/seq and shap/seq, the regions, and the same bytes every time") {
    const TempDir folder;
    for (const char* name : {"a.h5", "b.h5"})
        write(folder / name);
    DOCTEST_CHECK(read_file(folder / "a.h5") == read_file(folder / "b.h5"));
    const hid_t file = H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    DOCTEST_REQUIRE(file >= 0);
    const auto read = [&](const char* name, hid_t type, void* to) {
        const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        DOCTEST_REQUIRE(dataset >= 0);
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
        H5Dclose(dataset);
    };
    std::vector<std::int8_t> raw(letters.size());
    std::vector<float> shap(scores.size());
    std::vector<std::int64_t> begins(2);
    read("raw/seq", H5T_NATIVE_INT8, raw.data());
    read("shap/seq", H5T_NATIVE_FLOAT, shap.data());
    read("regions/start", H5T_NATIVE_INT64, begins.data());
    DOCTEST_CHECK(raw == letters);
    DOCTEST_CHECK(shap == scores);
    DOCTEST_CHECK(begins == std::vector<std::int64_t>{10, 0});
    DOCTEST_CHECK(H5Aexists(file, "method") > 0);
    H5Fclose(file);
}

DOCTEST_TEST_CASE("letter_arrays: no regions, and regions of two lengths") {
    const TempDir folder;
    for (const char* name : {"a.h5", "a.npz"}) {
        LetterArrays arrays(folder / name, Overwrite::refuse, {});
        std::vector<PendingOutput*> pending;
        arrays.finish(pending);
        commit_together(pending);
    }
    DOCTEST_CHECK(member_of(read_file(folder / "a.npz")).find("(0, 4, 0)") != std::string::npos);
    LetterArrays arrays(folder / "b.npz", Overwrite::refuse, {});
    arrays.add({"1", 0, 1}, "a", "A", std::vector<float>(4));
    DOCTEST_CHECK(message_of<InputError>([&] {
                      arrays.add({"1", 5, 7}, "b", "AC", std::vector<float>(8));
                  }).find("1:5-7 has 2 bases, the regions before it 1") != std::string::npos);
}
