// SPDX-License-Identifier: Apache-2.0
// Encoders that others published, as a shell sees them: info, embed, evaluate-mlm, predict-variants, finetune
// whole, by adapters and as a probe, and predict.
#include "cli/checks.hpp"
#include "parity/made_weights.hpp"
#include "support/temp_dir.hpp"
#include "tasks/bin_examples.hpp"
#include "tasks/tiny_task.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/safetensors.hpp"

#include <ATen/ATen.h>

#include <random>
#include <sstream>

using namespace bigbird::testing;
using bigbird::Json;

namespace {

/// A folder of Nucleotide Transformer's form, with 2-mers, and sequences.
class EncoderFolder : public TestFolder {
public:
    EncoderFolder() {
        const Json cases = bigbird::read_json(test_data("encoders/forms.json"));
        make("model", cases.at("esm"));
        std::mt19937 random(3);
        std::string table = "sequence,label,split\n", fasta;
        for (int i = 0; i < 40; ++i) {
            std::string dna;
            for (int base = 0; base < 40; ++base)
                dna += (i % 2 == 0 ? "ACGTAA" : "ACGTGG")[random() % 6];
            table += dna + (i % 2 == 0 ? ",at," : ",gc,") +
                     (i < 28   ? "train"
                      : i < 36 ? "validation"
                               : "test") +
                     "\n";
            fasta += ">r" + std::to_string(i) + "\n" + dna + "\n";
        }
        write_file(folder_ / "table.csv", table);
        write_file(folder_ / "rows.fa", fasta + ">long\n" + std::string(100, 'A') + "\n");
    }
    void make(const std::string& name, Json given) {
        const std::filesystem::path folder = folder_ / name;
        std::filesystem::create_directories(folder);
        bigbird::parity::write_folder(given, folder);
        std::string vocabulary = "<unk>\n<pad>\n<mask>\n<cls>\n";
        for (const char* token : {"AA", "AT", "AC", "AG", "TA", "TT", "TC", "TG", "CA", "CT",
                                  "CC", "CG", "GA", "GT", "GC", "A",  "T",  "C",  "G",  "N"})
            vocabulary += std::string(token) + "\n";
        write_file(folder / "vocab.txt", vocabulary);
        write_file(folder / "tokenizer_config.json", R"({"eos_token": null})");
    }
    ProgramResult run(const std::string& line) const {
        std::vector<std::string> words;
        for (std::string word : words_of(line)) {
            if (word.starts_with('@')) word = *this / word.substr(1);
            words.push_back(std::move(word));
        }
        return run_program(joined(words, {"--device", "cpu", "--threads", "1"}));
    }
    std::string read(const std::string& name) const { return read_file(folder_ / name); }
    Json json(const std::string& name) const { return bigbird::read_json(folder_ / name); }
};

/// The folder of a run's newest checkpoint.
std::filesystem::path last_checkpoint_in(const std::filesystem::path& run) {
    std::filesystem::path last;
    for (const auto& entry : std::filesystem::directory_iterator(run / "checkpoints"))
        last = std::max(last, entry.path());
    return last;
}

/// Lines of a table without comments.
std::size_t rows_in(const std::string& table) {
    std::istringstream lines(table);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);)
        count += line.starts_with('#') ? 0U : 1U;
    return count;
}

}  // namespace

DOCTEST_TEST_CASE("encoders: info, embed and evaluate-mlm take a published folder") {
    const EncoderFolder folder;
    const auto info = works({"info", folder / "model"});
    check_holds(info.out, {"form               ESM, as its weights show", "positions          32",
                           "vocab.txt", "k-mers of a vocabulary, cut from the left"});
    for (const char* pooling : {"mean", "mean-special", "cls"}) {
        succeeded(folder.run(std::string("embed --model @model --sequences @rows.fa --output @") + pooling +
                             ".tsv --pooling " + pooling));
        DOCTEST_CHECK(rows_in(folder.read(std::string(pooling) + ".tsv")) == 41);
    }
    DOCTEST_CHECK(holds(folder.read("cls.tsv"), "truncated"));
    succeeded(folder.run("embed --model @model --sequences @rows.fa --output @tokens.tsv --pooling token"));
    check_holds(folder.read("tokens.tsv"), {"\t1\t0\t2\t"});
    DOCTEST_CHECK(rows_in(folder.read("tokens.tsv")) > 800);
    succeeded(folder.run("evaluate-mlm --model @model --documents @rows.fa --output @mlm.json"));
    DOCTEST_CHECK(folder.json("mlm.json").at("masked_tokens").get<int>() > 50);
}

