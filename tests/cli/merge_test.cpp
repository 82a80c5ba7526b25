// SPDX-License-Identifier: Apache-2.0
// --shard and merge as programs: what one run writes, whatever the command and the format.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "task_models/tiny_task.hpp"

#include <filesystem>

using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

class MergeFixture : public TestFolder {
public:
    MergeFixture() {
        write_file(folder_ / "genome.fa",
                   ">c\n" + random_dna(6000, 1) + "\n>d\n" + random_dna(3000, 2) + "\n");
        bigbird::task_models::TaskInfo info;
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
        std::vector<std::string> words{"merge"};
        for (const std::string& part : parts)
            words.push_back(folder_ / part);
        words.insert(words.end(), {"--output", folder_ / output, "--quiet"});
        return run_program(words);
    }
    std::vector<std::string> predict(const std::vector<std::string>& more = {}) const {
        return joined({"predict-chromatin", "--model", folder_ / "model", "--reference",
                       folder_ / "genome.fa", "--regions", folder_ / "rows.bed"},
                      more);
    }
    /// Whether three parts of what a command writes make what it writes at once.
    bool merges(const std::vector<std::string>& words, const std::string& ending) const {
        succeeded(run(words, "whole" + ending));
        std::vector<std::string> parts;
        for (const char* number : {"3", "1", "2"}) {
            parts.push_back("part" + std::string(number) + ending);
            succeeded(run(words, parts.back(), std::string(number) + "/3"));
            DOCTEST_REQUIRE(fs::exists(folder_ / (parts.back() + ".part.json")));
        }
        succeeded(merge(parts, "merged" + ending));
        return same(folder_ / ("whole" + ending), folder_ / ("merged" + ending));
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
    const MergeFixture fixture;
    for (const char* ending : {".tsv", ".tsv.gz", ".csv", ".csv.gz", ".npy", ".h5"}) {
        DOCTEST_CAPTURE(ending);
        DOCTEST_CHECK(fixture.merges(fixture.predict({"--tile", "60"}), ending));
    }
    for (const char* ending : {".half.npy", ".half.h5"})
        DOCTEST_CHECK(fixture.merges(fixture.predict({"--tile", "60", "--precision", "float16"}), ending));
    DOCTEST_CHECK(fixture.merges(fixture.predict({"--min-score", "0.5"}), ".long.tsv"));
    DOCTEST_CHECK(fixture.merges(fixture.predict({"--tile", "50", "--pool", "mean"}), ".pooled.tsv"));
    for (const char* ending : {".bedgraph", ".bw"})
        DOCTEST_CHECK(fixture.merges(fixture.predict({"--tile", "60", "--track-labels", "1"}), ending));
}

DOCTEST_TEST_CASE("merge: a file per label") {
    const MergeFixture fixture;
    const std::vector<std::string> predict = fixture.predict({"--tile", "60"});
    for (const std::string names : {"{index}.bedgraph", "{label}.bw"}) {
        DOCTEST_REQUIRE(fixture.run(predict, "whole." + names).code == 0);
        DOCTEST_REQUIRE(fixture.run(predict, "1." + names, "1/2").code == 0);
        DOCTEST_REQUIRE(fixture.run(predict, "2." + names, "2/2").code == 0);
        succeeded(fixture.merge({"2." + names, "1." + names}, "merged." + names));
    }
    int files = 0;
    for (const auto& entry : fs::directory_iterator(fixture / ".")) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("whole.")) continue;
        ++files;
        DOCTEST_CHECK(read_file(entry.path()) == read_file(fixture / ("merged." + name.substr(6))));
    }
    DOCTEST_CHECK(files == 4);  // of two labels
    const std::string one = "1.{label}.bw", two = "2.{label}.bw";
    check_said(fixture.merge({one, "2.bw"}, "again.{label}.bw"), 2,
               "{label} or {index} is not in the file name");
    check_said(fixture.merge({one, "3.{label}.bw"}, "again.{label}.bw"), 3, "no such files");
    for (const auto& entry : fs::directory_iterator(fixture / "."))
        if (entry.path().filename().string().starts_with("2.")) fs::rename(entry.path(), fixture / "gone");
    write_file(fixture / "2.other.bw", "");
    check_said(fixture.merge({one, two}, "again.{label}.bw"), 3, "has other labels than");
}

DOCTEST_TEST_CASE("merge: predict-variants, embed, build-documents and tokenize") {
    const MergeFixture fixture;
    for (const char* ending : {".v.tsv.gz", ".v.long.tsv", ".vcf", ".vcf.gz", ".bcf"}) {
        DOCTEST_CAPTURE(ending);
        DOCTEST_CHECK(fixture.merges(
            {"predict-variants", "--model", fixture / "model", "--reference", fixture / "genome.fa",
             "--variants", fixture / "variants.vcf", "--skip-invalid", "--min-score", "0"},
            ending));
    }
    DOCTEST_CHECK(read_file(fixture / "whole.vcf.gz.tbi") == read_file(fixture / "merged.vcf.gz.tbi"));
    DOCTEST_CHECK(read_file(fixture / "whole.bcf.csi") == read_file(fixture / "merged.bcf.csi"));
    const std::vector<std::string> embed{"embed",
                                         "--model",
                                         fixture / "model",
                                         "--reference",
                                         fixture / "genome.fa",
                                         "--regions",
                                         fixture / "rows.bed",
                                         "--window",
                                         "100"};
    DOCTEST_CHECK(fixture.merges(joined(embed, {"--pooling", "token"}), ".e.h5"));
    DOCTEST_CHECK(fixture.merges(embed, ".e.npy"));
    const std::vector<std::string> build{
        "build-documents", "--reference", fixture / "genome.fa", "--passes", "3",
        "--sentences",     "2:4",         "--sentence-length",   "40:80"};
    DOCTEST_CHECK(fixture.merges(build, ".txt.gz"));
    DOCTEST_CHECK(fixture.merges({"tokenize", "--documents", fixture / "whole.txt.gz", "--tokenizer",
                                  test_data("tokenizer/small.model")},
                                 ".tokens"));
    DOCTEST_CHECK(fixture.merges(build, ".bed"));
}

DOCTEST_TEST_CASE("merge: what is no part, or no whole, ends with a sentence") {
    const MergeFixture fixture;
    for (const char* shard : {"0/4", "5/4", "1/0", "x"})
        check_said(fixture.run(fixture.predict(), "a.tsv", shard), 2, std::string("--shard ") + shard);
    DOCTEST_CHECK(!fs::exists(fixture / "a.tsv"));
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
    check_said(fixture.merge({"a.tsv", "c.tsv"}, "m.h5"), 2, "the parts are of the format table");
    check_said(fixture.merge({"a.tsv", "c.tsv"}, "m.csv"), 2, "the parts are of the format table");
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
    const MergeFixture fixture;
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
    const MergeFixture fixture;
    for (const char* ending : {".tsv", ".tsv.gz", ".npy", ".h5", ".bw"}) {
        DOCTEST_CAPTURE(ending);
        const std::string name(ending);
        const auto words = fixture.predict({"--tile", "10", "--track-labels", "1"});
        succeeded(fixture.run(words, "p" + name, "1/1"));
        fs::create_directory(fixture / ("full" + name));
        // 2,000 bytes are less than any of them has.
        DOCTEST_CHECK(run_program({"merge", fixture / ("p" + name), "--output",
                                   fixture / ("full" + name + "/m" + name), "--quiet"},
                                  {}, {.largest_file = 2000})
                          .code == 74);
        DOCTEST_CHECK(fs::is_empty(fixture / ("full" + name)));
    }
}
