// SPDX-License-Identifier: Apache-2.0
// --shard and merge as programs: what one run writes, in every format that the command has.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "tasks/tiny_task.hpp"

#include <filesystem>

using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

class MergedJobs : public TestFolder {
public:
    MergedJobs() {
        write_file(folder_ / "genome.fa",
                   ">c\n" + random_dna(6000, 1) + "\n>d\n" + random_dna(3000, 2) + "\n");
        bigbird::tasks::TaskInfo info;
        info.window = {-100, 100};
        write_tiny_task_model(folder_ / "model", info, 2, 1);
        std::string bed = "c\t0\t6000\tall\n", vcf =
                                                   "##fileformat=VCFv4.2\n##contig=<ID=c>\n"
                                                   "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
        for (int i = 0; i < 40; ++i) {
            bed += "d\t" + std::to_string(50 * i) + "\t" + std::to_string(50 * i + 50) + "\trow" +
                   std::to_string(i) + "\n";
            vcf += "c\t" + std::to_string(100 * i + 200) + "\t.\tN\tA,C\t.\t.\t.\n";
        }
        write_file(folder_ / "rows.bed", bed);
        write_file(folder_ / "variants.vcf", vcf);
    }

    ProgramResult run(std::vector<std::string> words, const std::string& output,
                      const std::string& shard = {}) const {
        words.insert(words.end(), {"--output", folder_ / output, "--threads", "1", "--quiet"});
        if (!shard.empty()) words.insert(words.end(), {"--shard", shard});
        return run_program(words);
    }
    ProgramResult merge(const std::vector<std::string>& parts, const std::string& output) const {
        return merge(parts, std::vector{output});
    }
    ProgramResult merge(const std::vector<std::string>& parts,
                        const std::vector<std::string>& outputs) const {
        std::vector<std::string> words{"merge", "--quiet"};
        for (const std::string& output : outputs)
            words.insert(words.end(), {"--output", folder_ / output});
        for (const std::string& part : parts)
            words.push_back(folder_ / part);
        return run_program(words);
    }
    std::vector<std::string> predict(const std::vector<std::string>& more = {}) const {
        return joined({"predict-chromatin", "--model", folder_ / "model", "--reference",
                       folder_ / "genome.fa", "--regions", folder_ / "rows.bed"},
                      more);
    }
    /// Checks that three parts of what a command writes, which end in `part`, make the files that it writes
    /// at once.
    void check_merged(const std::vector<std::string>& words, const std::vector<std::string>& endings,
                      const std::string& part) const {
        for (const char* folder : {"whole", "merged"})
            fs::create_directory(folder_ / folder);
        std::vector<std::string> parts, merged, whole = words;
        for (const std::string& ending : endings) {
            merged.push_back("merged/m" + ending);
            whole.insert(whole.end(), {"--output", folder_ / ("whole/m" + ending)});
        }
        succeeded(run_program(joined(whole, {"--threads", "1", "--quiet"})));
        for (const char* number : {"3", "1", "2"}) {
            parts.push_back("part" + std::string(number) + part);
            succeeded(run(joined(words, {"--force"}), parts.back(), std::string(number) + "/3"));
            DOCTEST_REQUIRE(fs::exists(folder_ / (parts.back() + ".part.json")));
        }
        succeeded(merge(parts, merged));
        std::size_t files = 0;
        for (const auto& entry : fs::directory_iterator(folder_ / "whole")) {
            DOCTEST_CAPTURE(entry.path());
            DOCTEST_CHECK(same(entry.path(), folder_ / "merged" / entry.path().filename()));
            ++files;
        }
        DOCTEST_CHECK(files >= endings.size());
        for (const char* folder : {"whole", "merged"})
            fs::remove_all(folder_ / folder);
    }

private:
    static bool same(const fs::path& a, const fs::path& b) {
        if (!fs::is_directory(a)) return read_file(a) == read_file(b);
        for (const auto& entry : fs::directory_iterator(a))
            if (read_file(entry.path()) != read_file(b / entry.path().filename())) return false;
        return true;
    }
};

}  // namespace

DOCTEST_TEST_CASE("merge: rows and tiles of predict-chromatin, in every format") {
    const MergedJobs fixture;
    fixture.check_merged(fixture.predict({"--tile", "60", "--labels", "1"}),
                         {".tsv", ".tsv.gz", ".csv", ".csv.gz", ".npy", ".h5", ".bedgraph", ".bw"},
                         ".tsv.gz");
    fixture.check_merged(fixture.predict({"--min-score", "0.5"}),
                         {".long.tsv", ".{label}.bw", ".{index}.bedgraph"}, ".tsv");
    fixture.check_merged(fixture.predict({"--tile", "50", "--pool", "mean"}), {".tsv"}, ".tsv");
}

DOCTEST_TEST_CASE("merge: predict-variants, embed, build-documents and tokenize") {
    const MergedJobs fixture;
    const std::vector<std::string> variants{
        "predict-variants",    "--model",    fixture / "model",        "--reference",
        fixture / "genome.fa", "--variants", fixture / "variants.vcf", "--skip-invalid",
        "--min-score",         "0"};
    fixture.check_merged(variants, {".tsv.gz", ".long.tsv", ".h5"}, ".tsv.gz");
    fixture.check_merged(variants, {".vcf", ".vcf.gz"}, ".vcf.gz");
    fixture.check_merged(variants, {".vcf", ".vcf.gz", ".bcf"}, ".bcf");
    const std::vector<std::string> embed{"embed",
                                         "--model",
                                         fixture / "model",
                                         "--reference",
                                         fixture / "genome.fa",
                                         "--regions",
                                         fixture / "rows.bed",
                                         "--window",
                                         "100"};
    fixture.check_merged(joined(embed, {"--pooling", "token"}), {".h5", ".csv"}, ".tsv.gz");
    fixture.check_merged(embed, {".npy"}, ".tsv.gz");
    const std::vector<std::string> build{
        "build-documents", "--reference", fixture / "genome.fa", "--passes", "3",
        "--sentences",     "2:4",         "--sentence-length",   "40:80"};
    fixture.check_merged(build, {".txt.gz"}, ".txt.gz");
    fixture.check_merged(build, {".bed"}, ".bed");
    succeeded(fixture.run(build, "d.txt"));
    fixture.check_merged(
        {"tokenize", "--documents", fixture / "d.txt", "--tokenizer", test_data("tokenizer/small.model")},
        {".tokens"}, ".tokens");
}

