// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/import_chromatin.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using bigbird::testing::message_of;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;

namespace {

ImportOptions mat_options() {
    ImportOptions options;
    for (const auto& [split, name] :
         {std::pair(Split::train, "train"), std::pair(Split::validation, "valid")})
        options.mats.emplace_back(split, test_data(std::string("chromatin/mat/") + name + ".mat"));
    return options;
}

struct Expected {
    std::int64_t start = 0;
    std::string split, labels, sequence;
};

std::vector<Expected> expected_rows() {
    genome::TextInput text(test_data("chromatin/mat/rows.tsv"));
    std::vector<Expected> rows;
    std::string line;
    text.next(line);
    while (text.next(line)) {
        const auto fields = split_fields(line, '\t');
        rows.push_back({*parse_number<std::int64_t>(fields[1]), std::string(fields[2]),
                        std::string(fields[3]), std::string(fields[4])});
    }
    return rows;
}

void check_labels(const ExampleSet& set, std::int64_t row, const std::string& labels) {
    for (std::size_t label = 0; label < labels.size(); ++label)
        DOCTEST_CHECK(set.label(row, label) == (labels[label] == '1' ? 1 : 0));
}

ExampleSet imported(const ImportOptions& options, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    import_chromatin(options, folder);
    return ExampleSet::load(folder);
}

}  // namespace

DOCTEST_TEST_CASE("import_chromatin: .mat files without coordinates keep their own windows") {
    const TempDir folder;
    ImportOptions options = mat_options();
    options.mats.emplace_back(Split::test, test_data("chromatin/mat/test.mat"));
    const ExampleSet set = imported(options, folder / "e");
    const auto expected = expected_rows();
    DOCTEST_REQUIRE(set.size() == std::ssize(expected));
    DOCTEST_CHECK(set.bounds() == WindowBounds{-500, 500});
    for (std::int64_t i = 0; i < set.size(); ++i) {
        const Expected& row = expected[static_cast<std::size_t>(i)];
        DOCTEST_CHECK(set.sequence(i) == row.sequence);
        DOCTEST_CHECK(to_string(set.split(i)) == row.split);
        check_labels(set, i, row.labels);
    }
    DOCTEST_CHECK(set.label_table()[4].name == "label4");
    DOCTEST_CHECK(testing::read_file(folder / "e/train.bed").empty());
}

DOCTEST_TEST_CASE("import_chromatin: with coordinates the windows are cut anew from the reference") {
    const TempDir folder;
    ImportOptions options = mat_options();
    options.coordinates = test_data("chromatin/mat/bins.bed");
    options.references = {test_data("genome/22.fa.gz")};
    options.window = 2000;
    const ExampleSet set = imported(options, folder / "e");
    const auto genome = genome::open_reference(test_data("genome/22.fa.gz"));
    const auto expected = expected_rows();
    DOCTEST_REQUIRE(set.size() > 10);
    std::int64_t next = 0;
    for (const Expected& row : expected) {
        if (row.split == "test" || next == set.size()) break;
        if (set.row(next).where.begin != row.start) continue;  // shares sequence with validation
        DOCTEST_CHECK(set.row(next).where == genome::Interval{"22", row.start, row.start + 200});
        DOCTEST_CHECK(set.sequence(next) == genome->fetch({"22", row.start - 900, row.start + 1100}));
        check_labels(set, next, row.labels);
        ++next;
    }
    DOCTEST_CHECK(next == set.size());
}

DOCTEST_TEST_CASE("import_chromatin: coordinates of another order or assembly are found out") {
    const TempDir folder;
    ImportOptions options = mat_options();
    options.references = {test_data("genome/22.fa.gz")};
    const std::string bed = testing::read_file(test_data("chromatin/mat/bins.bed"));
    const std::size_t second = bed.find('\n') + 1, third = bed.find('\n', second) + 1;
    testing::write_file(folder / "swapped.bed",
                        bed.substr(second, third - second) + bed.substr(0, second) + bed.substr(third));
    options.coordinates = folder / "swapped.bed";
    DOCTEST_CHECK(testing::holds(message_of<InputError>([&] { imported(options, folder / "a"); }),
                                 "2 of the first 9 sequences differ from the reference at --coordinates"));
    testing::write_file(folder / "short.bed", bed.substr(0, third));
    options.coordinates = folder / "short.bed";
    DOCTEST_CHECK(testing::holds(message_of<InputError>([&] { imported(options, folder / "b"); }),
                                 "has 2 lines for the 9 rows of train"));
}

