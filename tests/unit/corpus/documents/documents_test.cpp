// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::testing;

namespace fs = std::filesystem;

namespace {

struct Result {
    std::vector<PlacedDocument> documents;
    BuildCounts counts;
};

Result build(const genome::ReferenceGenome& genome, const BuildSpec& spec, int threads = 2) {
    Result result;
    result.counts = build_documents(genome, spec, BuildText::yes, threads, [&](PlacedDocument&& document) {
        result.documents.push_back(std::move(document));
    });
    return result;
}

std::string all_text(const Result& result) {
    std::string text;
    for (const PlacedDocument& placed : result.documents) {
        for (const std::string& sentence : placed.document.sentences)
            text += sentence + "\n";
        text += "\n";
    }
    return text;
}

// Real sequence with real gaps: 22:16,600,000-16,900,000 (150 kb of N) and 22:19,100,000-19,300,000,
// soft-masked.
std::unique_ptr<genome::ReferenceGenome> real_genome() {
    const auto reference = genome::open_reference(test_data("genome/22.fa.gz"));
    return genome::in_memory_genome({{"a", reference->fetch({"22", 16'600'000, 16'900'000})},
                                     {"b", reference->fetch({"22", 19'100'000, 19'300'000})},
                                     {"short", reference->fetch({"22", 20'000'000, 20'000'300})}});
}

bool consecutive(const PlacedDocument& document) {
    for (std::size_t i = 0; i + 1 < document.sentences.size(); ++i) {
        const auto &here = document.sentences[i], &next = document.sentences[i + 1];
        if (document.reverse ? next.second != here.first : next.first != here.second) return false;
    }
    return true;
}

}  // namespace