DOCTEST_TEST_CASE("encoders: variants inside one k-mer are scored without fine-tuning, indels are not") {
    const EncoderFolder folder;
    write_file(folder / "genome.fa", ">c\nACGTACGTACGTAACCGGTTACGTACGTACGTACGTTTACG\n");
    write_file(folder / "v.vcf",
               "##fileformat=VCFv4.2\n##contig=<ID=c>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
               "c\t20\tsnv\tT\tC\t.\t.\t.\nc\t21\tdeletion\tAC\tA\t.\t.\t.\n");
    const auto result =
        succeeded(folder.run("predict-variants --model @model --reference @genome.fa --variants @v.vcf "
                             "--window 20 --output @v.tsv"));
    DOCTEST_CHECK(holds(result.err, "Only substitutions within one token are scored"));
    check_holds(folder.read("v.tsv"), {"snv", "too_long"});
}

DOCTEST_TEST_CASE("encoders: fine-tuned whole, by adapters and as a probe, the model predicts") {
    const EncoderFolder folder;
    succeeded(run_program({"build-sequences", "--table", folder / "table.csv", "--split-by", "column:split",
                           "--output", folder / "examples"}));
    const std::string finetune = "finetune --examples @examples --model @model --output ";
    succeeded(folder.run(finetune + "@full --steps 2 --batch-size 4"));
    succeeded(folder.run(finetune + "@lora --steps 2 --batch-size 4 --lora 2 --lora-dropout 0.1"));
    succeeded(folder.run(finetune + "@probe --architecture probe"));
    succeeded(folder.run(finetune + "@geneb --architecture probe --probe geneb"));
    DOCTEST_CHECK_FALSE(holds(folder.run(finetune + "@silent --steps 1").err, "motifs of the training rows"));
    for (const char* run : {"full", "lora", "probe", "geneb"}) {
        DOCTEST_CAPTURE(run);
        succeeded(folder.run(std::string("predict --model @") + run + " --sequences @rows.fa --output @" +
                             run + ".tsv"));
        DOCTEST_CHECK(rows_in(folder.read(std::string(run) + ".tsv")) == 41);
    }
    const Json adapter = folder.json("lora/model/adapter/adapter_config.json");
    DOCTEST_CHECK(adapter.at("r") == 2);
    DOCTEST_CHECK(adapter.at("base_model_name_or_path") == folder / "model");
    DOCTEST_CHECK(metrics_of(folder / "probe").back().at("eval_auroc").get<double>() > 0.9);
    // The adapter's folder is a model, too.
    succeeded(folder.run("embed --model @lora/model/adapter --sequences @rows.fa --output @adapted.tsv"));
    DOCTEST_CHECK(
        Json::parse(succeeded(run_program({"info", folder / "lora/model/adapter", "--json"})).out) ==
        adapter);
    check_said(folder.run("predict --model @lora/model/adapter --sequences @rows.fa --output @none.tsv"), 3,
               "give its run or the run's model/");
    DOCTEST_CHECK(rows_in(folder.read("adapted.tsv")) == 41);
    check_said(folder.run(finetune + "@none --lora-alpha 3"), 2,
               "--lora-alpha and --lora-dropout need --lora RANK");
    check_said(folder.run(finetune + "@none --architecture probe --lora 2"), 2, "--lora has no effect with");
}

