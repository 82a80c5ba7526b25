// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/corpora.hpp"

#include "support/environment.hpp"
#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"

#include <chrono>

using namespace bigbird;
using namespace bigbird::pretraining;
using namespace bigbird::testing;
using namespace bigbird::training;
namespace fs = std::filesystem;

namespace {

/// 60 kb of real sequence as contig "a" and 20 kb as "b".
void write_genome(const std::filesystem::path& fasta) {
    const auto reference = genome::open_reference(test_data("genome/22.fa.gz"));
    write_file(fasta, ">a\n" + reference->fetch({"22", 19'100'000, 19'160'000}) + "\n>b\n" +
                          reference->fetch({"22", 19'200'000, 19'220'000}) + "\n");
}

class Scene {
public:
    Scene() { spec.input.tokenizer = test_data("tokenizer/small.model"); }
    std::string refusal() const {
        return message_of<Error>([&] { const Corpora never(spec, 0); });
    }
    /// Short documents of the whole genome.
    void draw() {
        write_genome(folder / "genome.fa");
        spec.references = {folder / "genome.fa"};
        spec.drawing.build.documents.passes = 2;
        spec.drawing.build.documents.sentences = {2, 5};
        spec.drawing.build.documents.sentence_length = {100, 300};
        spec.drawing.build.documents.start_offset = {0, 100};
    }
    TempDir folder;
    CorporaSpec spec;
};

}  // namespace

DOCTEST_TEST_CASE("corpora: documents of a file, and token shards made of them, are one corpus") {
    Scene scene;
    scene.spec.documents = test_data("tokenizer/sentences.txt");
    Corpora documents(scene.spec, 0);
    const corpus::TokenCorpus read = documents.on_demand({}, 1).train();
    DOCTEST_CHECK(read.tokens() > 1000);
    DOCTEST_CHECK_FALSE(documents.on_demand({}, 1).held_out);
    {
        corpus::TokenShardWriter writer(scene.folder / "shards", small_tokenizer(), Overwrite::refuse);
        corpus::DocumentReader reader(scene.spec.documents);
        corpus::tokenize_documents(reader, small_tokenizer(), 1, writer, [](const corpus::TokenCounts&) {});
        writer.commit(Json::array(), 1);
    }
    CorporaSpec shards{.corpus = scene.folder / "shards"};
    Corpora stored(shards, 0);
    DOCTEST_CHECK(stored.tokenizer().serialized() == small_tokenizer().serialized());
    const corpus::TokenCorpus mapped = stored.on_demand({}, 1).train();
    DOCTEST_CHECK(mapped.tokens() == read.tokens());
    DOCTEST_CHECK(mapped.documents() == read.documents());
    DOCTEST_CHECK(stored.fixed_options() ==
                  Json{{"--corpus", {{"sha256", sha256_of_file(shards.corpus / "manifest.json")}}}});
}