DOCTEST_TEST_CASE("import_chromatin: a table of bins and labels") {
    const TempDir folder;
    testing::write_file(folder / "t.tsv",
                        "#chrom\tstart\tend\tCTCF\tMAX\n"
                        "chr22\t20000000\t20000200\t1\t0\n22\t18000000\t18000200\t0\t1\n"
                        "22\t20000400\t20000600\t1\t1\n22\t10\t210\t1\t1\n");
    ImportOptions options;
    options.table = folder / "t.tsv";
    options.references = {test_data("genome/22.fa.gz")};
    options.window = 1000;
    options.test = {"22:20000301-21000000"};
    const testing::CapturedLog log;
    const ExampleSet set = imported(options, folder / "e");
    DOCTEST_REQUIRE(set.size() == 2);  // the first shares sequence with the third, the last is N
    DOCTEST_CHECK(set.row(0).where.begin == 18'000'000);
    DOCTEST_CHECK(set.split(1) == Split::test);
    check_labels(set, 0, "01");
    check_labels(set, 1, "11");
    DOCTEST_CHECK(set.label_table()[1].name == "MAX");
    DOCTEST_CHECK(testing::holds(log.text(), "left out 1 bin whose window has too much N"));
    DOCTEST_CHECK(
        testing::holds(log.text(), "left out 1 bin whose window reaches into one that is held out"));
}

DOCTEST_TEST_CASE("import_chromatin: a wrong table names its line") {
    const TempDir folder;
    ImportOptions options;
    options.table = folder / "t.tsv";
    options.references = {test_data("genome/22.fa.gz")};
    const auto error = [&](const std::string& text) {
        testing::write_file(folder / "t.tsv", text);
        return message_of<InputError>([&] { imported(options, folder / "e"); });
    };
    const std::string head = "chrom\tstart\tend\tA\n";
    DOCTEST_CHECK(testing::holds(error("22\t1\t2\t1\n"), "t.tsv:1: begins with no header"));
    DOCTEST_CHECK(testing::holds(error(head + "22\t1\t201\t2\n"), "t.tsv:2: label '2' is neither 0 nor 1"));
    DOCTEST_CHECK(
        testing::holds(error(head + "22\t1\t201\n"), "t.tsv:2: has 3 columns where the header has 4"));
    DOCTEST_CHECK(testing::holds(error(head + "22\t9\t9\t1\n"), "t.tsv:2: start and end are no bin"));
    DOCTEST_CHECK(
        testing::holds(error(head + "9\t1\t201\t1\n"), "t.tsv:2: contig '9' is not in the reference"));
    DOCTEST_CHECK(testing::holds(error(head), "holds no bins"));
}

DOCTEST_TEST_CASE("import_chromatin: options that do not go together") {
    const auto refusal = [](const ImportOptions& options) {
        return message_of<ConfigError>([&] { options.validate(); });
    };
    DOCTEST_CHECK(refusal({}) == "give either --peaks, --table or --mat");
    ImportOptions options = mat_options();
    options.test = {"8"};
    DOCTEST_CHECK(refusal(options).find("--validation and --test do not go with --mat") == 0);
    const TempDir folder;
    std::filesystem::create_symlink(options.mats[0].second, folder / "linked.mat");
    for (const auto& again : {options.mats[0].second, folder / "linked.mat"}) {
        options = mat_options();
        options.mats.emplace_back(Split::test, again);
        DOCTEST_CHECK(refusal(options) ==
                      again.string() + ": is given to --mat as train and again as test; a file is one split");
    }
    options = mat_options();
    options.mats.insert(options.mats.end(), 2, {Split::test, "none.mat"});
    DOCTEST_CHECK_NOTHROW(options.validate());  // that there is no such file is told when it is read
    options = mat_options();
    options.coordinates = "x.bed";
    DOCTEST_CHECK(refusal(options).find("--reference is needed") == 0);
}
