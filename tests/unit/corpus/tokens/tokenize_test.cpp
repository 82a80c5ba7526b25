// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/tokenize.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"

#include <fstream>

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;
namespace fs = std::filesystem;

namespace {

const BuildSpec spec{
    .documents = {.passes = 3, .sentences = {3, 6}, .sentence_length = {50, 90}, .start_offset = {0, 40}},
    .add_reverse_complement = true};

void write_documents(const fs::path& path, DocumentForm form, const genome::ReferenceGenome& genome) {
    DocumentWriter writer(path, form, spec, Overwrite::refuse, 1);
    build_documents(genome, spec, BuildText::yes, 1,
                    [&](PlacedDocument&& document) { writer.write(document); });
    writer.commit();
}

std::string checksums(const fs::path& directory) {
    return read_json(directory / "manifest.json").at("files").dump();
}

}  // namespace

DOCTEST_TEST_CASE("tokenize: text and coordinates give the same shards on any number of threads") {
    const TempDir temp;
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    write_documents(temp.path() / "text", DocumentForm::text, *genome);
    write_documents(temp.path() / "bed", DocumentForm::coordinates, *genome);
    std::string first;
    for (const char* form : {"text", "bed"}) {
        for (const int threads : {1, 2, 5}) {
            DocumentReader documents(temp.path() / form, genome.get());
            const fs::path directory = temp.path() / (form + std::to_string(threads));
            TokenShardWriter writer(directory, tokenizer, Overwrite::refuse);
            TokenCounts last;
            tokenize_documents(documents, tokenizer, threads, writer,
                               [&](const TokenCounts& counts) { last = counts; });
            DOCTEST_CHECK(last == writer.counts());
            writer.commit(Json::array(), threads);
            first = first.empty() ? checksums(directory) : first;
            DOCTEST_CHECK(checksums(directory) == first);
        }
    }
    const TokenShards shards(temp.path() / "text1");
    const TokenCorpus expected = TokenCorpus::from_genome(*genome, spec, tokenizer, 1);
    std::vector<std::int32_t> mine, theirs;
    shards.append_ids({0, shards.counts().tokens}, mine);
    expected.append_ids(0, expected.tokens(), theirs);
    DOCTEST_CHECK(mine == theirs);
    DOCTEST_CHECK(shards.counts().bases == expected.bases());
    DOCTEST_CHECK(std::equal(shards.sentence_ends().begin(), shards.sentence_ends().end(),
                             expected.sentence_ends().begin(), expected.sentence_ends().end()));
    DOCTEST_CHECK(std::equal(shards.document_ends().begin(), shards.document_ends().end(),
                             expected.document_ends().begin(), expected.document_ends().end()));
}

DOCTEST_TEST_CASE("tokenize: a bad line ends it on any number of threads") {
    const TempDir temp;
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    std::ofstream(temp.path() / "documents") << "ACGT\n\nAC-GT\n";
    for (const int threads : {1, 3}) {
        DocumentReader documents(temp.path() / "documents");
        TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
        DOCTEST_CHECK_THROWS_AS(
            tokenize_documents(documents, tokenizer, threads, writer, [](const TokenCounts&) {}), InputError);
    }
}

DOCTEST_TEST_CASE("tokenize: the inputs are named by role and checksum") {
    const fs::path fasta = test_data("genome/multi.fa");
    const Json inputs = InputChecksums("-", {fasta}).get();
    DOCTEST_CHECK(inputs.dump() == R"([{"role":"documents","sha256":null},{"role":"reference","sha256":")" +
                                       sha256_of_file(fasta) + R"("}])");
}
