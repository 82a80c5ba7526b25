// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/two_bit.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

using namespace bigbird;
using namespace bigbird::examples;

namespace {

std::string random_sequence(Rng rng, std::int64_t length) {
    std::string dna;
    while (static_cast<std::int64_t>(dna.size()) < length) {
        if (rng.between(0, 19) == 0) dna.append(static_cast<std::size_t>(rng.between(1, 9)), 'N');
        dna += "ACGT"[rng.between(0, 3)];
    }
    dna.resize(static_cast<std::size_t>(length));
    return dna;
}

std::string expected_window(const std::string& dna, std::int64_t begin, std::int64_t end) {
    std::string window;
    for (std::int64_t i = begin; i < end; ++i) {
        window +=
            i >= 0 && i < static_cast<std::int64_t>(dna.size()) ? dna[static_cast<std::size_t>(i)] : 'N';
    }
    return window;
}

void write_store(const std::filesystem::path& path, const std::vector<std::string>& sequences,
                 bool long_offsets) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sequences.size(); ++i)
        names.push_back("s" + std::to_string(i));
    names.push_back("never");
    TwoBitWriter writer(path, names, long_offsets);
    for (std::size_t i = 0; i < sequences.size(); ++i)
        writer.add(names[i], sequences[i]);
    writer.finish();
}

}  // namespace

DOCTEST_TEST_CASE("two_bit: any window of any sequence reads back, N beyond the ends") {
    const testing::TempDir folder;
    const Rng rng(3);
    std::vector<std::string> sequences{"", "N", "ACGTN", std::string(30, 'N')};
    for (std::uint64_t i = 0; i < 20; ++i)
        sequences.push_back(random_sequence(rng.split(i), static_cast<std::int64_t>(97 * (i + 1))));
    for (const bool long_offsets : {false, true}) {
        const auto path = folder / (long_offsets ? "long.2bit" : "short.2bit");
        write_store(path, sequences, long_offsets);
        const TwoBitReader reader(path);
        DOCTEST_REQUIRE(reader.size() == static_cast<std::int64_t>(sequences.size()));
        Rng draw = rng.split("windows");
        for (std::int64_t s = 0; s < reader.size(); ++s) {
            const std::string& dna = sequences[static_cast<std::size_t>(s)];
            DOCTEST_CHECK(reader.length(s) == static_cast<std::int64_t>(dna.size()));
            for (int i = 0; i < 50; ++i) {
                const std::int64_t begin = draw.between(-20, reader.length(s) + 5);
                const std::int64_t end = begin + draw.between(0, 120);
                DOCTEST_CHECK(reader.fetch(s, begin, end) == expected_window(dna, begin, end));
            }
        }
        DOCTEST_CHECK(*reader.find("s7") == 7);
        DOCTEST_CHECK(!reader.find("never"));
    }
}

// Put together by hand after the format's description: one sequence "x" of 10 bases, ACNNGTTCAG.
DOCTEST_TEST_CASE("two_bit: a file made by hand after the specification is read, and written the same") {
    const testing::TempDir folder;
    std::string bytes("\x43\x27\x41\x1A\0\0\0\0\x01\0\0\0\0\0\0\0", 16);
    bytes += std::string("\x01x\x16\0\0\0", 6);  // index: offset 22
    bytes +=
        std::string("\x0A\0\0\0\x01\0\0\0\x02\0\0\0\x02\0\0\0", 16);  // 10 bases, one block of N: at 2, of 2
    bytes += std::string("\0\0\0\0\0\0\0\0", 8);                      // no masked blocks, reserved
    bytes += std::string("\x90\xC1\xB0", 3);                          // A C T T | G T T C | A G . .
    testing::write_file(folder / "hand.2bit", bytes);
    DOCTEST_CHECK(TwoBitReader(folder / "hand.2bit").fetch(0, 0, 10) == "ACNNGTTCAG");
    TwoBitWriter writer(folder / "ours.2bit", {"x"}, false);
    writer.add("x", "ACNNGTTCAG");
    writer.finish();
    DOCTEST_CHECK(testing::read_file(folder / "ours.2bit") == bytes);
}

DOCTEST_TEST_CASE("two_bit: a full disk is an error of writing") {
    if (!std::filesystem::exists("/dev/full")) return;
    const testing::TempDir folder;
    std::filesystem::create_symlink("/dev/full", folder / "full.2bit");
    DOCTEST_CHECK_THROWS_AS(write_store(folder / "full.2bit", {"ACGT"}, false), WriteError);
}

DOCTEST_TEST_CASE("two_bit: what is no store, or cut short, is refused") {
    const testing::TempDir folder;
    testing::write_file(folder / "text.2bit", ">x\nACGT\n");
    DOCTEST_CHECK_THROWS_AS(TwoBitReader(folder / "text.2bit"), InputError);
    testing::write_file(folder / "empty.2bit", "");
    DOCTEST_CHECK_THROWS_AS(TwoBitReader(folder / "empty.2bit"), InputError);
    write_store(folder / "whole.2bit", {"ACGTNACGTACGT", "ACGT"}, false);
    const std::string whole = testing::read_file(folder / "whole.2bit");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        testing::write_file(folder / "cut.2bit", whole.substr(0, size));
        DOCTEST_CHECK_THROWS_AS(TwoBitReader(folder / "cut.2bit"), InputError);
    }
}
