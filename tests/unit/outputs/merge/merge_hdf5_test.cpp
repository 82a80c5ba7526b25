// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

#include "bigbird/outputs/hdf5_handle.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using Id = outputs::Hdf5Handle;

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
