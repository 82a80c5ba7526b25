// SPDX-License-Identifier: Apache-2.0
// motifs scan, compare, find, export and marginalize as programs.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include "bigbird/outputs/sinks.hpp"

#include <algorithm>
#include <random>

using namespace bigbird::testing;

namespace {

const std::string head = "MEME version 4\n\nALPHABET= ACGT\n\n";

/// A motif of the letters, each with a share of 0.97.
std::string motif_of(const std::string& id, const std::string& letters) {
    std::string text = "MOTIF " + id +
                       "\nletter-probability matrix: alength= 4 w= " + std::to_string(letters.size()) +
                       " nsites= 100\n";
    for (const char letter : letters)
        for (const char other : std::string("ACGT"))
            text += std::string(letter == other ? "0.97" : "0.01") + (other == 'T' ? "\n" : " ");
    return text;
}

class Fixture : public TestFolder {
public:
    Fixture() {
        write_file(folder_ / "genome.fa", ">c\nTTTTGATTACATTTTTNTGTAATCAAA\n>d\nACACAC\n");
        write_file(folder_ / "m.meme", head + motif_of("one first", "GATTACA"));
        write_file(folder_ / "wide.meme", head + motif_of("one", "GATTACA") + motif_of("two", "CCCCCG"));
    }
    void write(const std::string& name, const std::string& text) const { write_file(folder_ / name, text); }
    ProgramResult scan(const std::string& motifs, const std::vector<std::string>& more) const {
        return run_program(joined({"motifs", "scan", "--motifs", *this / motifs, "--reference",
                                   *this / "genome.fa", "--output", "-"},
                                  more));
    }
};

}  // namespace

DOCTEST_TEST_CASE("motifs scan: hits of both strands as a BED, the same by either spelling of the command") {
    const Fixture fixture;
    const auto result = succeeded(fixture.scan("m.meme", {}));
    DOCTEST_CHECK(result.out ==
                  "#chrom\tstart\tend\tname\tscore\tstrand\tp\tq\tmotif\n"
                  "c\t4\t11\tone\t13.65\t+\t6.104e-05\t0.0008545\tfirst\n"
                  "c\t17\t24\tone\t13.65\t-\t6.104e-05\t0.0008545\tfirst\n");
    DOCTEST_CHECK(holds(result.err, "2 hits"));
    const auto both_forms = run_program({"motifs-scan", "--motifs", fixture / "m.meme", "--reference",
                                         fixture / "genome.fa", "--output", "-", "--threads", "2"});
    DOCTEST_CHECK(both_forms.out == result.out);
    fixture.write("r.bed", "c\t3\t11\nc\t5\t27\n");
    DOCTEST_CHECK(holds(fixture.scan("m.meme", {"--regions", fixture / "r.bed"}).err, "2 hits"));
    fixture.write("r.bed", "c\t3\t11\n");
    DOCTEST_CHECK(holds(fixture.scan("m.meme", {"--regions", fixture / "r.bed"}).err, ": 1 hit\n"));
}

DOCTEST_TEST_CASE("motifs scan: a site in several rows of --regions is one hit, also in q-values") {
    const Fixture fixture;
    fixture.write("one.bed", "c\t0\t12\nc\t16\t26\n");
    const auto once = succeeded(fixture.scan("m.meme", {"--regions", fixture / "one.bed"}));
    DOCTEST_CHECK(holds(once.err, "2 hits"));
    DOCTEST_CHECK(!holds(once.err, "overlap"));
    fixture.write("more.bed", "d\t0\t6\nchrc\t16\t26\nc\t4\t11\nc\t0\t12\nc\t0\t12\n");
    fixture.write("one.bed", "c\t0\t12\nc\t16\t26\nd\t0\t6\n");
    const auto several = succeeded(fixture.scan("m.meme", {"--regions", fixture / "more.bed"}));
    DOCTEST_CHECK(holds(several.err, "more.bed: 2 rows that overlap others are searched together with them"));
    const auto plain = succeeded(fixture.scan("m.meme", {"--regions", fixture / "one.bed"}));
    const std::size_t alias = several.out.find("chrc");
    DOCTEST_REQUIRE(alias != std::string::npos);  // a contig is called as in the row
    DOCTEST_CHECK(std::string(several.out).erase(alias, 3) == plain.out);
    fixture.write("touching.bed", "c\t0\t8\nc\t8\t16\n");
    DOCTEST_CHECK(holds(fixture.scan("m.meme", {"--regions", fixture / "touching.bed"}).err, "0 hits"));
}