DOCTEST_TEST_CASE("corpora: what is held out of the drawn documents is scored, once, and nothing else") {
    Scene scene;
    scene.draw();
    const std::int64_t whole = Corpora(scene.spec, 1).on_demand({}, 1).train().bases();
    scene.spec.hold_out = {"b"};
    Corpora corpora(scene.spec, 1);
    const PretrainCorpora parts = corpora.on_demand({}, 1);
    const std::int64_t train = parts.train().bases(), held_out = parts.held_out().bases();
    DOCTEST_CHECK(whole > 2 * 75'000);
    DOCTEST_CHECK(train > 2 * 55'000);
    DOCTEST_CHECK(train <= 2 * 60'000);
    DOCTEST_CHECK(held_out > 15'000);
    DOCTEST_CHECK(held_out <= 20'000);  // one pass
}

DOCTEST_TEST_CASE("corpora: held-out documents of a file") {
    Scene scene;
    scene.spec.documents = test_data("tokenizer/sentences.txt");
    scene.spec.evaluate_documents = scene.folder / "few.txt";
    std::string line(300, 'A');
    line += '\n';
    write_file(scene.spec.evaluate_documents, line);
    Corpora corpora(scene.spec, 0);
    DOCTEST_CHECK(corpora.on_demand({}, 1).held_out().bases() == 300);
}

DOCTEST_TEST_CASE("corpora: what decides the result is recorded by option, the seed of drawing is not") {
    Scene scene;
    scene.draw();
    scene.spec.hold_out = {"b"};
    scene.spec.drawing.exclude = {"a:1-1000"};
    const Json fixed = Corpora(scene.spec, 5).fixed_options();
    std::vector<std::string> names;
    for (const auto& item : fixed.items())
        names.push_back(item.key());
    DOCTEST_CHECK(names == std::vector<std::string>{"--reference", "--passes", "--sentences",
                                                    "--sentence-length", "--start-offset", "--max-n-fraction",
                                                    "--reverse-complement", "--exclude", "--hold-out"});
    DOCTEST_CHECK(fixed["--reference"][0]["sha256"] == sha256_of_file(scene.spec.references[0]));
    DOCTEST_CHECK(fixed["--passes"] == 2);
}

DOCTEST_TEST_CASE("corpora: documents are read as single bases or k-mers") {
    Scene scene;
    scene.spec.documents = test_data("tokenizer/sentences.txt");
    scene.spec.input = {.kmer_length = 1};
    const auto tokens = [&] { return Corpora(scene.spec, 0).on_demand({}, 1).train().tokens(); };
    const std::int64_t bases = tokens();
    DOCTEST_CHECK(bases == 100'000);
    scene.spec.input = {.kmer_length = 3};
    DOCTEST_CHECK(tokens() >= bases / 3);
    DOCTEST_CHECK(tokens() < bases / 2);
    scene.spec.input = {.kmer_length = 1};
    scene.spec.documents.clear();
    scene.spec.corpus = scene.folder / "shards";
    {
        corpus::TokenShardWriter writer(scene.spec.corpus, small_tokenizer(), Overwrite::refuse);
        corpus::DocumentReader reader(test_data("tokenizer/sentences.txt"));
        corpus::tokenize_documents(reader, small_tokenizer(), 1, writer, [](const corpus::TokenCounts&) {});
        writer.commit(Json::array(), 1);
    }
    DOCTEST_CHECK(scene.refusal().ends_with(
        "was made with another --tokenizer than the one given; run tokenize with that one"));
}

DOCTEST_TEST_CASE("corpora: what is missing is named before anything is read") {
    Scene scene;
    DOCTEST_CHECK(scene.refusal().starts_with("--documents is needed"));
    scene.spec.documents = scene.folder / "none.txt";
    DOCTEST_CHECK(holds(scene.refusal(), "none.txt"));
    write_file(scene.spec.documents, "\n");
    Corpora corpora(scene.spec, 0);
    DOCTEST_CHECK_THROWS_AS(corpora.on_demand({}, 1).train(), InputError);
    scene.spec.input.tokenizer.clear();
    DOCTEST_CHECK(scene.refusal() == "--tokenizer is needed: a model, bases or kmers:K, such as kmers:6");
}

// Several processes: tests/unit/training/ranks/ranks_test.cpp and tests/cli/pretrain_test.cpp.

namespace {

void give_two_documents(const corpus::TokenSink& sink) {
    for (const char* sentence : {"ACGTACGTTT", "GGGCAAT"}) {
        sink.sentence(small_tokenizer().encode(sentence), std::ssize(std::string(sentence)));
        sink.document_end();
    }
}

}  // namespace

DOCTEST_TEST_CASE("shared_corpus: what was written is mapped, and its folder is gone") {
    const TempDir folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    Ranks alone;
    bool written = false;
    const corpus::TokenCorpus corpus =
        share_corpus(alone, small_tokenizer(), 1, [&](const corpus::TokenSink& sink) {
            DOCTEST_CHECK_FALSE(fs::is_empty(folder.path()));
            give_two_documents(sink);
            written = true;
        });
    DOCTEST_CHECK(written);
    DOCTEST_CHECK(fs::is_empty(folder.path()));
    DOCTEST_CHECK(corpus.documents() == 2);
    DOCTEST_CHECK(corpus.bases() == 17);
    std::vector<std::int32_t> ids;
    corpus.append_ids(0, corpus.tokens(), ids);
    DOCTEST_CHECK(small_tokenizer().decode(ids) == "ACGTACGTTTGGGCAAT");
}

DOCTEST_TEST_CASE("shared_corpus: nothing is left where it fails, and the reason is told") {
    const TempDir folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    Ranks alone;
    const auto share = [&](const corpus::TokenSource& source) {
        share_corpus(alone, small_tokenizer(), 1, source);
    };
    DOCTEST_CHECK(message_of<InputError>([&] { share([](const corpus::TokenSink&) {}); }) ==
                  "the documents hold no sequence to tokenise");
    const std::string full = message_of<WriteError>(
        [&] { share([](const corpus::TokenSink&) { throw WriteError("no space left"); }); });
    DOCTEST_CHECK(full ==
                  "no space left; TMPDIR names another folder, or tokenize the corpus once and give the "
                  "shards as --documents");
    DOCTEST_CHECK(fs::is_empty(folder.path()));
}

DOCTEST_TEST_CASE("shared_corpus: what killed processes left is removed, what others use is not") {
    const TempDir folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    for (const char* name : {"left", "young"}) {
        const fs::path tokens = folder / ("bigbird-dna.tokens." + std::string(name)) / "tokens";
        fs::create_directories(tokens);
        write_file(tokens / "part", "tokens");
    }
    const TemporaryFolder used("tokens");
    const auto an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    fs::last_write_time(folder / "bigbird-dna.tokens.left", an_hour_ago);
    fs::last_write_time(used.path(), an_hour_ago);
    Ranks alone;
    share_corpus(alone, small_tokenizer(), 1, give_two_documents);
    DOCTEST_CHECK_FALSE(fs::exists(folder / "bigbird-dna.tokens.left"));
    DOCTEST_CHECK(fs::exists(used.path()));
    DOCTEST_CHECK(fs::exists(folder / "bigbird-dna.tokens.young"));
}
