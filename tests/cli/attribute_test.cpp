// SPDX-License-Identifier: Apache-2.0
// attribute as a program, on the model that comes along: a site of CTCF is spelt by what its bases
// contribute.
#include "cli/run_program.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <filesystem>
#include <sstream>

using namespace bigbird::testing;

namespace {

ProgramResult attribute(const std::vector<std::string>& more, const std::string& input) {
    std::vector<std::string> words{"attribute",
                                   "--model",
                                   test_data("models/chromatin-grch37"),
                                   "--reference",
                                   test_data("genome/22.fa.gz"),
                                   "--regions",
                                   "-"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, input);
}

struct Base {
    char letter;
    double contribution;
};
std::vector<Base> bases_of(const std::string& table) {
    std::vector<Base> bases;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream fields(line);
        std::string contig, start, end, name, label, ref;
        double values[4] = {};
        fields >> contig >> start >> end >> name >> label >> ref >> values[0] >> values[1] >> values[2] >>
            values[3];
        bases.push_back({ref.front(), values[std::string("ACGT").find(ref)]});
    }
    return bases;
}

}  // namespace

DOCTEST_TEST_CASE("attribute: the bases of CTCF's site contribute most, by every method") {
    const TempDir folder;
    for (const char* method : {"integrated-gradients", "deeplift", "input-x-gradient"}) {
        const auto result =
            attribute({"--labels", "K562|CTCF|None", "--method", method, "--output", "-", "--output",
                       folder / "site.npz", "--output", folder / "site.bw", "--force"},
                      "chr22\t19155700\t19155900\tsite\n");
        DOCTEST_CAPTURE(result.err);
        DOCTEST_REQUIRE(result.code == 0);
        DOCTEST_CHECK(contains(result.out, "\n#chrom\tstart\tend\tname\tlabel\tref\tA\tC\tG\tT\n"));
        DOCTEST_CHECK(contains(result.err, "200 bases attributed in"));
        DOCTEST_CHECK(contains(result.err, "completeness") == (std::string(method) != "input-x-gradient"));
        DOCTEST_CHECK(std::filesystem::exists(folder / "site.onehot.npz"));
        const std::vector<Base> bases = bases_of(result.out);
        DOCTEST_REQUIRE(bases.size() == 200);
        constexpr std::size_t width = 14;
        std::string best;
        double largest = 0;
        for (std::size_t i = 0; i + width <= bases.size(); ++i) {
            double sum = 0;
            std::string site;
            for (std::size_t j = i; j < i + width; ++j) {
                sum += bases[j].contribution;
                site += bases[j].letter;
            }
            if (sum > largest) {
                largest = sum;
                best = site;
            }
        }
        DOCTEST_CAPTURE(best);
        DOCTEST_CHECK(contains(best, "CCACCAGGAGGC"));
    }
}

DOCTEST_TEST_CASE("attribute: what is wrong is said in a sentence, and nothing is left behind") {
    const TempDir folder;
    const std::string output = folder / "x.tsv", bed = "22\t20500000\t20500050\n";
    const auto baseline =
        attribute({"--method", "saliency", "--baseline", "shuffled", "--output", output}, bed);
    DOCTEST_CHECK(baseline.code == 2);
    DOCTEST_CHECK(contains(baseline.err, "--baseline is of integrated-gradients and deeplift"));
    DOCTEST_CHECK(contains(attribute({"--baseline", "shuffled:none", "--output", output}, bed).err,
                           "--baseline shuffled:N needs N of at least 1"));
    const auto label = attribute({"--labels", "nothing", "--output", output}, bed);
    DOCTEST_CHECK(label.code == 2);
    DOCTEST_CHECK(contains(label.err, "nothing"));
    const auto several = attribute({"--labels", "*CTCF*", "--output", folder / "x.npz"}, bed);
    DOCTEST_CHECK(several.code == 2);
    DOCTEST_CHECK(contains(several.err, "put {label} into the name"));
    const auto device = attribute({"--device", "gpu", "--output", output}, bed);
    DOCTEST_CHECK(device.code == 2);
    DOCTEST_CHECK(contains(device.err, "--device must be auto, cpu, cuda or cuda:N, not 'gpu'"));
    const auto sequences =
        run_program({"attribute", "--model", test_data("models/chromatin-grch37"), "--output", output});
    DOCTEST_CHECK(sequences.code == 2);
    DOCTEST_CHECK(contains(sequences.err, "either --regions with --reference, or --sequences, is needed"));
    DOCTEST_CHECK_FALSE(std::filesystem::exists(output));
}