DOCTEST_TEST_CASE("motifs scan: motifs of one id are told apart by their names, or refused") {
    const Fixture fixture;
    fixture.write("named.meme", head + motif_of("one first", "GATTACA") + motif_of("one second", "ACACAC"));
    const auto result = succeeded(fixture.scan("named.meme", {"--p-value", "0.001"}));
    DOCTEST_CHECK(holds(result.err, "named.meme: only their names distinguish motifs of the same id, 'one'"));
    check_holds(result.out, {"c\t4\t11\tone\t", "\tfirst\n", "\tsecond\n"});
    fixture.write("twice.jaspar",
                  ">one\tfirst\nA [ 3 0 ]\nC [ 0 0 ]\nG [ 0 3 ]\nT [ 0 0 ]\n"
                  ">one\tfirst\nA [ 3 ]\nC [ 0 ]\nG [ 0 ]\nT [ 0 ]\n");
    check_said(fixture.scan("twice.jaspar", {}), 3,
               "twice.jaspar: has two motifs with the id 'one' and the name 'first': rename or delete one");
    fixture.write("twice.meme", head + motif_of("one", "GATTACA") + motif_of("one", "GATTACA"));
    check_said(fixture.scan("twice.meme", {}), 3,
               "twice.meme: has two motifs with the id 'one' and the name '': rename or delete one");
}

DOCTEST_TEST_CASE("motifs scan: a motif of width 1 has no hits, and is named") {
    const Fixture fixture;
    fixture.write("short.meme", head + motif_of("short", "A") + motif_of("one", "GATTACA"));
    const auto result = succeeded(fixture.scan("short.meme", {}));
    check_holds(result.err, {"1 of 2 motifs can have no hits, among them 'short'", "2 hits"});
    DOCTEST_CHECK(holds(fixture.scan("short.meme", {"--p-value", "0.3"}).out, "\tshort\t"));
    check_said(fixture.scan("short.meme", {"--p-value", "nan"}), 2, "--p-value: 'nan' is not a number");
}

DOCTEST_TEST_CASE("motifs scan: motif files and regions that cannot be read end it, with file and line") {
    const Fixture fixture;
    const auto refused = [&](const std::string& text, const std::string& sentence) {
        fixture.write("bad.meme", text);
        const auto result = fixture.scan("bad.meme", {});
        check_said(result, 3, sentence);
        DOCTEST_CHECK(result.out.empty());
    };
    refused(head + "MOTIF a\nletter-probability matrix: alength= 4 w= 1\n0 0 0 0\n",
            "bad.meme:7: position 1 of the motif has no counts");
    refused(head + "MOTIF a\nletter-probability matrix: alength= 4 w= 0\n",
            "bad.meme:6: the motif 'a' has a matrix without rows");
    refused("MEME version 4\n\nALPHABET= ACDEFGHIKLMNPQRSTVWY\n",
            "bad.meme:3: the alphabet is 'ACDEFGHIKLMNPQRSTVWY', and motifs of DNA (ACGT) are needed");
    refused(head, "holds no motif");
    fixture.write("r.bed", "x\t3\t11\n");
    check_said(
        fixture.scan("m.meme", {"--regions", fixture / "r.bed"}), 3,
        "r.bed:1: 1 of 1 rows do not fit the reference (1 on contigs that the reference lacks (x)): are "
        "both of one assembly?");
    fixture.write("r.bed", "c\t3\t11\nc\t5\t30\n");
    const auto few = succeeded(fixture.scan("m.meme", {"--regions", fixture / "r.bed"}));
    check_holds(few.err, {"r.bed: left out 1 of 2 rows: 1 past a contig's end (c has 27 bases)"});
    DOCTEST_CHECK(few.out == succeeded(fixture.scan("m.meme", {"--regions", "c:4-11"})).out);
}

DOCTEST_TEST_CASE("motifs compare: the nearest known motif of each, on either strand") {
    const Fixture fixture;
    fixture.write("turned.meme", head + motif_of("turned", "TGTAATC"));
    const auto result =
        works({"motifs", "compare", fixture / "turned.meme", fixture / "wide.meme", "--output", "-"});
    DOCTEST_CHECK(
        result.out.starts_with("#motif\tname\tknown\tknown_name\tp\te\toffset\toverlap\tstrand\n"
                               "turned\t.\tone\t.\t"));
    DOCTEST_CHECK(result.out.ends_with("\t0\t7\t-\n"));
    const auto two = run_program({"motifs", "compare", fixture / "turned.meme", fixture / "wide.meme",
                                  "--nearest", "5", "--output", "-"});
    DOCTEST_CHECK(std::ranges::count(two.out, '\n') == 3);
    check_said(run_program({"motifs", "compare", fixture / "absent", fixture / "wide.meme"}), 3,
               "absent: no such file");
}