DOCTEST_TEST_CASE("encoders: adapters are trained on where a run was stopped") {
    const EncoderFolder folder;
    succeeded(run_program({"build-sequences", "--table", folder / "table.csv", "--split-by", "column:split",
                           "--output", folder / "examples"}));
    const std::string finetune =
        "finetune --examples @examples --model @model --lora 2 --batch-size 4 --steps 6 ";
    succeeded(folder.run(finetune + "--output @whole"));
    DOCTEST_CHECK(folder.run(finetune + "--max-hours 0.0000001 --output @parts").code == 75);
    succeeded(folder.run(finetune + "--output @parts"));
    DOCTEST_CHECK(weights_of(folder / "whole") == weights_of(folder / "parts"));
}

DOCTEST_TEST_CASE("encoders: bins, windows, promoters and labels of bases, whole and by adapters") {
    const EncoderFolder folder;
    write_bin_examples(folder / "bins", 100, 1);
    write_motif_examples(folder / "windows", 24, 1);
    write_motif_examples(folder / "promoters", 24, 1, bigbird::examples::Task::promoter);
    write_file(folder / "genome.fa", ">c\n" + BinGenome(100, 1).dna + "\n");
    write_file(folder / "regions.bed", "c\t600\t800\n");
    write_file(folder / "labels.bed",
               "c\t100\t150\tsite\nc\t300\t360\tother\nc\t640\t660\tsite\nc\t700\t720\tother\n");
    const std::string shared = " --model @model --steps 4 --evaluate-every 2 --batch-size 4 --output @";
    const std::vector<std::pair<std::string, std::string>> tasks{
        {"bins", "finetune --examples @bins --head bins --window 40"},
        {"windows", "finetune --examples @windows"},
        {"promoters", "finetune --examples @promoters"},
        {"tokens", "finetune --annotations @labels.bed --reference @genome.fa --validation c:601-900"}};
    for (const auto& [task, line] : tasks) {
        DOCTEST_CAPTURE(task);
        succeeded(folder.run(line + shared + task + "-full"));
        const std::string adapted = line + " --lora 2 --lora-dropout 0.1" + shared + task;
        succeeded(folder.run(adapted + "-lora"));
        DOCTEST_CHECK(folder.run(adapted + "-parts --max-hours 0.0000001").code == 75);
        succeeded(folder.run(adapted + "-parts"));
        DOCTEST_CHECK(weights_of(folder / (task + "-parts")) == weights_of(folder / (task + "-lora")));
        for (const char* kind : {"-full", "-lora"})
            succeeded(folder.run("predict --model @" + task + kind +
                                 " --reference @genome.fa --regions @regions.bed --output @" + task + kind +
                                 ".tsv"));
        DOCTEST_CHECK(folder.read(task + "-full.tsv") != folder.read(task + "-lora.tsv"));
        const Json adapter = folder.json(task + "-lora/model/adapter/adapter_config.json");
        DOCTEST_CHECK(adapter.at("r") == 2);
    }
    // The average of the weights has adapters of its own, and what run/model holds is them, merged.
    const auto state = bigbird::model::read_safetensors(last_checkpoint_in(folder / "bins-lora") /
                                                        "training_state/weights.safetensors");
    const auto average = bigbird::model::read_safetensors(last_checkpoint_in(folder / "bins-lora") /
                                                          "training_state/average.safetensors");
    DOCTEST_CHECK(state.size() == average.size());
    const std::string of_b = "bert.encoder.layer.0.output.dense.lora_B";
    DOCTEST_CHECK(!at::equal(state.at(of_b), average.at(of_b)));
}

DOCTEST_TEST_CASE("encoders: a classifier that transformers fine-tuned predicts at once") {
    EncoderFolder folder;
    Json given = bigbird::read_json(test_data("encoders/adapters.json")).at("esm");
    given["config"]["id2label"] = {{"0", "none"}, {"1", "weak"}, {"2", "strong"}};
    folder.make("classifier", given);
    const auto result = succeeded(folder.run("predict --model @classifier --sequences @rows.fa --output -"));
    check_holds(result.out, {"\tnone\tweak\tstrong\n", "truncated"});
    check_holds(works({"info", folder / "classifier"}).out, {"EsmForSequenceClassification", "labels"});
}
