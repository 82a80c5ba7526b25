// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/cut_counts.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <array>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::profiles;

namespace {

const auto one_contig = [] { return genome::in_memory_genome({{"c", std::string(300, 'A')}}); };

CutCounts sites_of(const TempDir& at, const std::string& name, const std::string& text,
                   const examples::SignalReading& how = {}) {
    write_file(at / name, text);
    return read_cut_counts(std::array{std::filesystem::path(at / name)}, *one_contig(), how).sites;
}

}  // namespace

DOCTEST_TEST_CASE("both ends of a fragment count at the bases where the enzyme cut") {
    const TempDir at;
    const CutCounts sites =
        sites_of(at, "a.bed", "c\t100\t200\nc\t100\t150\n", {.begin_shift = 4, .end_shift = -4});
    DOCTEST_CHECK(sites.total() == 4);
    DOCTEST_CHECK(sites.count(0, 104, 105) == 2);
    DOCTEST_CHECK(sites.count(0, 195, 196) == 1);
    DOCTEST_CHECK(sites.count(0, 105, 195) == 1);  // 145
    std::array<float, 4> counts{};
    sites.copy(0, 102, counts);
    DOCTEST_CHECK(counts == std::array<float, 4>{0, 0, 2, 0});
    sites.copy(0, -2, counts);
    DOCTEST_CHECK(counts == std::array<float, 4>{});
}

DOCTEST_TEST_CASE("numbers of read ends in bedGraph count as often, and others are refused") {
    const TempDir at;
    const CutCounts sites = sites_of(at, "a.bedgraph", "c\t10\t12\t3\n");
    DOCTEST_CHECK(sites.count(0, 10, 11) == 3);
    DOCTEST_CHECK(sites.total() == 6);
    const std::string refused =
        message_of<InputError>([&] { sites_of(at, "b.bedgraph", "c\t10\t12\t0.5\n"); });
    DOCTEST_CHECK(holds(refused, "holds the value 0.5 at c:11"));
}

DOCTEST_TEST_CASE("read ends off the contig are dropped and counted") {
    const TempDir at;
    const CutCounts sites = sites_of(at, "a.bed", "c\t0\t298\n", {.begin_shift = -1, .end_shift = 1});
    DOCTEST_CHECK(sites.total() == 1);
    DOCTEST_CHECK(sites.dropped() == 1);
    DOCTEST_CHECK(sites.count(0, 0, 300) == sites.count(0, 298, 299));
}
