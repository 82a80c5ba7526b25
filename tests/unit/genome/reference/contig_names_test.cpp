// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/contig_names.hpp"

#include "support/captured_log.hpp"
#include "support/testing.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::genome;

namespace {

ContigNames names(const std::vector<const char*>& list) {
    std::vector<Contig> contigs;
    for (const char* name : list)
        contigs.push_back({name, 1});
    return ContigNames(contigs);
}

}  // namespace

DOCTEST_TEST_CASE("contig_names: Ensembl's and UCSC's names find each other") {
    const ContigNames ensembl = names({"1", "22", "X", "MT", "GL000220.1"});
    DOCTEST_CHECK(ensembl.find("22") == 1);
    DOCTEST_CHECK(ensembl.find("chr22") == 1);
    DOCTEST_CHECK(ensembl.find("Chr22") == 1);
    DOCTEST_CHECK(ensembl.find("chrM") == 3);
    DOCTEST_CHECK(ensembl.find("M") == 3);
    DOCTEST_CHECK(ensembl.find("chrMT") == 3);
    const ContigNames ucsc = names({"chr1", "chr22", "chrM"});
    DOCTEST_CHECK(ucsc.find("22") == 1);
    DOCTEST_CHECK(ucsc.find("MT") == 2);
    DOCTEST_CHECK(ucsc.find("chr1") == 0);
}

DOCTEST_TEST_CASE("contig_names: the unknown and the ambiguous are not guessed") {
    const ContigNames both = names({"1", "chr1", "chrM", "MT", "chr"});
    DOCTEST_CHECK(both.find("1") == 0);
    DOCTEST_CHECK(both.find("chr1") == 1);
    DOCTEST_CHECK(both.find("Chr1") == std::nullopt);
    DOCTEST_CHECK(both.find("M") == std::nullopt);
    DOCTEST_CHECK(both.find("MT") == 3);
    DOCTEST_CHECK(both.find("2") == std::nullopt);
    DOCTEST_CHECK(both.find("") == std::nullopt);
    DOCTEST_CHECK(both.find("chrchr1") == std::nullopt);
}

DOCTEST_TEST_CASE("contig_names: a yeast's Roman numerals are not a human's numbers") {
    const auto differ = [](const std::vector<std::string>& contigs, const std::set<std::string>& names) {
        std::vector<Contig> reference;
        for (const std::string& name : contigs)
            reference.push_back({name, 1});
        return numbered_differently(reference, names);
    };
    const std::vector<std::string> yeast{"I", "II", "IX", "X", "XVI", "Mito"}, worm{"chrI", "chrV", "chrX"};
    const std::set<std::string> human{"chr1", "chr22", "chrX", "chrM"};
    DOCTEST_CHECK(differ(yeast, human));
    DOCTEST_CHECK(differ(worm, {"1", "X"}));
    DOCTEST_CHECK_FALSE(differ(yeast, {"chrI", "chrX", "chrM"}));
    DOCTEST_CHECK_FALSE(differ(yeast, {"chrX"}));
    DOCTEST_CHECK_FALSE(differ(yeast, {"NC_001133.9", "NC_001142.9"}));
    DOCTEST_CHECK_FALSE(differ(worm, {"I", "X", "MtDNA"}));
    DOCTEST_CHECK_FALSE(differ({"1", "22", "X", "MT"}, human));
    DOCTEST_CHECK_FALSE(differ({"22"}, human));
    DOCTEST_CHECK_FALSE(differ({"X"}, human));
}

DOCTEST_TEST_CASE("contig_names: each kind of alias is said once, exact names never") {
    const ContigNames ensembl = names({"1", "22", "MT"});
    const testing::CapturedLog log;
    ensembl.find("22");
    ensembl.find("chr7");
    DOCTEST_CHECK(log.text().empty());
    ensembl.find("chr22");
    ensembl.find("chr1");
    ensembl.find("chrM");
    ensembl.find("M");
    DOCTEST_CHECK(log.text() ==
                  "info: contig 'chr22' is called '22' in the reference; others that differ only by 'chr' "
                  "are matched likewise\n"
                  "info: contig 'chrM' is called 'MT' in the reference\n");
}
