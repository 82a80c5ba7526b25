// SPDX-License-Identifier: Apache-2.0
// Labelled sequences as a shell sees them: build-sequences, finetune, predict, evaluate.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "tasks/tiny_task.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <cstdlib>
#include <sstream>

using namespace bigbird::testing;

namespace {

/// Rows of a table without their first columns, no header.
std::string behind_columns(const std::string& table, int columns) {
    std::istringstream lines(table);
    std::string rest;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#')) continue;
        std::size_t at = 0;
        for (int i = 0; i < columns; ++i)
            at = line.find('\t', at) + 1;
        rest += line.substr(at) + '\n';
    }
    return rest;
}

/// A chromatin model of windows of 200 bases, and a genome of 2,000.
struct WindowModel {
    TempDir folder;
    std::string dna = random_dna(2000, 1);

    WindowModel() {
        write_file(folder / "genome.fa", ">c\n" + dna + "\n");
        bigbird::tasks::TaskInfo info;
        info.window = {-100, 100};
        write_tiny_task_model(folder / "model", info, 2, 1);
    }
    /// The table of scores.
    ProgramResult predict(const std::vector<std::string>& more, const std::string& input = {}) const {
        return run_program(joined({"predict", "--model", folder / "model", "--device", "cpu", "--quiet",
                                   "--threads", "1", "--output", "-"},
                                  more),
                           input);
    }
};

}  // namespace

DOCTEST_TEST_CASE("sequences: a sequence that is a region's window has its scores, to the byte") {
    const WindowModel model;
    std::string bed, fasta, table = "sequence,id\n";
    for (int begin = 0; begin + 200 <= 2000; begin += 150) {
        const std::string id = "r" + std::to_string(begin),
                          sequence = model.dna.substr(static_cast<std::size_t>(begin), 200);
        bed += "c\t" + std::to_string(begin) + "\t" + std::to_string(begin + 200) + "\t" + id + "\n";
        fasta += ">" + id + " of c\n" + sequence.substr(0, 70) + "\n" + sequence.substr(70) + "\n";
        table += sequence + "," + id + "\n";
    }
    write_file(model.folder / "rows.bed", bed);
    const auto regions =
        model.predict({"--reference", model.folder / "genome.fa", "--regions", model.folder / "rows.bed"});
    const auto records = succeeded(model.predict({"--sequences", "-"}, fasta));
    DOCTEST_CHECK(
        holds(records.out, "\n#id\tlength\tstatus\tn_fraction\tlabel0\tlabel1\nr0\t200\tok\t0\t0."));
    DOCTEST_CHECK(behind_columns(records.out, 4) == behind_columns(regions.out, 8));
    DOCTEST_CHECK(model.predict({"--sequences", "-"}, table).out == records.out);
}

DOCTEST_TEST_CASE("sequences: what bedtools getfasta cuts has the scores of the BED, to the byte") {
    const WindowModel model;
    std::string bed;
    for (int begin = 0; begin + 200 <= 2000; begin += 37)
        bed += "c\t" + std::to_string(begin) + "\t" + std::to_string(begin + 200) + "\n";
    write_file(model.folder / "rows.bed", bed);
    const std::string genome = model.folder / "genome.fa", rows = model.folder / "rows.bed",
                      cut = model.folder / "cut.fa";
    DOCTEST_REQUIRE(
        std::system(("bedtools getfasta -fi " + genome + " -bed " + rows + " -fo " + cut).c_str()) == 0);
    const auto regions = model.predict({"--reference", genome, "--regions", rows});
    const auto records = succeeded(model.predict({"--sequences", cut}));
    DOCTEST_CHECK(holds(records.out, "\nc:37-237\t200\tok\t0\t"));
    DOCTEST_CHECK(behind_columns(records.out, 4) == behind_columns(regions.out, 8));
}

