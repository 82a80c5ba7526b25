// SPDX-License-Identifier: Apache-2.0
// attribute as a program, on the model that comes along: a site of CTCF is spelt by what its bases
// contribute.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <sstream>

using namespace bigbird::testing;

namespace {

ProgramResult attribute(const std::vector<std::string>& more, const std::string& input) {
    return run_program(joined({"attribute", "--model", test_data("models/chromatin-grch37"), "--reference",
                               test_data("genome/22.fa.gz"), "--regions", "-"},
                              more),
                       input);
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
            succeeded(attribute({"--labels", "K562|CTCF|None", "--method", method, "--output", "-",
                                 "--output", folder / "site.npz", "--output", folder / "site.bw", "--force"},
                                "chr22\t19155700\t19155900\tsite\n"));
        DOCTEST_CHECK(holds(result.out, "\n#chrom\tstart\tend\tname\tlabel\tref\tA\tC\tG\tT\n"));
        DOCTEST_CHECK(holds(result.err, "200 bases attributed in"));
        DOCTEST_CHECK(holds(result.err, "completeness") == (std::string(method) != "input-x-gradient"));
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
        DOCTEST_CHECK(holds(best, "CCACCAGGAGGC"));
    }
}

DOCTEST_TEST_CASE("attribute: what is wrong is said in a sentence, and nothing is left behind") {
    const TempDir folder;
    const std::string output = folder / "x.tsv", bed = "22\t20500000\t20500050\n";
    const auto baseline =
        attribute({"--method", "saliency", "--baseline", "shuffled", "--output", output}, bed);
    check_said(baseline, 2, "--baseline is of integrated-gradients and deeplift");
    DOCTEST_CHECK(holds(attribute({"--baseline", "shuffled:none", "--output", output}, bed).err,
                        "--baseline shuffled:N needs N of at least 1"));
    const auto label = attribute({"--labels", "nothing", "--output", output}, bed);
    check_said(label, 2, "nothing");
    check_said(attribute({"--labels", "*CTCF*", "--output", folder / "x.npz"}, bed), 2,
               "put {label} into the name");
    check_said(attribute({"--device", "gpu", "--output", output}, bed), 2,
               "--device must be auto, cpu, cuda or cuda:N, not 'gpu'");
    check_said(
        run_program({"attribute", "--model", test_data("models/chromatin-grch37"), "--output", output}), 2,
        "either --regions with --reference, or --sequences, is needed");
    DOCTEST_CHECK_FALSE(std::filesystem::exists(output));
}
