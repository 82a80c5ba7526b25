// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/label_matrix.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/core/rng.hpp"

using namespace bigbird;
using namespace bigbird::examples;

namespace {

void write_bits(const std::filesystem::path& path, const BitRows& bits, std::size_t columns) {
    LabelWriter writer(path, Cells::bits, columns);
    for (std::size_t row = 0; row < bits.rows(); ++row)
        writer.append(std::as_bytes(bits.row(row)));
    writer.finish();
}

}  // namespace

DOCTEST_TEST_CASE("label_matrix: bits are written and read, whatever the number of columns") {
    const testing::TempDir folder;
    for (const std::size_t columns : {std::size_t{1}, std::size_t{8}, std::size_t{919}}) {
        BitRows bits(columns);
        bits.resize(50);
        Rng rng(columns);
        std::vector<std::pair<std::size_t, std::size_t>> ones;
        for (int i = 0; i < 100; ++i) {
            ones.emplace_back(
                static_cast<std::size_t>(rng.between(0, 49)),
                static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(columns) - 1)));
            bits.set(ones.back().first, ones.back().second);
        }
        const auto path = folder / ("m" + std::to_string(columns) + ".npy");
        write_bits(path, bits, columns);
        const LabelMatrix matrix(path, Cells::bits, 50, columns);
        std::size_t differing = 0;
        for (std::size_t row = 0; row < 50; ++row) {
            bool any = false;
            for (std::size_t column = 0; column < columns; ++column) {
                differing +=
                    matrix.get(static_cast<std::int64_t>(row), column) != bits.get(row, column) ? 1U : 0U;
                any = any || bits.get(row, column);
            }
            DOCTEST_CHECK(bits.any(row) == any);
        }
        DOCTEST_CHECK(differing == 0);
        for (const auto& [row, column] : ones)
            DOCTEST_CHECK(matrix.get(static_cast<std::int64_t>(row), column));
    }
}

// The bytes that numpy 2.4 writes: np.save(path, np.packbits([[1, 0, 1], [0, 1, 0]], axis=1,
// bitorder="little")).
DOCTEST_TEST_CASE("label_matrix: the file is NumPy's") {
    const testing::TempDir folder;
    BitRows bits(3);
    bits.resize(2);
    bits.set(0, 0);
    bits.set(0, 2);
    bits.set(1, 1);
    write_bits(folder / "m.npy", bits, 3);
    std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
    expected += "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1), }";
    expected.resize(127, ' ');
    expected += "\n\x05\x02";
    DOCTEST_CHECK(testing::read_file(folder / "m.npy") == expected);
}

DOCTEST_TEST_CASE("label_matrix: a file of another shape is refused") {
    const testing::TempDir folder;
    BitRows bits(3);
    bits.resize(2);
    write_bits(folder / "m.npy", bits, 3);
    DOCTEST_CHECK_NOTHROW(LabelMatrix(folder / "m.npy", Cells::bits, 2, 8));
    DOCTEST_CHECK_THROWS_AS(LabelMatrix(folder / "m.npy", Cells::bits, 3, 3), InputError);
    DOCTEST_CHECK_THROWS_AS(LabelMatrix(folder / "m.npy", Cells::bits, 2, 9), InputError);
    testing::write_file(folder / "short.npy", testing::read_file(folder / "m.npy").substr(0, 100));
    DOCTEST_CHECK_THROWS_AS(LabelMatrix(folder / "short.npy", Cells::bits, 2, 3), InputError);
}

DOCTEST_TEST_CASE("label_matrix: rows whose bytes overflow are another shape") {
    const testing::TempDir folder;
    constexpr std::int64_t rows = std::int64_t{1} << 62;
    testing::write_file(folder / "m.npy", npy_header("|u1", rows, 4));
    DOCTEST_CHECK_THROWS_AS(LabelMatrix(folder / "m.npy", Cells::bits, rows, 32), InputError);
}