DOCTEST_TEST_CASE("sequences: longer ones are cut about their middle or refused, shorter ones padded") {
    const WindowModel model;
    const std::string middle = model.dna.substr(500, 200), longer = model.dna.substr(450, 300);
    const auto result =
        succeeded(model.predict({"--sequences", "-"}, middle + "\n" + longer + "\nACGTACGTAA\nNNNN\n"));
    const std::string rest = behind_columns(result.out, 4);
    const std::size_t line = rest.find('\n') + 1;
    DOCTEST_CHECK(rest.substr(0, line) == rest.substr(line, line));
    check_holds(result.out,
                {"\n2\t300\ttruncated\t0\t", "\n3\t10\tpadded\t0\t0.", "\n4\t4\tall_n\t1\tNA\tNA\n"});
    DOCTEST_CHECK(holds(result.err, "1 sequence longer than what the model reads"));
    const auto protein = model.predict({"--sequences", "-"}, ">p\nMELLIF\n");
    DOCTEST_CHECK(holds(protein.err,
                        "5 of 6 letters stand for no nucleotide, the first 'E' in line 1: are "
                        "these proteins?"));
}

DOCTEST_TEST_CASE("sequences: a bin model scores them as the whole contigs that they are") {
    const TempDir folder;
    const std::string fasta = folder / "r.fa";
    write_file(fasta, ">a\n" + random_dna(500, 3) + "\n>b\n" + random_dna(1000, 4) + "\n");
    write_file(folder / "r.bed", "a\t0\t500\nb\t0\t1000\n");
    const auto predict = [&](const std::vector<std::string>& more) {
        return run_program(joined({"predict", "--model", test_data("models/chromatin-grch37"), "--pool",
                                   "max", "--device", "cpu", "--quiet", "--threads", "1", "--output", "-"},
                                  more));
    };
    const auto regions = predict({"--reference", fasta, "--regions", folder / "r.bed"});
    const auto records = succeeded(predict({"--sequences", fasta}));
    DOCTEST_CHECK(behind_columns(records.out, 4) == behind_columns(regions.out, 8));
    write_file(fasta, ">a\nACGT\n");
    DOCTEST_CHECK(
        predict({"--sequences", fasta}).err ==
        "bigbird-dna: error: " + fasta +
            ":1: has a sequence of 4 bases; the model scores bins of 200 (--skip-invalid marks such rows "
            "and goes on)\n");
    DOCTEST_CHECK(
        holds(predict({"--sequences", fasta, "--skip-invalid"}).out, "\na\t4\tbad_interval\tNA\tNA\t"));
    DOCTEST_CHECK(predict({"--sequences", fasta, "--tile", "200"}).err ==
                  "bigbird-dna: error: --sequences are scored whole: leave out --tile\n");
}

