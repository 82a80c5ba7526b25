// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

int writes_until_failure = 0;  // 0: none fails

}  // namespace

/// In place of libc's, for the HDF5 library, too.
extern "C" ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t at) {
    if (writes_until_failure > 0 && --writes_until_failure == 0) {
        writes_until_failure = -1;  // it came so far
        errno = EIO;
        return -1;
    }
    return ::syscall(SYS_pwrite64, file, bytes, count, at);
}

namespace {

using outputs::Hdf5Handle;
using outputs::shape_of;

Hdf5Handle opened(const std::filesystem::path& path) {
    Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    DOCTEST_REQUIRE(file >= 0);
    return file;
}

Hdf5Handle dataset_of(hid_t file, const char* name) {
    return {H5Dopen2(file, name, H5P_DEFAULT), H5Dclose};
}

/// All numbers of a dataset, each of the `type` in memory.
template <typename Number>
std::vector<Number> numbers_of(hid_t dataset, hid_t type) {
    const std::vector<hsize_t> size = shape_of(dataset);
    std::vector<Number> numbers(size.front() * (size.size() > 1 ? size.back() : 1));
    DOCTEST_REQUIRE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0);
    return numbers;
}

}  // namespace

DOCTEST_TEST_CASE("hdf5_sink: scores, rows and labels, over several chunks") {
    const TempDir folder;
    constexpr int rows = 10000;
    for (const char* name : {"a.h5", "b.h5"})
        write_all(outputs::hdf5_sink(folder / name, Overwrite::refuse, small_layout()), rows);
    DOCTEST_CHECK(read_file(folder / "a.h5") == read_file(folder / "b.h5"));
    const Hdf5Handle file = opened(folder / "a.h5"), scores = dataset_of(file, "scores");
    DOCTEST_REQUIRE(shape_of(scores) == std::vector<hsize_t>{rows, 2});
    const auto values = numbers_of<float>(scores, H5T_NATIVE_FLOAT);
    DOCTEST_CHECK(values[2 * 9999] == 9999.0F / 1024);
    DOCTEST_CHECK(std::isnan(values[2 * 9998]));
    const auto begins = numbers_of<std::int64_t>(dataset_of(file, "rows/start"), H5T_NATIVE_INT64);
    DOCTEST_CHECK(begins[9999] == 200 * 9999);
    DOCTEST_CHECK(H5Lexists(file, "labels/name", H5P_DEFAULT) > 0);
    DOCTEST_CHECK(H5Aexists(file, "task") > 0);
}

DOCTEST_TEST_CASE("hdf5_sink: a small job's file is small, and reads as a large one") {
    const TempDir folder;
    const auto bytes_of = [&](int rows, int columns, bool many_rows) {
        outputs::TableSchema schema{outputs::region_head(), {}, {{"task", "chromatin"}}};
        for (int i = 0; i < columns; ++i) {
            const std::string name = "label " + std::to_string(i);
            schema.columns.push_back({name, i, "TF", name, "00" + name});
        }
        schema.many_rows = many_rows;
        const auto sink = outputs::hdf5_sink(folder / "s.h5", Overwrite::allow, schema);
        std::vector<float> values(static_cast<std::size_t>(columns));
        for (int i = 0; i < rows; ++i) {
            for (float& value : values)
                value = std::fmod(std::fabs(std::sin(static_cast<float>(i) + value)) * 1e4F, 1.0F);
            sink->write(
                rows::fields_of({.where = {"22", 200 * i, 200 * i + 200}, .name = i == 1 ? "één" : "."}),
                values);
        }
        sink->commit();
        return static_cast<int>(std::filesystem::file_size(folder / "s.h5"));
    };
    const auto most = [](int rows, int columns) { return 2 * 4 * rows * columns + 16'384; };
    DOCTEST_CHECK(bytes_of(1500, 4, true) > 10 * most(1500, 4));
    for (const auto& [rows, columns] :
         {std::pair{0, 4}, {1, 1}, {10, 4}, {1500, 4}, {10, 919}, {65'536, 1}}) {
        DOCTEST_CAPTURE(rows);
        DOCTEST_CAPTURE(columns);
        DOCTEST_CHECK(bytes_of(rows, columns, false) <= most(rows, columns) + 50 * columns);
    }
    bytes_of(1500, 4, false);
    const Hdf5Handle file = opened(folder / "s.h5"), names = dataset_of(file, "rows/name"),
                     type(H5Dget_type(names), H5Tclose);
    DOCTEST_REQUIRE(shape_of(names) == std::vector<hsize_t>{1500});
    DOCTEST_CHECK(H5Tget_cset(type) == H5T_CSET_UTF8);
    std::string text(1500 * H5Tget_size(type), ' ');
    DOCTEST_CHECK(H5Dread(names, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0);
    DOCTEST_CHECK(text.starts_with(std::string(".\0\0\0\0één.", 11)));
}

DOCTEST_TEST_CASE("hdf5_sink: whichever write fails, once, there is an error and no file") {
    const TempDir folder;
    for (int failing = 1;; ++failing) {
        DOCTEST_CAPTURE(failing);
        writes_until_failure = failing;
        const auto write_it = [&] {
            const auto sink = outputs::hdf5_sink(folder / "s.h5", Overwrite::refuse, small_layout());
            write_rows(*sink, 10);
            std::vector<PendingOutput*> pending;
            sink->finish(pending);
        };
        bool failed = false;
        try {
            write_it();
        } catch (const WriteError&) {
            failed = true;
        }
        const bool came_so_far = writes_until_failure < 0;
        writes_until_failure = 0;
        DOCTEST_CHECK(failed == came_so_far);
        if (!came_so_far) {
            DOCTEST_CHECK(failing > 10);
            break;
        }
    }
}

DOCTEST_TEST_CASE("hdf5_sink: of a malformed line what is a number is stored, else -1") {
    const TempDir folder;
    const auto sink = outputs::hdf5_sink(folder / "m.h5", Overwrite::refuse, small_layout());
    const rows::Row malformed{.status = rows::RowStatus::malformed,
                              .as_read = {"1", "07", "end", ".", ".", "?"}};
    sink->write(rows::fields_of(malformed), {});
    sink->commit();
    const Hdf5Handle file = opened(folder / "m.h5");
    for (const auto& [name, expected] :
         {std::pair<const char*, std::int64_t>{"rows/start", 7}, {"rows/end", -1}})
        DOCTEST_CHECK(numbers_of<std::int64_t>(dataset_of(file, name), H5T_NATIVE_INT64) ==
                      std::vector<std::int64_t>{expected});
}

DOCTEST_TEST_CASE("hdf5_sink: no rows is a valid file") {
    const TempDir folder;
    outputs::hdf5_sink(folder / "e.h5", Overwrite::refuse, small_layout())->commit();
    const Hdf5Handle file = opened(folder / "e.h5");
    DOCTEST_CHECK(shape_of(dataset_of(file, "scores")) == std::vector<hsize_t>{0, 2});
}
