// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/outputs.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>

using namespace bigbird;
using namespace bigbird::testing;
using outputs::OutputSpec;
using outputs::ScoreRun;

namespace {

std::string refusal(std::vector<std::filesystem::path> paths, bool tracks = true) {
    OutputSpec spec;
    spec.paths = std::move(paths);
    spec.tracks = tracks;
    return message_of<ConfigError>([&] { outputs::prepare_outputs(spec); });
}

const std::vector<genome::Contig> one_contig{{"1", 100'000}};

/// While it lives, no file may have more bytes.
class DiskOf {
public:
    explicit DiskOf(std::size_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~DiskOf() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    DiskOf(const DiskOf&) = delete;
    DiskOf& operator=(const DiskOf&) = delete;

private:
    rlimit before_{};
};

}  // namespace

DOCTEST_TEST_CASE("outputs: names that tell no format are refused before the work") {
    DOCTEST_CHECK(refusal({"a.tsv", "b.parquet"}).find("b.parquet: the ending tells the format") == 0);
    DOCTEST_CHECK(refusal({"a.long.csv"}).find("a.long.csv: the ending") == 0);
    DOCTEST_CHECK(refusal({"x.npy.gz"}).find("x.npy.gz: the ending") == 0);
    DOCTEST_CHECK(refusal({"a.tsv", "./a.tsv"}) == "./a.tsv: is given twice as --output");
    DOCTEST_CHECK(refusal({"a.long.tsv"}).find("needs --min-score") != std::string::npos);
    DOCTEST_CHECK(
        refusal({"s.{label}.tsv"}) ==
        "s.{label}.tsv: {label} and {index} are for tracks, a file per label; this format holds all "
        "labels, so leave them out");
    DOCTEST_CHECK(refusal({"{index}.npy"}).starts_with("{index}.npy: {label} and {index} are for tracks"));
    DOCTEST_CHECK(refusal({"a.bw"}, false).find("a track needs scores of places") != std::string::npos);
}

DOCTEST_TEST_CASE("outputs: a side table that exists is refused, too") {
    const TempDir folder;
    write_file(folder / "s.rows.tsv", "mine");
    DOCTEST_CHECK(refusal({folder / "s.npy"}).find("s.rows.tsv: exists already") != std::string::npos);
}

DOCTEST_TEST_CASE("outputs: all formats at once, tracks a label each") {
    const TempDir folder;
    OutputSpec spec;
    for (const char* name :
         {"s.tsv", "s.tsv.gz", "s.long.tsv.gz", "s.npy", "s.h5", "{label}.bedGraph", "t.bw"})
        spec.paths.push_back(folder / name);
    spec.min_score = 0.5;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      outputs::Outputs(spec, small_layout(), one_contig, 1);
                  }).find("t.bw: this format holds one label, and 2 are chosen") != std::string::npos);
    DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
    spec.paths.pop_back();
    outputs::Outputs all(spec, small_layout(), one_contig, 1);
    all.write(rows::fields_of({.where = {"1", 0, 200}}), std::vector<float>{0.5F, 0.25F});
    all.commit();
    for (const char* name :
         {"s.tsv", "s.tsv.gz", "s.long.tsv.gz", "s.npy", "s.rows.tsv", "s.labels.tsv", "s.h5"}) {
        DOCTEST_CAPTURE(name);
        DOCTEST_CHECK(std::filesystem::exists(folder / name));
    }
    DOCTEST_CHECK(read_file(folder / "K562_CTCF.bedGraph") == "1\t0\t200\t0.5\n");
    DOCTEST_CHECK(read_file(folder / "A_B.bedGraph") == "1\t0\t200\t0.25\n");
}

DOCTEST_TEST_CASE("outputs: several tables of one run appear together or not at all") {
    const TempDir folder;
    const auto commit = [&](Overwrite overwrite) {
        outputs::Outputs table({.paths = {folder / "a.tsv"}, .overwrite = overwrite}, small_layout(),
                               one_contig, 1),
            track({.paths = {folder / "a.bedGraph"}, .overwrite = overwrite}, one_label(), one_contig, 1);
        write_file(folder / "a.bedGraph", "appeared");
        outputs::Outputs::commit_together(std::array{&table, &track}, {});
    };
    DOCTEST_CHECK_THROWS_AS(commit(Overwrite::refuse), ConfigError);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "a.tsv"));
    commit(Overwrite::allow);
    DOCTEST_CHECK(std::filesystem::exists(folder / "a.tsv"));
    DOCTEST_CHECK(read_file(folder / "a.bedGraph").empty());
}