DOCTEST_TEST_CASE("motifs scan: --weights adds the mean of a track over each hit") {
    using namespace bigbird;
    const Fixture fixture;
    const std::vector<genome::Contig> contigs{{"chrc", 27}};
    const auto sink = outputs::track_sink(fixture / "w.bw", Overwrite::refuse, outputs::Kind::bigwig, contigs,
                                          0, outputs::Overlap::mean);
    const float value = 1.5F;
    const rows::Field head[] = {std::string_view("chrc"), std::int64_t{0}, std::int64_t{8}};
    sink->write(head, std::span(&value, 1));
    sink->commit();
    const auto result = succeeded(fixture.scan("m.meme", {"--weights", fixture / "w.bw"}));
    check_holds(result.out,
                {"\tq\tmotif\tweight\n", "c\t4\t11\tone\t13.65\t+\t6.104e-05\t0.0008545\tfirst\t1.5\n"});
    DOCTEST_CHECK(result.out.ends_with("\tfirst\tNA\n"));
    check_said(fixture.scan("m.meme", {"--weights", fixture / "m.meme"}), 3, "m.meme: is no bigWig");
    fixture.write("genome.fa", ">c\nTTTTGATTACATTTTTNTGTAATCAA\n");
    check_said(
        fixture.scan("m.meme", {"--weights", fixture / "w.bw"}), 3,
        "w.bw: says that contig c has 27 bases, --reference that it has 26: is it of another assembly?");
}

DOCTEST_TEST_CASE("motifs find: motifs of effects, named by label") {
    const Fixture fixture;
    const std::string effects = test_data("motifs/effects.h5");
    const std::vector<std::string> words{"motifs", "find",     "--attributions",
                                         effects,  "--output", fixture / "found.meme"};
    const auto result = works(words);
    DOCTEST_CHECK(holds(result.err, "1 motif of 40 stretches with high contributions"));
    DOCTEST_CHECK(holds(read_file(fixture / "found.meme"),
                        "MOTIF pattern_1 cell_factor\nletter-probability matrix: alength= 4 w= 7 nsites= 40\n"
                        " 0.000000 0.000000 1.000000 0.000000\n"));
    DOCTEST_CHECK(run_program(words).code == 2);  // --force is needed
    check_said(run_program({"motifs", "find", "--attributions", fixture / "m.meme", "--output",
                            fixture / "none.meme"}),
               3, "m.meme: is no HDF5 file, or damaged");
}

DOCTEST_TEST_CASE("motifs export, motifs marginalize: of the bundled model, a folder that is none") {
    const Fixture fixture;
    const std::string model = test_data("models/chromatin-grch37");
    std::string dna(13000, 'A');
    std::mt19937_64 random(5);
    for (char& letter : dna)
        letter = "ACGT"[random() % 4];
    fixture.write("wide.fa", ">c\n" + dna + "\n");
    works({"motifs", "export", "--model", model, "--reference", fixture / "wide.fa", "--output",
           fixture / "f.meme"});
    DOCTEST_CHECK(holds(read_file(fixture / "f.meme"), "MOTIF filter_5 HepG2|CEBPB|None"));
    fixture.write("b.bed", "c\t6000\t7000\n");
    fixture.write("far.bed", "c\t6000\t70000\n");
    check_said(run_program({"motifs", "marginalize", "--model", model, "--motifs", fixture / "m.meme",
                            "--backgrounds", fixture / "far.bed", "--reference", fixture / "wide.fa"}),
               3,
               "far.bed:1: 1 of 1 rows do not fit the reference (1 past a contig's end (c has 13000 bases))");
    const auto marginalize = [&](const char* device) {
        return run_program({"motifs", "marginalize", "--model", model, "--motifs", fixture / "m.meme",
                            "--backgrounds", fixture / "b.bed", "--reference", fixture / "wide.fa",
                            "--device", device});
    };
    DOCTEST_CHECK(holds(marginalize("gpu").err, "--device must be auto, cpu, cuda or cuda:N, not 'gpu'"));
    const auto effects = succeeded(marginalize("cpu"));
    DOCTEST_CHECK(effects.out.starts_with("#motif\tname\tlabel\teffect\tse\tbackgrounds\none\tfirst\tA549|"));
    DOCTEST_CHECK(std::ranges::count(effects.out, '\n') == 110);
    check_said(
        run_program({"motifs", "export", "--model", fixture / "absent", "--output", fixture / "g.meme"}), 3,
        "absent");
}

DOCTEST_TEST_CASE("motifs: a second word that is no command of motifs is refused") {
    check_said(run_program({"motifs", "paint"}), 2, "motifs");
}