DOCTEST_TEST_CASE(
    "document_builder: the sequence is the reference's, and every base is covered in every pass") {
    const auto genome = real_genome();
    const BuildSpec spec{.documents = {.passes = 3, .seed = 8}, .max_n_fraction = 1};
    const Result result = build(*genome, spec);
    std::map<std::string, std::int64_t> bases;
    for (const PlacedDocument& document : result.documents) {
        DOCTEST_CHECK(consecutive(document));
        DOCTEST_CHECK_FALSE(document.reverse);
        const Document& text = document.document;
        DOCTEST_REQUIRE(text.sentences.size() == document.sentences.size());
        for (std::size_t i = 0; i < text.sentences.size(); ++i) {
            const auto [begin, end] = document.sentences[i];
            DOCTEST_CHECK(text.sentences[i] == genome->fetch({document.contig, begin, end}));
        }
        bases[document.contig] += document.bases();
    }
    DOCTEST_CHECK(result.counts.documents == static_cast<std::int64_t>(result.documents.size()));
    DOCTEST_CHECK(result.counts.too_much_n == 0);
    DOCTEST_CHECK(bases["a"] > 3 * (300'000 - 5000));
    DOCTEST_CHECK(bases["a"] < 3 * 300'000);
    DOCTEST_CHECK(bases["short"] == 3 * 300);
    DOCTEST_CHECK(result.counts.bases == bases["a"] + bases["b"] + bases["short"]);
}

DOCTEST_TEST_CASE("document_builder: the same whatever the threads") {
    const auto genome = real_genome();
    const BuildSpec spec{.documents = {.passes = 4}, .add_reverse_complement = true};
    const std::string once = all_text(build(*genome, spec, 1));
    DOCTEST_CHECK(once == all_text(build(*genome, spec, 2)));
    DOCTEST_CHECK(once == all_text(build(*genome, spec, 7)));
}

DOCTEST_TEST_CASE("document_builder: sentences of N are dropped, and the document is split there") {
    const auto genome = real_genome();
    const Result all = build(*genome, {.documents = {.passes = 2}, .max_n_fraction = 1});
    const Result kept = build(*genome, {.documents = {.passes = 2}, .max_n_fraction = 0.5});
    const Result strict = build(*genome, {.documents = {.passes = 2}, .max_n_fraction = 0});
    DOCTEST_CHECK(kept.counts.sentences + kept.counts.too_much_n == all.counts.sentences);
    DOCTEST_CHECK(kept.counts.too_much_n > 2 * 150'000 / 1000);
    DOCTEST_CHECK(kept.counts.too_much_n < 2 * 150'000 / 500);
    DOCTEST_CHECK(strict.counts.too_much_n >
                  kept.counts.too_much_n);  // the edges of the gap, and the single N
    for (const Result* result : {&kept, &strict}) {
        for (const PlacedDocument& document : result->documents) {
            DOCTEST_CHECK(consecutive(document));
            for (const std::string& sentence : document.document.sentences)
                DOCTEST_CHECK(genome::n_fraction(sentence) <= (result == &kept ? 0.5 : 0.0));
            const bool across = document.contig == "a" && document.sentences.front().first < 97'850 &&
                                document.sentences.back().second > 247'850;
            DOCTEST_CHECK_FALSE(across);
        }
    }
    DOCTEST_CHECK(
        kept.counts.describe({}).find("; sentences dropped: " + std::to_string(kept.counts.too_much_n) +
                                      " with more than 50 % N") != std::string::npos);
}

DOCTEST_TEST_CASE("document_builder: include and exclude") {
    const auto genome = real_genome();
    BuildSpec spec{.documents = {.passes = 2}, .max_n_fraction = 1};
    const std::vector<genome::Interval> inside{{"b", 20'000, 60'000}, {"b", 100'000, 150'000}},
        outside{{"b", 30'000, 30'001}};
    spec.include = genome::IntervalSet(inside);
    spec.exclude = genome::IntervalSet(outside);
    const Result result = build(*genome, spec);
    DOCTEST_CHECK(result.counts.inside_exclude == 2);
    DOCTEST_CHECK(result.counts.outside_include > 500);
    std::int64_t bases = 0;
    for (const PlacedDocument& document : result.documents) {
        DOCTEST_CHECK(consecutive(document));
        for (const auto& [begin, end] : document.sentences) {
            DOCTEST_CHECK(spec.include->contains({document.contig, begin, end}));
            DOCTEST_CHECK((end <= 30'000 || begin >= 30'001));
        }
        bases += document.bases();
    }
    DOCTEST_CHECK(bases > 2 * (90'000 - 4 * 1000 - 1000));
    spec.include = genome::IntervalSet(std::vector<genome::Interval>{{"b", 0, 100}});
    DOCTEST_CHECK(
        message_of<InputError>([&] {
            build(*genome, spec);
        }).starts_with("no document is left: 0 documents, 0 sentences, 0 bases; sentences dropped: "));
}

DOCTEST_TEST_CASE("document_builder: the other strand reads the same stretches backwards") {
    const auto genome = real_genome();
    const Result forward = build(*genome, {.documents = {.passes = 1}});
    const Result both = build(*genome, {.documents = {.passes = 1}, .add_reverse_complement = true});
    DOCTEST_REQUIRE(both.documents.size() == 2 * forward.documents.size());
    DOCTEST_CHECK(both.counts.sentences == 2 * forward.counts.sentences);
    DOCTEST_CHECK(both.counts.too_much_n == forward.counts.too_much_n);
    const auto joined = [](const PlacedDocument& document) {
        std::string dna;
        for (const std::string& sentence : document.document.sentences)
            dna += sentence;
        return dna;
    };
    for (std::size_t i = 0; i < forward.documents.size(); ++i) {
        DOCTEST_CHECK(both.documents[2 * i].document.sentences == forward.documents[i].document.sentences);
        const PlacedDocument& reverse = both.documents[2 * i + 1];
        DOCTEST_CHECK(reverse.reverse);
        DOCTEST_CHECK(consecutive(reverse));
        DOCTEST_CHECK(joined(reverse) == genome::reverse_complement(joined(forward.documents[i])));
    }
}

DOCTEST_TEST_CASE("document_builder: nothing left is an error that says why") {
    const auto blank = genome::in_memory_genome({{"gap", std::string(3000, 'n')}});
    const std::string message = message_of<InputError>([&] { build(*blank, {.documents = {.passes = 1}}); });
    DOCTEST_CHECK(
        message.starts_with("no document is left: 0 documents, 0 sentences, 0 bases; sentences dropped: "));
    DOCTEST_CHECK(message.ends_with(" with more than 50 % N"));
    DOCTEST_CHECK(message_of<ConfigError>([&] { build(*blank, {.max_n_fraction = 1.5}); }) ==
                  "--max-n-fraction must lie between 0 and 1");
}

namespace {

std::vector<std::vector<Stretch>> plan_documents(const genome::Contig& contig, const DocumentSpec& spec,
                                                 int pass) {
    std::vector<std::vector<Stretch>> documents;
    DocumentPlanner planner(contig, spec, pass);
    while (auto document = planner.next())
        documents.push_back(std::move(*document));
    return documents;
}

std::vector<Stretch> all_sentences(const std::vector<std::vector<Stretch>>& documents) {
    std::vector<Stretch> sentences;
    for (const std::vector<Stretch>& document : documents)
        sentences.insert(sentences.end(), document.begin(), document.end());
    return sentences;
}

}  // namespace

DOCTEST_TEST_CASE("document_plan: the paper's lengths, consecutive to the contig's end") {
    const DocumentSpec spec{.seed = 3};
    const genome::Contig contig{"22", 22'000'000};
    for (const int pass : {0, 9}) {
        const auto documents = plan_documents(contig, spec, pass);
        DOCTEST_REQUIRE(documents.size() > 200);
        for (std::size_t d = 0; d + 1 < documents.size(); ++d) {
            DOCTEST_CHECK(documents[d].size() >= 50);
            DOCTEST_CHECK(documents[d].size() <= 100);
        }
        const auto sentences = all_sentences(documents);
        DOCTEST_CHECK(sentences.front().first >= 0);
        DOCTEST_CHECK(sentences.front().first <= 5000);
        DOCTEST_CHECK(sentences.back().second == 22'000'000);
        std::int64_t shortest = 1000, longest = 500;
        for (std::size_t s = 0; s + 1 < sentences.size(); ++s) {
            DOCTEST_REQUIRE(sentences[s].second == sentences[s + 1].first);
            shortest = std::min(shortest, sentences[s].second - sentences[s].first);
            longest = std::max(longest, sentences[s].second - sentences[s].first);
        }
        DOCTEST_CHECK(shortest == 500);  // of 29,000 draws from 501 lengths, both ends occur
        DOCTEST_CHECK(longest == 1000);
        DOCTEST_CHECK(sentences.back().second - sentences.back().first <= 1000);
    }
}

DOCTEST_TEST_CASE("document_plan: starts and lengths are uniform, and differ by pass, contig and seed") {
    const DocumentSpec spec{.passes = 1000};
    std::int64_t sum = 0, largest = 0, documents = 0, sentences = 0;
    std::set<std::int64_t> starts;
    for (int pass = 0; pass < spec.passes; ++pass) {
        const auto plan = plan_documents({"1", 200'000}, spec, pass);
        const std::int64_t start = plan.front().front().first;
        starts.insert(start);
        sum += start;
        largest = std::max(largest, start);
        documents += static_cast<std::int64_t>(plan.size()) - 1;
        for (std::size_t d = 0; d + 1 < plan.size(); ++d)
            sentences += static_cast<std::int64_t>(plan[d].size());
    }
    DOCTEST_CHECK(static_cast<double>(sum) / spec.passes ==
                  doctest::Approx(2500).epsilon(0.06));  // 3 standard errors
    DOCTEST_CHECK(largest > 4950);
    DOCTEST_CHECK(starts.size() > 880);
    DOCTEST_CHECK(static_cast<double>(sentences) / static_cast<double>(documents) ==
                  doctest::Approx(74).epsilon(0.03));
    const auto first = plan_documents({"1", 200'000}, spec, 0);
    DOCTEST_CHECK(all_sentences(first) == all_sentences(plan_documents({"1", 200'000}, spec, 0)));
    DOCTEST_CHECK(all_sentences(first) != all_sentences(plan_documents({"1", 200'000}, spec, 1)));
    DOCTEST_CHECK(all_sentences(first) != all_sentences(plan_documents({"2", 200'000}, spec, 0)));
    DOCTEST_CHECK(all_sentences(first) != all_sentences(plan_documents({"1", 200'000}, {.seed = 1}, 0)));
}

DOCTEST_TEST_CASE("document_plan: the values that files of this version rest on") {
    const auto documents = plan_documents({"22", 120'000}, {.seed = 1}, 0);
    DOCTEST_REQUIRE(documents.size() == 2);
    DOCTEST_CHECK(documents[0].size() == 64);
    DOCTEST_CHECK(documents[0].front() == Stretch{2843, 3657});
    DOCTEST_CHECK(documents[1].size() == 90);
    DOCTEST_CHECK(documents[1].front() == Stretch{52'284, 52'855});
    DOCTEST_CHECK(documents[1].back() == Stretch{119'739, 120'000});
}

DOCTEST_TEST_CASE("document_plan: contigs shorter than the start offset still give a document") {
    for (int pass = 0; pass < 50; ++pass) {
        const auto small = plan_documents({"scaffold", 1200}, {}, pass);
        DOCTEST_REQUIRE(small.size() == 1);
        DOCTEST_CHECK(small[0].front().first <= 700);
        DOCTEST_CHECK(small[0].back().second == 1200);
        const auto tiny = plan_documents({"scaffold", 3}, {.start_offset = {100, 200}}, pass);
        DOCTEST_REQUIRE(tiny.size() == 1);
        DOCTEST_CHECK(tiny[0] == std::vector<Stretch>{{0, 3}});
    }
    DOCTEST_CHECK(plan_documents({"empty", 0}, {}, 0).empty());
}

DOCTEST_TEST_CASE("document_plan: ranges that cannot be are refused by their option's name") {
    const auto message = [](const DocumentSpec& spec) {
        return message_of<ConfigError>([&] { spec.validate(); });
    };
    DOCTEST_CHECK(message({.passes = 0}) == "--passes must be at least 1");
    DOCTEST_CHECK(message({.sentences = {0, 5}}) == "--sentences must begin at 1 or more, not at 0");
    DOCTEST_CHECK(message({.sentence_length = {900, 500}}) ==
                  "--sentence-length 900:500 ends before it begins");
    DOCTEST_CHECK(message({.start_offset = {-1, 500}}) ==
                  "--start-offset must begin at 0 or more, not at -1");
}

namespace {

std::unique_ptr<genome::ReferenceGenome> two_contigs() {
    return genome::in_memory_genome({{"a", std::string(1000, 'A')}, {"b", std::string(500, 'C')}});
}

}  // namespace

DOCTEST_TEST_CASE("drawing_spec: regions are put on the genome, the seed is the command's") {
    DrawingSpec drawing;
    drawing.build.documents.passes = 3;
    drawing.include = {"b", "a:101-200"};
    drawing.exclude = {"b:1-50"};
    const BuildSpec spec = drawing.on(*two_contigs(), 7);
    DOCTEST_CHECK(spec.documents.passes == 3);
    DOCTEST_CHECK(spec.documents.seed == 7);
    DOCTEST_REQUIRE(spec.include.has_value());
    DOCTEST_CHECK(spec.include->bases() == 600);
    DOCTEST_CHECK(spec.exclude.bases() == 50);
    DOCTEST_CHECK_FALSE(DrawingSpec{}.on(*two_contigs(), 0).include.has_value());
}

DOCTEST_TEST_CASE("drawing_spec: the option that names no region is named") {
    const auto genome = two_contigs();
    DOCTEST_CHECK(message_of<Error>([&] {
                      DrawingSpec{.include = {"nowhere"}}.on(*genome, 0);
                  }).find("--include") != std::string::npos);
    DOCTEST_CHECK(message_of<Error>([&] {
                      DrawingSpec{.exclude = {"nowhere"}}.on(*genome, 0);
                  }).find("--exclude") != std::string::npos);
    DrawingSpec none;
    none.build.documents.passes = 0;
    DOCTEST_CHECK_THROWS_AS(none.on(*genome, 0), ConfigError);
}

namespace {

const BuildSpec two_pass_spec{.documents = {.passes = 2,
                                            .sentences = {3, 6},
                                            .sentence_length = {50, 90},
                                            .start_offset = {0, 40},
                                            .seed = 6},
                              .add_reverse_complement = true};

std::vector<std::vector<std::string>> write_and_read(const genome::ReferenceGenome& genome,
                                                     const std::filesystem::path& path, DocumentForm form) {
    DocumentWriter writer(path, form, two_pass_spec, Overwrite::refuse, 2);
    build_documents(genome, two_pass_spec, form == DocumentForm::text ? BuildText::yes : BuildText::no, 2,
                    [&](PlacedDocument&& document) { writer.write(document); });
    writer.commit();
    std::vector<std::vector<std::string>> documents;
    DocumentReader reader(path, &genome);
    while (auto document = reader.next())
        documents.push_back(document->sentences);
    return documents;
}

}  // namespace

DOCTEST_TEST_CASE("document_writer: what is read back is what was built, in either form, compressed or not") {
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    std::vector<std::vector<std::string>> built;
    build_documents(*genome, two_pass_spec, BuildText::yes, 1,
                    [&](PlacedDocument&& document) { built.push_back(document.document.sentences); });
    DOCTEST_REQUIRE(built.size() > 20);
    const TempDir folder;
    DOCTEST_CHECK(write_and_read(*genome, folder / "a.txt", DocumentForm::text) == built);
    DOCTEST_CHECK(write_and_read(*genome, folder / "a.txt.gz", DocumentForm::text) == built);
    DOCTEST_CHECK(write_and_read(*genome, folder / "a.bed", DocumentForm::coordinates) == built);
    DOCTEST_CHECK(write_and_read(*genome, folder / "a.bed.gz", DocumentForm::coordinates) == built);
    const std::string gz = read_file(folder / "a.txt.gz");
    DOCTEST_CHECK(gz.substr(0, 2) == "\x1f\x8b");
}

DOCTEST_TEST_CASE(
    "document_writer: the text is sentences and blank lines, the coordinates are BED6 with a header") {
    const auto genome = genome::in_memory_genome({{"c", "ACGTACGTAC"}});
    const BuildSpec tiny{
        .documents = {.passes = 1, .sentences = {2, 2}, .sentence_length = {4, 4}, .start_offset = {0, 0}},
        .add_reverse_complement = true};
    const TempDir folder;
    for (const DocumentForm form : {DocumentForm::text, DocumentForm::coordinates}) {
        DocumentWriter writer(folder / (form == DocumentForm::text ? "t" : "b"), form, tiny,
                              Overwrite::refuse, 1);
        build_documents(*genome, tiny, BuildText::yes, 1,
                        [&](PlacedDocument&& document) { writer.write(document); });
        writer.commit();
    }
    DOCTEST_CHECK(read_file(folder / "t") == "ACGT\nACGT\n\nACGT\nACGT\n\nAC\n\nGT\n");
    const std::string bed = read_file(folder / "b");

    DOCTEST_CHECK(bed.starts_with("# bigbird-dna "));
    DOCTEST_CHECK(bed.find("\"passes\":1,\"sentences\":\"2:2\"") != std::string::npos);
    const std::size_t rows = bed.find("strand\n") + 7;
    DOCTEST_CHECK(bed.substr(rows) ==
                  "c\t0\t4\t0\t0\t+\nc\t4\t8\t0\t1\t+\nc\t4\t8\t1\t0\t-\nc\t0\t4\t1\t1\t-\nc\t8\t10\t2\t0\t+"
                  "\nc\t8\t10\t3\t0\t-\n");
}

DOCTEST_TEST_CASE("document_writer: samtools and bedtools agree with the text (bedtools getfasta -s)") {
    const TempDir folder;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    write_and_read(*genome, folder / "a.bed", DocumentForm::coordinates);
    std::filesystem::copy_file(test_data("genome/multi.fa"), folder / "multi.fa");
    const std::string command =
        "bedtools getfasta -s -tab -fi " + (folder / "multi.fa").string() + " -bed " +
        (folder / "a.bed").string() +
        " 2> /dev/null | cut -f 2 | tr acgtryswkmbdhv ACGTNNNNNNNNNN | tr RYSWKMBDHV N > " +
        (folder / "theirs").string();
    DOCTEST_REQUIRE(std::system(command.c_str()) == 0);
    std::string ours;
    for (const auto& document : write_and_read(*genome, folder / "a.txt", DocumentForm::text))
        for (const std::string& sentence : document)
            ours += sentence + "\n";
    DOCTEST_CHECK(read_file(folder / "theirs") == ours);
}

DOCTEST_TEST_CASE("document_writer: nothing appears before commit, and what exists is refused") {
    const TempDir folder;
    {
        DocumentWriter writer(folder / "a.txt", DocumentForm::text, two_pass_spec, Overwrite::refuse, 1);
        writer.write({"c", false, {{0, 4}}, {{"ACGT"}}});
    }
    DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
    write_file(folder / "a.txt", "kept");
    DOCTEST_CHECK_THROWS_AS(
        DocumentWriter(folder / "a.txt", DocumentForm::text, two_pass_spec, Overwrite::refuse, 1),
        ConfigError);
    DOCTEST_CHECK(read_file(folder / "a.txt") == "kept");
}

DOCTEST_TEST_CASE("document_writer: the manifest names parameters, counts and checksums, and no path") {
    const TempDir folder;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    const BuildCounts counts =
        build_documents(*genome, two_pass_spec, BuildText::no, 1, [](PlacedDocument&&) {});
    write_file(folder / "include.bed", "");
    const Json json =
        document_manifest(DocumentForm::text, two_pass_spec, counts,
                          {{test_data("genome/multi.fa")}, {folder / "include.bed"}, {"chr22:1-10"}});
    DOCTEST_CHECK(json["parameters"]["sentence-length"] == "50:90");
    DOCTEST_CHECK(json["parameters"]["reverse-complement"] == "add");
    DOCTEST_CHECK(json["inputs"][0]["sha256"].get<std::string>().size() == 64);
    DOCTEST_CHECK(json["inputs"][1]["role"] == "include");
    DOCTEST_CHECK(json["inputs"][1]["sha256"] ==
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    DOCTEST_CHECK(json["inputs"][2] == Json{{"role", "exclude"}, {"region", "chr22:1-10"}});
    DOCTEST_CHECK(json["documents"] == counts.documents);
    DOCTEST_CHECK(json.dump().find('/') == std::string::npos);
}

namespace {

using Documents = std::vector<std::vector<std::string>>;

Documents read(const std::string& content, const genome::ReferenceGenome* genome = nullptr,
               Fasta fasta = Fasta::refuse) {
    const TempDir folder;
    write_file(folder / "documents", content);
    DocumentReader reader(folder / "documents", genome, genome::LetterCase::upper, fasta);
    Documents documents;
    while (auto document = reader.next())
        documents.push_back(std::move(document->sentences));
    DOCTEST_CHECK_FALSE(reader.next().has_value());
    return documents;
}

// The error less the path of the file, which is temporary.
std::string message(const std::string& content, const genome::ReferenceGenome* genome = nullptr) {
    const std::string text = message_of<InputError>([&] { read(content, genome); });
    return text.substr(text.find("/documents:") + 11);
}

}  // namespace

DOCTEST_TEST_CASE("document_reader: text, whatever its blank lines, line ends and case") {
    const Documents expected{{"ACGT", "NNTTN"}, {"GATTACA"}};
    DOCTEST_CHECK(read("ACGT\nNNTTN\n\nGATTACA\n") == expected);
    DOCTEST_CHECK(read("\n\nacgu\r\nrnTTy\r\n\r\n\r\nGATTACA") == expected);
    DOCTEST_CHECK(read("ACGT\nNNTTN\n\nGATTACA\n\n\n") == expected);
    DOCTEST_CHECK(read("").empty());
    DOCTEST_CHECK(read("\n\n").empty());
}

DOCTEST_TEST_CASE("document_reader: a long document comes in parts where they are asked for") {
    const TempDir folder;
    write_file(folder / "documents", "A\nC\nG\nT\n\n\nAA\nCC\nGG\n");
    DocumentReader reader(folder / "documents");
    Documents parts;
    while (auto part = reader.next(2))
        parts.push_back(std::move(part->sentences));
    DOCTEST_CHECK(parts == Documents{{"A", "C"}, {"G", "T"}, {"AA", "CC"}, {"GG"}});
}

DOCTEST_TEST_CASE("document_reader: coordinates, both strands, through aliases") {
    const auto genome =
        genome::in_memory_genome({{"22", "AACCGGTTAN"}, {"1", std::string(5000, 'c') + "GATTACA"}});
    const std::string bed =
        "#contig\tstart\tend\tdocument\tsentence\tstrand\n"
        "22\t0\t4\t0\t0\t+\n22\t4\t9\t0\t1\t+\n"
        "22\t4\t9\t1\t0\t-\n22\t0\t4\t1\t1\t-\n"
        "# a comment\nchr1\t5000\t5007\t2\t0\t+\nchr1\t0\t2\t2\t1\t.\n";
    DOCTEST_CHECK(read(bed, genome.get()) ==
                  Documents{{"AACC", "GGTTA"}, {"TAACC", "GGTT"}, {"GATTACA", "CC"}});
    DOCTEST_CHECK(read("#contig\tstart\tend\n", genome.get()).empty());
}

DOCTEST_TEST_CASE("document_reader: records of FASTA are documents where they are taken, without N") {
    const auto taken = [](const std::string& content) { return read(content, nullptr, Fasta::take); };
    DOCTEST_CHECK(taken(">22\nACGT\nac\n>empty\n>1 b\n\nGG\n") == Documents{{"ACGTAC"}, {"GG"}});
    DOCTEST_CHECK(taken(">1\nNNAC\nNNN\nGnT\n>n\nNN\n>2\nA\n") == Documents{{"AC", "G", "T"}, {"A"}});
    DOCTEST_CHECK(taken(">n\nNN\n").empty());
    const std::string half(700'000, 'A');
    DOCTEST_CHECK(taken(">long\n" + half + '\n' + half + "\nC\n") == Documents{{half + half}, {"C"}});
}

DOCTEST_TEST_CASE("document_reader: what is no document is refused with its line") {
    const auto genome = genome::in_memory_genome({{"22", "AACCGGTTAN"}});
    DOCTEST_CHECK(
        message("ACGT\n\nAC GT\n") ==
        "3: holds blanks between the letters of a sequence ('AC GT'), and letters are not joined over "
        "blanks: delete them or, if these are k-mers that overlap, write the sequence that they "
        "spell");
    DOCTEST_CHECK(message(">22\nACGT\n") ==
                  "1: is a FASTA header, and plain sequence is needed here, one a line");
    DOCTEST_CHECK(
        message("22\t0\t4\t0\t0\t+\n") ==
        "1: holds coordinates, not sequence; give the genome that they point into with --reference");
    DOCTEST_CHECK(message("22\t0\t4\n", genome.get()) ==
                  "1: has 3 columns; coordinates of documents have six: contig, start, end, document, "
                  "sentence, strand");
    DOCTEST_CHECK(message("22\t0\t4\t0\t0\t+\n22\t8\tx\t0\t1\t+\n", genome.get()) ==
                  "2: start '8' and end 'x' are not two rising whole numbers");
    DOCTEST_CHECK(message("22\t8\t8\t0\t0\t+\n", genome.get()) ==
                  "1: start '8' and end '8' are not two rising whole numbers");
    DOCTEST_CHECK(
        message("#\n7\t0\t4\t0\t0\t+\n", genome.get()) ==
        "2: the reference has no contig '7'; give the --reference that the documents were built from");
    DOCTEST_CHECK(message("22\t5\t11\t0\t0\t+\n", genome.get()) ==
                  "1: ends at 11, past the end of contig '22' (10); give the --reference that the documents "
                  "were built from");
    DOCTEST_CHECK(message("22\t0\t4\t0\t0\tx\n", genome.get()) == "1: strand 'x' is neither +, - nor .");
    for (const std::string numbers : {"x\t0", "0\t-1", "0\t1.5", "\t0"}) {
        DOCTEST_CHECK(
            message("22\t0\t4\t" + numbers + "\t+\n", genome.get()).ends_with("are not two whole numbers"));
    }
    const std::string row = "22\t0\t4\t3\t5\t+\n";
    DOCTEST_CHECK(message(row + row, genome.get()) ==
                  "2: sentence 5 follows sentence 5 of the same document");
    DOCTEST_CHECK_THROWS_AS(DocumentReader("no/such/file"), InputError);
}

DOCTEST_TEST_CASE("document_forecast: documents, bases and bytes are those that building makes") {
    const TempDir folder;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    std::string lines;
    for (const genome::Contig& contig : genome->contigs())
        lines += contig.name + "\t" + std::to_string(contig.length) + "\n";
    write_file(folder / "sizes", lines);
    const std::vector<fs::path> sizes{folder / "sizes"};
    const auto lengths = genome::open_contig_lengths(sizes);
    BuildSpec spec{.documents = {.passes = 12,
                                 .sentences = {3, 6},
                                 .sentence_length = {50, 90},
                                 .start_offset = {0, 40}},
                   .max_n_fraction = 1};
    for (const int round : {0, 1, 2}) {
        spec.add_reverse_complement = round == 1;
        if (round == 2) {
            const genome::Contig& first = genome->contigs()[0];
            spec.include =
                genome::IntervalSet(std::vector<genome::Interval>{{first.name, 100, first.length}});
            spec.exclude = genome::IntervalSet(std::vector<genome::Interval>{{first.name, 700, 705}});
        }
        const Forecast forecast = forecast_documents(*lengths, spec, 3);
        for (const DocumentForm form : {DocumentForm::text, DocumentForm::coordinates}) {
            const fs::path file = folder / "documents";
            DocumentWriter writer(file, form, spec, Overwrite::allow, 1);
            const BuildCounts counts = build_documents(
                *genome, spec, BuildText::yes, 1, [&](PlacedDocument&& document) { writer.write(document); });
            writer.commit();
            DOCTEST_CHECK(forecast.counts.documents == counts.documents);
            DOCTEST_CHECK(forecast.counts.sentences == counts.sentences);
            DOCTEST_CHECK(forecast.counts.bases == counts.bases);
            DOCTEST_CHECK(forecast.counts.outside_include == counts.outside_include);
            DOCTEST_CHECK(forecast.counts.inside_exclude == counts.inside_exclude);
            DOCTEST_CHECK(static_cast<std::int64_t>(fs::file_size(file)) ==
                          (form == DocumentForm::text ? forecast.text_bytes : forecast.coordinate_bytes));
        }
        DOCTEST_CHECK(describe(forecast, spec).find("450,000") != std::string::npos);
    }
}