DOCTEST_TEST_CASE(
    "outputs: {label} is the label and {index} its number, two labels of one file are refused") {
    const TempDir folder;
    const rows::LabelTable labels({{"TF", "a|b (+)", -1}, {"TF", "a_b (+)", -1}, {"TF", "x.Y+-9", -1}});
    const auto write = [&](const char* name, const std::vector<std::size_t>& chosen) {
        const OutputSpec spec{.paths = {folder / name}};
        outputs::Outputs all(spec, {outputs::region_head(), outputs::label_columns(labels, chosen), {}},
                             one_contig, 1);
        all.write(rows::fields_of({.where = {"1", 0, 200}}), std::vector<float>{0.5F, 0.125F});
        all.commit();
    };
    write("{label}/{index}.bedgraph", {0, 2});
    DOCTEST_CHECK(read_file(folder / "a_b__+_" / "0.bedgraph").ends_with("0.5\n"));
    DOCTEST_CHECK(read_file(folder / "x.Y+-9" / "2.bedgraph").ends_with("0.125\n"));
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      write("{label}.bw", {0, 1});
                  }).find("the labels 'a|b (+)' and 'a_b (+)' would both be written to") !=
                  std::string::npos);
    write("{index}.bw", {0, 1});
    DOCTEST_CHECK(std::filesystem::exists(folder / "1.bw"));
}

DOCTEST_TEST_CASE("outputs: {strand} is the strand that ends a label, which {label} then lacks") {
    const TempDir folder;
    const rows::LabelTable labels({{"sites", "donor_plus", -1}, {"sites", "donor_minus", -1}});
    const std::vector<std::size_t> both{0, 1};
    outputs::Outputs all({.paths = {folder / "{label}.{strand}.bedgraph"}},
                         {outputs::region_head(), outputs::label_columns(labels, both), {}}, one_contig, 1);
    all.write(rows::fields_of({.where = {"1", 0, 200}}), std::vector<float>{0.5F, 0.25F});
    all.commit();
    DOCTEST_CHECK(read_file(folder / "donor.plus.bedgraph") == "1\t0\t200\t0.5\n");
    DOCTEST_CHECK(read_file(folder / "donor.minus.bedgraph") == "1\t0\t200\t0.25\n");
}

DOCTEST_TEST_CASE("outputs: where the disk takes only so much of a file, it is whole or there is none") {
    ::signal(SIGXFSZ, SIG_IGN);
    for (const char* name : {"s.tsv", "s.tsv.gz", "s.long.tsv.gz", "s.npy", "s.h5", "s.bedGraph", "s.bw"}) {
        DOCTEST_CAPTURE(name);
        const TempDir folder;
        const auto write_it = [&](const char* subfolder) {
            OutputSpec spec{.paths = {folder / subfolder / name}, .min_score = 0.0};
            outputs::Outputs one(spec, one_label(), one_contig, 1);
            for (std::int64_t i = 0; i < 100; ++i)
                one.write(rows::fields_of({.where = {"1", 200 * i, 200 * i + 200}}),
                          std::vector<float>{0.5F});
            one.commit();
        };
        std::filesystem::create_directory(folder / "whole");
        std::filesystem::create_directory(folder / "cut");
        write_it("whole");
        const std::string whole = read_file(folder / "whole" / name);
        for (std::size_t size = 0; size < whole.size(); size += std::max<std::size_t>(1, whole.size() / 50)) {
            DOCTEST_CAPTURE(size);
            const DiskOf limit(size);
            DOCTEST_CHECK_THROWS_AS(write_it("cut"), WriteError);
        }
        DOCTEST_CHECK(std::filesystem::is_empty(folder / "cut"));
        const DiskOf enough(whole.size() + 4096);
        write_it("cut");
        DOCTEST_CHECK((read_file(folder / "cut" / name) == whole));
    }
}