DOCTEST_TEST_CASE("merge: what is no part, or no whole, ends with a sentence") {
    const MergedJobs fixture;
    for (const char* shard : {"0/4", "5/4", "1/0", "x"})
        check_said(fixture.run(fixture.predict(), "a.tsv", shard), 2, std::string("--shard ") + shard);
    DOCTEST_CHECK(!fs::exists(fixture / "a.tsv"));
    check_said(run_program({"build-documents", "--reference", fixture / "genome.fa", "--shard", "1/2",
                            "--output", "/dev/stdout"}),
               2, "--shard writes a file; --output /dev/stdout");
    succeeded(fixture.run(fixture.predict(), "a.tsv", "1/2"));
    succeeded(fixture.run(fixture.predict({"--reverse-complement", "none"}), "b.tsv", "2/2"));
    succeeded(fixture.run(fixture.predict(), "whole.tsv"));
    check_said(fixture.merge({"a.tsv"}, "m.tsv"), 3, "parts are missing: 2/2");
    check_said(fixture.merge({"a.tsv", "b.tsv"}, "m.tsv"), 3, "reverse_complement differs");
    check_said(fixture.merge({"a.tsv", "whole.tsv"}, "m.tsv"), 3,
               "whole.tsv: there is no whole.tsv.part.json");
    check_said(fixture.merge({"a.tsv.part.json"}, "m.tsv"), 2, "no part is given");
    check_said(fixture.merge({"none.tsv"}, "m.tsv"), 3, "none.tsv: no such file");
    succeeded(fixture.run(fixture.predict({"--anchor", "summit"}), "s.tsv", "2/2"));
    check_said(fixture.merge({"a.tsv", "s.tsv"}, "m.tsv"), 3, "anchor differs");
    succeeded(fixture.run(fixture.predict(), "c.tsv", "2/2"));
    check_said(fixture.run(fixture.predict(), "c.h5", "2/2"), 2, "c.h5: --shard writes parts as .tsv");
    check_said(fixture.merge({"a.tsv", "c.tsv"}, "m.vcf"), 2, "m.vcf: a VCF or BCF needs parts of");
    check_said(fixture.merge({"a.tsv", "c.tsv"}, "a.tsv"), 2, "is named by");
    // Records that a pattern names, too, are passed over.
    succeeded(fixture.merge({"a.tsv", "a.tsv.part.json", "c.tsv"}, "m.tsv"));
    DOCTEST_CHECK(read_file(fixture / "m.tsv") == read_file(fixture / "whole.tsv"));
    // A whole in the place of a part is no part any more.
    succeeded(fixture.run(fixture.predict(), "w.tsv", "1/1"));
    std::vector<std::string> again = fixture.predict({"--force"});
    succeeded(fixture.run(again, "w.tsv"));
    DOCTEST_CHECK(!fs::exists(fixture / "w.tsv.part.json"));
    fs::resize_file(fixture / "c.tsv", fs::file_size(fixture / "c.tsv") / 2);
    check_said(fixture.merge({"a.tsv", "c.tsv"}, "n.tsv"), 3, "truncated or changed");
    DOCTEST_CHECK(!fs::exists(fixture / "n.tsv"));
}

DOCTEST_TEST_CASE("merge: a part without a document says so, and a slash behind a folder changes nothing") {
    const MergedJobs fixture;
    write_file(fixture / "two.txt", "ACGTACGT\n\nTTTTCCCC\n");
    const std::vector<std::string> words{"tokenize", "--documents", fixture / "two.txt", "--tokenizer",
                                         test_data("tokenizer/small.model")};
    check_said(fixture.run(words, "k3", "3/3"), 3, "has no document for part 3/3: give fewer parts");
    succeeded(fixture.run(words, "k1/", "1/2"));
    succeeded(fixture.run(words, "k2", "2/2"));
    DOCTEST_CHECK(fs::exists(fixture / "k1.part.json"));
    succeeded(fixture.merge({"k2/", "k1"}, "all"));
}

DOCTEST_TEST_CASE("merge: a disk that is full ends with code 74 and leaves nothing behind") {
    const MergedJobs fixture;
    succeeded(fixture.run(fixture.predict({"--tile", "10", "--labels", "1"}), "p.tsv", "1/1"));
    for (const char* ending : {".tsv", ".tsv.gz", ".npy", ".h5", ".bw"}) {
        DOCTEST_CAPTURE(ending);
        const std::string name(ending);
        fs::create_directory(fixture / ("full" + name));
        // 2,000 bytes are less than any of them has.
        DOCTEST_CHECK(run_program({"merge", fixture / "p.tsv", "--output",
                                   fixture / ("full" + name + "/m" + name), "--quiet"},
                                  {}, {.largest_file = 2000})
                          .code == 74);
        DOCTEST_CHECK(fs::is_empty(fixture / ("full" + name)));
    }
}
