// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/bigwig.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <bigWig.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::examples;
using namespace bigbird::testing;

namespace {

constexpr std::uint32_t bases = 1000;

/// 150 contigs, so that the index has nodes above its leaves.
std::vector<genome::Contig> many_contigs() {
    std::vector<genome::Contig> contigs;
    for (int i = 0; i < 150; ++i)
        contigs.push_back({"c" + std::to_string(i), bases});
    return contigs;
}

/// Writes bases 100 to 200 of each contig with its index as value, and `last` behind, in the order
/// 0, 7, 14, ..., 149, 6, 13, ...
void write_out_of_order(const std::filesystem::path& path, float last) {
    const std::vector<genome::Contig> contigs = many_contigs();
    std::vector<const char*> names;
    for (const genome::Contig& contig : contigs)
        names.push_back(contig.name.c_str());
    const std::vector<std::uint32_t> lengths(contigs.size(), bases);
    std::string mode = "w";
    bigWigFile_t* const file = bwOpen(path.c_str(), nullptr, mode.c_str());
    DOCTEST_REQUIRE(bwCreateHdr(file, 0) == 0);
    file->cl = bwCreateChromList(names.data(), lengths.data(), std::ssize(names));
    DOCTEST_REQUIRE(bwWriteHdr(file) == 0);
    for (std::size_t i = 0; i < contigs.size(); ++i) {
        const std::size_t contig = 7 * i % contigs.size();
        const std::vector<const char*> twice(2, names[contig]);
        const std::uint32_t begins[] = {100, 300}, ends[] = {200, 301};
        const float values[] = {static_cast<float>(contig), last};
        DOCTEST_REQUIRE(bwAddIntervals(file, twice.data(), begins, ends, values, 2) == 0);
    }
    bwClose(file);
}

/// Sums over the bases of each contig that has values.
std::map<std::size_t, double> sums_of(const std::filesystem::path& path,
                                      const std::vector<genome::Contig>& contigs) {
    std::map<std::size_t, double> sums;
    read_bigwig(path, contigs, [&](std::size_t contig, std::int64_t begin, std::int64_t end, double value) {
        sums[contig] += value * static_cast<double>(end - begin);
    });
    return sums;
}

}  // namespace

DOCTEST_TEST_CASE("bigwig: data in any order of contigs, with NaN as no data, and without a summary") {
    const TempDir folder;
    const std::vector<genome::Contig> contigs = many_contigs();
    write_out_of_order(folder / "x.bw", std::nanf(""));
    for (const bool summary : {true, false}) {
        if (!summary) {  // as old files, whose header has no place of a summary at byte 0x2c
            std::fstream file(folder / "x.bw", std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(0x2c).write("\0\0\0\0\0\0\0\0", 8);
        }
        const auto sums = sums_of(folder / "x.bw", contigs);
        DOCTEST_REQUIRE(sums.size() == contigs.size());
        for (const auto& [contig, sum] : sums)
            DOCTEST_CHECK(sum == 100.0 * static_cast<double>(contig));
    }
    const std::map<std::size_t, double> two{{0, 14900}, {1, 300}};
    DOCTEST_CHECK(sums_of(folder / "x.bw", {{"c149", bases}, {"c3", bases}, {"other", 5}}) == two);
}

DOCTEST_TEST_CASE("bigwig: infinity, other lengths of contigs and circles of the index are refused") {
    const TempDir folder;
    write_out_of_order(folder / "x.bw", std::numeric_limits<float>::infinity());
    const auto message = [&](const std::vector<genome::Contig>& contigs) {
        return message_of<InputError>([&] { sums_of(folder / "x.bw", contigs); });
    };
    DOCTEST_CHECK(testing::holds(message(many_contigs()), "x.bw: holds an infinite value at c0:301"));
    DOCTEST_CHECK(testing::holds(message({{"c3", bases + 1}}),
                                 "says that contig c3 has 1000 bases, --reference that it has 1001: is it of "
                                 "another assembly?"));
    DOCTEST_CHECK(testing::holds(message({{"d", bases}}), "has no contig of --reference"));
    const std::map<std::size_t, double> slice{{0, 150}};
    DOCTEST_CHECK(sums_of(folder / "x.bw", {{"c3", 150}}) == slice);
    std::string bytes = read_file(folder / "x.bw");
    std::uint64_t index = 0;
    std::memcpy(&index, bytes.data() + 0x18, sizeof index);
    const std::uint64_t root = index + 48;
    std::memcpy(bytes.data() + root + 4 + 16, &root, sizeof root);  // its first child is itself
    write_file(folder / "x.bw", bytes);
    DOCTEST_CHECK(testing::holds(message(many_contigs()), "x.bw: is damaged, or cannot be read"));
}