DOCTEST_TEST_CASE("outputs: a part is a file, of rows in a file") {
    OutputSpec spec{.paths = {"-"}, .shard = Shard{1, 2}};
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      outputs::prepare_outputs(spec);
                  }).find("--output - cannot be merged") != std::string::npos);
    const auto refused = [&](const std::string& name) {
        spec.paths = {name};
        return message_of<ConfigError>([&] { outputs::prepare_outputs(spec); });
    };
    for (const char* name : {"a.csv", "a.long.tsv", "a.npy", "a.h5", "{label}.bw", "a.bdg", "a.vcf.gz"})
        DOCTEST_CHECK(refused(name) == std::string(name) +
                                           ": --shard writes parts as .tsv or .tsv.gz; merge writes any "
                                           "format from them");
    DOCTEST_CHECK(refused("a.txt").find("a.txt: the ending tells the format") == 0);
    spec.variants = true;
    DOCTEST_CHECK(refused("a.h5").find("parts as .tsv or .tsv.gz, or .vcf, .vcf.gz or .bcf; merge") !=
                  std::string::npos);
    spec.paths = {"a.tsv", "a.bcf"};
    spec.inputs = {{"regions", "-"}};  // standard input
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      outputs::prepare_outputs(spec);
                  }).find("--shard needs --regions as a file") == 0);
}

DOCTEST_TEST_CASE("schema: a region's fields are of the kinds that its head says") {
    const auto head = outputs::region_head();
    const auto fields = rows::fields_of({.where = {"1", 2, 3}});
    DOCTEST_REQUIRE(head.size() == fields.size());
    for (std::size_t i = 0; i < head.size(); ++i) {
        const auto kind = std::holds_alternative<std::int64_t>(fields[i]) ? outputs::FieldKind::integer
                          : std::holds_alternative<double>(fields[i])     ? outputs::FieldKind::real
                                                                          : outputs::FieldKind::text;
        DOCTEST_CHECK(head[i].kind == kind);
        DOCTEST_CHECK(head[i].name == rows::region_columns[i]);
    }
}

DOCTEST_TEST_CASE("score run: what is written is read") {
    ScoreRun run{.schema = small_layout(),
                 .inputs = {{"regions", "ab"}},
                 .min_score = 0.25,
                 .contigs = {{"1", 1000}, {"MT", 16}},
                 .overlap = outputs::Overlap::max};
    run.schema.effect = run.schema.columns[1].quantity = "log_odds";
    const ScoreRun again = outputs::score_run_from_json(Json::parse(to_json(run).dump()), "x");
    DOCTEST_CHECK(to_json(again) == to_json(run));
    DOCTEST_CHECK(again.schema.head[7].kind == outputs::FieldKind::real);
    DOCTEST_CHECK(again.schema.columns[1].id == run.schema.columns[1].id);
    DOCTEST_CHECK(again.schema.columns[1].quantity == "log_odds");
    DOCTEST_CHECK(again.schema.effect == "log_odds");
    DOCTEST_CHECK(again.schema.provenance == run.schema.provenance);
    DOCTEST_CHECK(again.min_score == 0.25);
    DOCTEST_CHECK(again.schema.head[4].optional);
    DOCTEST_CHECK(again.contigs[1].name == "MT");
    DOCTEST_CHECK(again.overlap == outputs::Overlap::max);
}

DOCTEST_TEST_CASE("score run: what lacks a key is refused by file") {
    DOCTEST_CHECK(message_of<InputError>([] {
                      outputs::score_run_from_json(Json::object(), "p.json");
                  }).find("p.json: is damaged") == 0);
}

DOCTEST_TEST_CASE("score run: a column of no known kind is refused") {
    for (const int kind : {3, 255, -1}) {
        Json json = to_json(ScoreRun{.schema = small_layout()});
        json["head"][0][1] = kind;
        DOCTEST_CHECK(message_of<InputError>([&] { outputs::score_run_from_json(json, "p.json"); }) ==
                      "p.json: is damaged: it names a column of an unknown kind");
    }
}
