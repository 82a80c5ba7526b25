// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/npy_sink.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include <cmath>
#include <cstring>

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("npy_sink: NumPy's format, and side tables that tell rows and columns") {
    const TempDir folder;
    const auto sink = outputs::npy_sink(folder / "s.npy", Overwrite::refuse, small_layout());
    write_rows(*sink, 3);
    sink->commit();
    const std::string bytes = read_file(folder / "s.npy");
    DOCTEST_REQUIRE(bytes.size() == 128 + 3 * 2 * 4);
    DOCTEST_CHECK(bytes.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
    DOCTEST_CHECK(bytes.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } ");
    DOCTEST_CHECK(bytes[127] == '\n');
    float values[6];
    std::memcpy(values, bytes.data() + 128, sizeof(values));
    DOCTEST_CHECK(values[2] == 1.0F / 1024);
    DOCTEST_CHECK(values[3] == 0.25F);
    DOCTEST_CHECK(std::isnan(values[5]));
    DOCTEST_CHECK(
        read_file(folder / "s.labels.tsv") ==
        "column\tindex\tgroup\tname\tid\n0\t0\tTF\tK562|CTCF\t000_K562_CTCF\n1\t2\tDHS\tA|B\t002_A_B\n");
    DOCTEST_CHECK(read_file(folder / "s.rows.tsv").ends_with("1\t400\t600\t.\t.\t.\tall_n\t0\n"));
}

DOCTEST_TEST_CASE("npy_sink: nothing is left without commit") {
    const TempDir folder;
    {
        const auto sink = outputs::npy_sink(folder / "s.npy", Overwrite::refuse, small_layout());
        write_rows(*sink, 3);
    }
    DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
}

DOCTEST_TEST_CASE("npy_sink: float16 has half the bytes, and the nearest numbers") {
    const TempDir folder;
    outputs::TableSchema schema = small_layout();
    schema.precision = outputs::Precision::float16;
    const auto sink = outputs::npy_sink(folder / "s.npy", Overwrite::refuse, schema);
    write_rows(*sink, 4);
    sink->commit();
    const std::string bytes = read_file(folder / "s.npy");
    DOCTEST_CHECK(bytes.find("'descr': '<f2'") != std::string::npos);
    DOCTEST_CHECK(bytes.size() == 128 + 4 * 2 * 2);
    DOCTEST_CHECK(bytes.substr(128 + 4, 4) == std::string("\x00\x14\x00\x34", 4));     // 1/1024 and 0.25
    DOCTEST_CHECK((static_cast<unsigned char>(bytes[128 + 8 + 1]) & 0x7eU) == 0x7eU);  // NaN
}