DOCTEST_TEST_CASE("sequences: from a table to scores of classes, in parts and whole") {
    const TempDir folder;
    const std::string table = test_data("sequences/promoters.csv.gz"), examples = folder / "e",
                      model = folder / "e/run", scores = folder / "s.tsv";  // a run may be in its examples
    works(
        {"build-sequences", "--table", table, "--split-by", "similarity:0.6,0.2,0.2", "--output", examples});
    works({"finetune", "--examples", examples, "--architecture", "kmer-logistic", "--output", model});
    works({"predict", "--model", model, "--sequences", table, "--output", scores, "--output",
           folder / "s.csv", "--output", folder / "s.npy", "--output", folder / "s.h5"});
    DOCTEST_CHECK(holds(read_file(scores),
                        "\n#id\tlength\tstatus\tn_fraction\tclass\tother\tpromoter\nXKR3_2\t300\tok\t0\t"));
    DOCTEST_CHECK(read_file(folder / "s.csv")
                      .starts_with("id,length,status,n_fraction,class,other,promoter\nXKR3_2,300,ok,0,"));
    works({"predict", "--model", model, "--examples", examples, "--split", "test", "--output",
           folder / "test.tsv"});
    std::istringstream rows(behind_columns(read_file(folder / "test.tsv"), 0));
    int count = 0;
    for (std::string line; std::getline(rows, line); ++count)
        DOCTEST_CHECK(holds(read_file(scores), "\n" + line + "\n"));
    DOCTEST_CHECK(count > 30);
    for (const char* part : {"1", "2", "3"})
        works({"predict", "--model", model, "--sequences", table, "--shard", std::string(part) + "/3",
               "--output", (folder / part).string() + ".tsv"});
    works({"merge", folder / "1.tsv", folder / "2.tsv", folder / "3.tsv", "--output", folder / "m.tsv"});
    DOCTEST_CHECK(read_file(folder / "m.tsv") == read_file(scores));
    works({"evaluate", "--scores", scores, "--examples", examples, "--output", folder / "v.json", "--output",
           folder / "v.tsv", "--output", folder / "v.csv", "--output", folder / "v.html"});
    works({"evaluate", "--scores", "s=" + (folder / "s.h5").string(), "--examples", examples, "--output",
           folder / "h.json"});
    const auto figures = bigbird::read_json(folder / "v.json");
    bigbird::Json of_hdf5 = bigbird::read_json(folder / "h.json");
    DOCTEST_CHECK(of_hdf5["inputs"]["scores"] != figures["inputs"]["scores"]);
    of_hdf5["inputs"]["scores"] = figures["inputs"]["scores"];
    DOCTEST_CHECK(of_hdf5 == figures);
    DOCTEST_CHECK(figures["target"] == "classes");
    DOCTEST_CHECK(figures["auroc"].get<double>() > 0.6);
    DOCTEST_CHECK(figures["auroc_low"].get<double>() < figures["auroc"].get<double>());
    DOCTEST_CHECK(read_file(folder / "v.csv").starts_with("figure,of,value,low,high\naccuracy,all,"));
    DOCTEST_CHECK(holds(read_file(folder / "v.html"), "<h2>Confusion</h2>"));
    works({"evaluate", "--scores", folder / "test.tsv", "--examples", examples, "--model-card",
           folder / "e/run/model", "--output", folder / "card.json"});
    check_said(
        run_program({"evaluate", "--scores", folder / "test.tsv", "--examples", examples, "--model-card",
                     test_data("models/chromatin-grch37"), "--output", folder / "none.json"}),
        2, "test.tsv holds the scores of another model than ");
    const std::string card = read_file(folder / "e/run/model/README.md");
    DOCTEST_CHECK(holds(card, fmt::format("| MCC | {:.4g} |", figures["mcc"].get<double>())));
    check_said(run_program({"predict", "--model", model, "--sequences", table, "--output", folder / "t.bw"}),
               2, "a track needs scores of places; write .tsv, .npy or .h5");
}

DOCTEST_TEST_CASE("sequences: a network's finetune, predict and evaluate, stopped members kept") {
    const TempDir folder;
    const std::string table = test_data("sequences/promoters.csv.gz"), examples = folder / "e",
                      model = folder / "run";
    works(
        {"build-sequences", "--table", table, "--split-by", "similarity:0.6,0.2,0.2", "--output", examples});
    const auto finetune =
        joined(words_of("finetune-sequences --strand given --members 2 --steps 30 --threads 2 --device cpu"),
               {"--examples", examples, "--output", model});
    const auto trained = works(finetune);
    DOCTEST_CHECK(holds(trained.err, "run/model: the model, the mean of 2 networks\n"));
    DOCTEST_CHECK(holds(works(finetune).err, "this run is finished already"));
    std::vector<std::string> other = finetune;
    other[4] = "3";
    check_said(run_program(other), 2, "--members is 3, but this run was started with 2");
    works({"predict", "--model", model, "--examples", examples, "--split", "test", "--output",
           folder / "test.tsv"});
    works({"predict", "--model", model, "--sequences", table, "--output", folder / "all.tsv"});
    std::istringstream rows(behind_columns(read_file(folder / "test.tsv"), 0));
    for (std::string line; std::getline(rows, line);)
        DOCTEST_CHECK(holds(read_file(folder / "all.tsv"), "\n" + line + "\n"));
    works(
        {"evaluate", "--scores", folder / "test.tsv", "--examples", examples, "--output", folder / "v.json"});
    DOCTEST_CHECK(bigbird::read_json(folder / "v.json")["auroc"].get<double>() > 0.7);
}
