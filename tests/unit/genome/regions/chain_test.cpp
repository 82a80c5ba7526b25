// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/chain.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/regions/bed.hpp"

#include <map>
#include <string>

using namespace bigbird;
using namespace bigbird::genome;

namespace {

/// Two chains over a:10-40; the better one has a gap at a:20-25, and runs on the other strand of y.
constexpr const char* two_chains =
    "# a comment\n"
    "chain 100 a 50 + 10 40 y 60 - 5 38 1\n"
    "10 5 8\n"
    "15\n"
    "\n"
    "chain 90 a 50 + 0 45 x 70 + 20 65 2\n"
    "45\n";

std::string error_of(const std::string& text) {
    const testing::TempDir folder;
    testing::write_file(folder / "c", text);
    const std::string message = testing::message_of<InputError>([&] { ChainMap{folder / "c"}; });
    const std::string end = ": a UCSC chain file is needed";
    DOCTEST_REQUIRE(message.ends_with(end));
    const std::size_t path = (folder / "c").string().size();
    return message.substr(path, message.size() - path - end.size());
}

}  // namespace

DOCTEST_TEST_CASE("chain: EPDnew's TSSs lift as pyliftover lifts them") {
    const ChainMap chains(testing::test_data("promoter/hg38ToHg19.chr22.chain.gz"));
    std::map<std::string, BedRecord> expected;
    for (const BedRecord& record : read_bed(testing::test_data("promoter/tss.hg19.bed")))
        expected.emplace(record.name, record);
    int lifted = 0, unmapped = 0;
    for (const BedRecord& record : read_bed(testing::test_data("promoter/tss.hg38.bed.gz"))) {
        const auto result = chains.lift(record.where.contig, record.where.begin, record.strand);
        DOCTEST_CAPTURE(record.name);
        DOCTEST_REQUIRE(result.has_value() == expected.contains(record.name));
        unmapped += result ? 0 : 1;
        if (result) {
            ++lifted;
            DOCTEST_CHECK(result->where == expected.at(record.name).where);
            DOCTEST_CHECK(result->strand == expected.at(record.name).strand);
        }
    }
    DOCTEST_CHECK(lifted == 113);
    DOCTEST_CHECK(unmapped == 3);
}

DOCTEST_TEST_CASE("chain: points on every kind of chain of 22 lift as pyliftover lifts them") {
    const ChainMap chains(testing::test_data("promoter/hg38ToHg19.chr22.chain.gz"));
    TextInput input(testing::test_data("promoter/lifted_points.tsv"));
    std::string line;
    int points = 0, turned = 0, unmapped = 0;
    while (input.next(line)) {
        const std::size_t tab = line.find('\t');
        const auto result = chains.lift("22", std::stoll(line), Strand::forward);
        const std::string found = result ? result->where.contig + "\t" + std::to_string(result->where.begin) +
                                               "\t" + static_cast<char>(result->strand)
                                         : "\t\t";
        DOCTEST_CAPTURE(line);
        DOCTEST_CHECK(found == line.substr(tab + 1));
        ++points;
        unmapped += result ? 0 : 1;
        turned += result && result->strand == Strand::reverse ? 1 : 0;
    }
    DOCTEST_CHECK(points > 1000);
    DOCTEST_CHECK(turned > 50);
    DOCTEST_CHECK(unmapped > 50);
}

DOCTEST_TEST_CASE(
    "chain: the best score counts, a gap falls through to the next, the other strand counts from its end") {
    const testing::TempDir folder;
    testing::write_file(folder / "c", two_chains);
    const ChainMap chains(folder / "c");
    const auto at = [&](std::int64_t position) { return chains.lift("a", position, Strand::forward); };
    DOCTEST_CHECK(at(0)->where == Interval{"x", 20, 21});
    DOCTEST_CHECK(at(0)->strand == Strand::forward);
    DOCTEST_CHECK(at(10)->where == Interval{"y", 54, 55});
    DOCTEST_CHECK(at(10)->strand == Strand::reverse);
    DOCTEST_CHECK(at(19)->where == Interval{"y", 45, 46});
    DOCTEST_CHECK(at(20)->where == Interval{"x", 40, 41});
    DOCTEST_CHECK(at(25)->where == Interval{"y", 36, 37});
    DOCTEST_CHECK(at(44)->where == Interval{"x", 64, 65});
    DOCTEST_CHECK(!at(45));
    DOCTEST_CHECK(!chains.lift("b", 5, Strand::none));
    DOCTEST_CHECK(chains.lift("chra", 10, Strand::none)->strand == Strand::none);
    DOCTEST_CHECK(chains.lift("a", 10, Strand::reverse)->strand == Strand::forward);
}

DOCTEST_TEST_CASE("chain: why a base does not lift") {
    const testing::TempDir folder;
    testing::write_file(folder / "c",
                        std::string(two_chains) + "\nchain 80 b 50 + 10 40 z 70 + 20 50 3\n10 10 10\n10\n");
    const ChainMap chains(folder / "c");
    DOCTEST_CHECK(chains.why_unmapped("a", 45) == "outside_chains");
    DOCTEST_CHECK(!chains.lift("b", 25, Strand::none));
    DOCTEST_CHECK(chains.why_unmapped("chrb", 25) == "in_gap");
    DOCTEST_CHECK(chains.why_unmapped("b", 9) == "outside_chains");
    DOCTEST_CHECK(chains.why_unmapped("b", 40) == "outside_chains");
    DOCTEST_CHECK(chains.why_unmapped("c", 5) == "no_chains");
}

DOCTEST_TEST_CASE("chain: malformed files are named with their line") {
    const std::string head = "chain 100 a 50 + 10 40 y 60 - 5 35 1\n";
    DOCTEST_CHECK(error_of("") == ": holds no chains");
    DOCTEST_CHECK(error_of("22\t1\t2\n") == ":1: a chain begins with 'chain' and eleven or twelve fields");
    DOCTEST_CHECK(error_of("chain 100 a 50 - 10 40 y 60 - 5 35 1\n30\n") ==
                  ":1: the target's strand is + and the query's + or -");
    DOCTEST_CHECK(error_of("chain 100 a 30 + 10 40 y 60 - 5 35 1\n30\n") ==
                  ":1: the chain does not lie on its contigs");
    DOCTEST_CHECK(error_of("chain 1e9 a 50 + 10 40 y 60 - 5 35 1\n30\n") == ":1: '1e9' is not a number");
    DOCTEST_CHECK(error_of(head + "30 1\n") == ":2: a block has one field or three");
    DOCTEST_CHECK(error_of(head + "29\n") == ":2: the chain's blocks do not add up to its ends");
    DOCTEST_CHECK(error_of(head + "10 5 5\n") == ":2: the file ends within a chain");
    DOCTEST_CHECK(error_of(head + "10 5 5\n\n") == ":3: a block has one field or three");
}

DOCTEST_TEST_CASE("chain: blocks beyond the chain's ends are refused before their sums overflow") {
    const std::string head = "chain 100 a 50 + 10 40 y 60 - 5 35 1\n";
    const std::string end = ":2: the chain's blocks do not add up to its ends";
    DOCTEST_CHECK(error_of(head + "9223372036854775807 9223372036854775807 1\n30\n") == end);
    DOCTEST_CHECK(error_of(head + "10 9223372036854775807 1\n30\n") == end);
    DOCTEST_CHECK(error_of(head + "10 1 9223372036854775807\n30\n") == end);
}
