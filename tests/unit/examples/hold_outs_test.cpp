// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/hold_outs.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::examples;
using genome::Interval;
using Texts = std::vector<std::string>;

namespace {

std::unique_ptr<genome::ReferenceGenome> two_contigs() {
    return genome::in_memory_genome({{"1", std::string(1000, 'A')}, {"2", std::string(500, 'C')}});
}

}  // namespace

DOCTEST_TEST_CASE("hold_outs: contigs, regions and BED files are held out, test comes first") {
    const testing::TempDir folder;
    testing::write_file(folder / "v.bed", "chr1\t100\t200\nchr1\t300\t400\nchrX\t1\t2\n");
    const auto genome = two_contigs();
    const HoldOuts held(*genome, Texts{(folder / "v.bed").string()}, Texts{"chr2", "1:501-600"});
    DOCTEST_CHECK(held.split_of({"2", 0, 10}) == Split::test);
    DOCTEST_CHECK(held.split_of({"1", 599, 700}) == Split::test);
    DOCTEST_CHECK(held.split_of({"1", 600, 700}) == Split::train);
    DOCTEST_CHECK(held.split_of({"1", 490, 500}) == Split::train);
    DOCTEST_CHECK(held.split_of({"1", 199, 210}) == Split::validation);
    DOCTEST_CHECK(held.split_of({"1", 350, 550}) == Split::test);
    DOCTEST_CHECK(held.regions(Split::validation).bases() == 200);
    DOCTEST_CHECK(held.describe() ==
                  Json{{"validation", {"1:100-200", "1:300-400"}}, {"test", {"1:500-600", "2:0-500"}}});
}

DOCTEST_TEST_CASE("hold_outs: the folds of a BED file by their names") {
    const testing::TempDir folder;
    testing::write_file(folder / "f.bed",
                        "1\t0\t100\tfold0\n1\t100\t200\tfold1\n2\t0\t50\tfold1\n1\t300\t400\tfold2\n");
    const std::string file = (folder / "f.bed").string();
    const auto genome = two_contigs();
    const HoldOuts held(*genome, Texts{file + ":fold0"}, Texts{file + ":fold1"});
    DOCTEST_CHECK(held.describe() == Json{{"validation", {"1:0-100"}}, {"test", {"1:100-200", "2:0-50"}}});
    DOCTEST_CHECK(held.split_of({"1", 350, 360}) == Split::train);
    DOCTEST_CHECK(testing::message_of<InputError>([&] {
                      HoldOuts(*genome, Texts{file + ":fold9"}, Texts{});
                  }) == file + ": has no row named 'fold9', the fold to hold out for --validation");
}

DOCTEST_TEST_CASE("hold_outs: what does not lie on the reference, or overlaps, is refused") {
    const testing::TempDir folder;
    const auto genome = two_contigs();
    const auto message = [&](const Texts& validation, const Texts& test) {
        return testing::message_of<ConfigError>([&] { HoldOuts(*genome, validation, test); });
    };
    DOCTEST_CHECK(message({}, {"chr9"}) ==
                  "--test 'chr9' is neither a contig or region of the reference nor a BED file");
    DOCTEST_CHECK(message({"2:600-700"}, {}) ==
                  "--validation '2:600-700' is past the end of contig '2', which has 500 bases");
    DOCTEST_CHECK(message({"1:1-100"}, {"1:100-200"}) ==
                  "--validation and --test overlap at 1:99-100; give regions that do not");
    testing::write_file(folder / "none.bed", "X\t1\t2\n");
    DOCTEST_CHECK_THROWS_AS(HoldOuts(*genome, Texts{}, Texts{(folder / "none.bed").string()}), InputError);
}

DOCTEST_TEST_CASE("hold_outs: a contig's name that looks like a region or a fold is the contig") {
    const testing::TempDir folder;
    const auto genome = genome::in_memory_genome({{"HLA-A*01:01:01:01", std::string(300, 'A')},
                                                  {"seq:1-100", std::string(200, 'C')},
                                                  {(folder / "f.bed").string() + ":1", "ACGT"}});
    testing::write_file(folder / "f.bed", "seq:1-100\t0\t10\t1\n");
    const HoldOuts held(*genome, Texts{"HLA-A*01:01:01:01", (folder / "f.bed").string() + ":1"},
                        Texts{"seq:1-100:11-20"});
    DOCTEST_CHECK(held.regions(Split::validation).bases() == 304);
    DOCTEST_CHECK(held.describe()["test"] == Json{"seq:1-100:10-20"});
    DOCTEST_CHECK(testing::message_of<ConfigError>(
                      [&] { read_held_out(*genome, Texts{"HLA-A*01:01:01:02"}, "--hold-out"); }) ==
                  "--hold-out 'HLA-A*01:01:01:02' is neither a contig or region of the reference nor a "
                  "BED file");
}

DOCTEST_TEST_CASE("hold_outs: no window of one split shares a base with another's") {
    const std::vector<SplitWindow> windows{
        {{"1", 0, 100}, Split::train},        {{"1", 100, 200}, Split::validation},
        {{"1", 150, 250}, Split::validation}, {{"1", 250, 350}, Split::test},
        {{"1", 240, 340}, Split::train},      {{"1", 350, 450}, Split::train},
        {{"1", 199, 220}, Split::train},      {{"2", 240, 340}, Split::train},
        {{"1", 349, 360}, Split::validation}, {{"1", 355, 365}, Split::train},
    };
    const std::vector<bool> kept = without_shared_windows(windows);
    // the validation window that touches test's goes, and so does not keep training windows out
    DOCTEST_CHECK(kept == std::vector<bool>{true, true, true, true, false, true, false, true, false, true});
    for (std::size_t i = 0; i < windows.size(); ++i) {
        for (std::size_t j = 0; j < windows.size(); ++j) {
            const bool share = windows[i].window.contig == windows[j].window.contig &&
                               windows[i].window.begin < windows[j].window.end &&
                               windows[j].window.begin < windows[i].window.end;
            DOCTEST_CHECK_FALSE((kept[i] && kept[j] && windows[i].split != windows[j].split && share));
        }
    }
}
