// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_shards.hpp"

#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"
#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::corpus::shard_format;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

using Sentences = std::vector<std::vector<std::string>>;  // (documents, sentences)

const Sentences small_corpus{{"ACGTACGTTT", "GGGCAAT"}, {"NNN"}, {"TTTTTTTTTTTTTTTTTT", "A"}, {"CCCC"}};

void write(const fs::path& directory, const Sentences& documents, std::int64_t shard_tokens) {
    const auto tokenizer = small_tokenizer();
    TokenShardWriter writer(directory, tokenizer, Overwrite::allow, shard_tokens);
    for (const auto& document : documents) {
        for (const std::string& sentence : document)
            writer.add_sentence(tokenizer.encode(sentence), static_cast<std::int64_t>(sentence.size()));
        writer.end_document();
    }
    writer.commit(Json::array(), 2);
}

/// The i-th of the ranges that `ends` divides a corpus into.
IndexRange range_of(std::span<const std::int64_t> ends, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return {at == 0 ? 0 : ends[at - 1], ends[at]};
}

std::string spell(const TokenShards& shards, const IndexRange& tokens) {
    std::vector<std::int32_t> ids;
    shards.append_marked(tokens, ids);
    return shards.tokenizer().decode(ids);
}

void edit(const fs::path& path, const std::function<void(std::string&)>& change) {
    std::string bytes = read_file(path);
    change(bytes);
    write_file(path, bytes);
}

std::string refusal(const fs::path& directory) {
    try {
        const TokenShards shards(directory);
        shards.verify(2);
        return "none";
    } catch (const InputError& error) {
        return fs::path(error.what()).lexically_relative(directory).string();
    }
}

}  // namespace

DOCTEST_TEST_CASE("token_shards: what was written, however it was cut into shards") {
    const TempDir temp;
    for (const std::int64_t shard_tokens : {1, 6, 1000}) {
        const fs::path directory = temp.path() / std::to_string(shard_tokens);
        write(directory, small_corpus, shard_tokens);
        const TokenShards shards(directory, small_tokenizer());
        DOCTEST_CHECK(fs::exists(directory / "tokens-00001.bin") == (shard_tokens < 1000));
        DOCTEST_CHECK(shards.counts().documents == 4);
        DOCTEST_CHECK(shards.counts().sentences == 6);
        DOCTEST_CHECK(shards.counts().bases == 10 + 7 + 3 + 18 + 1 + 4);
        Sentences spelt;
        for (std::int64_t d = 0; d < shards.counts().documents; ++d) {
            const IndexRange sentences = range_of(shards.document_ends(), d);
            spelt.emplace_back();
            for (std::int64_t s = sentences.begin; s < sentences.end; ++s)
                spelt.back().push_back(spell(shards, range_of(shards.sentence_ends(), s)));
        }
        DOCTEST_CHECK(spelt == small_corpus);
        // Across shards.
        DOCTEST_CHECK(spell(shards, {0, shards.counts().tokens}) ==
                      "ACGTACGTTTGGGCAATNNNTTTTTTTTTTTTTTTTTTACCCC");
        shards.verify(2);

        const TokenCorpus corpus = TokenCorpus::from_shards(TokenShards(directory));
        DOCTEST_CHECK(corpus.documents() == 4);
        DOCTEST_CHECK(corpus.bases() == 43);
        std::vector<std::int32_t> mine, theirs;
        corpus.append_ids(1, corpus.tokens() - 1, mine);
        shards.append_marked({1, corpus.tokens() - 1}, theirs);
        DOCTEST_CHECK(mine == theirs);
    }
}

DOCTEST_TEST_CASE("token_shards: the bytes are those of FORMAT.md") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    write(directory, {{"A", "C"}, {"G"}}, 1000);
    const auto tokenizer = small_tokenizer();
    const std::string tokens = read_file(directory / "tokens-00000.bin");
    DOCTEST_REQUIRE(tokens.size() == 128 + 3 * 2);
    DOCTEST_CHECK(tokens.substr(0, 8) == "BBDNATOK");
    const auto number = [](const std::string& bytes, std::size_t at, int width) {
        std::uint64_t value = 0;
        for (int i = width - 1; i >= 0; --i)
            value = value << 8U | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
        return value;
    };
    DOCTEST_CHECK(number(tokens, 8, 4) == 1);   // version
    DOCTEST_CHECK(number(tokens, 12, 4) == 1);  // kind: tokens
    DOCTEST_CHECK(number(tokens, 16, 4) == 2);  // bytes an id
    DOCTEST_CHECK(number(tokens, 32, 8) == 3);  // ids
    DOCTEST_CHECK(number(tokens, 128, 2) == static_cast<std::uint64_t>(tokenizer.encode("A")[0]));
    const std::string sentences = read_file(directory / "sentences.bin");
    DOCTEST_REQUIRE(sentences.size() == 128 + 3 * 8);
    DOCTEST_CHECK(number(sentences, 12, 4) == 2);
    DOCTEST_CHECK(number(sentences, 128 + 8, 8) == 2);
    const std::string documents = read_file(directory / "documents.bin");
    DOCTEST_REQUIRE(documents.size() == 128 + 2 * 8);
    DOCTEST_CHECK(number(documents, 128, 8) == 2);
    DOCTEST_CHECK(number(documents, 128 + 8, 8) == 3);
}

DOCTEST_TEST_CASE("token_shards: what is not whole is refused, and it is said why") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    const auto after = [&](const char* file, const std::function<void(std::string&)>& change) {
        write(directory, small_corpus, 6);
        edit(directory / file, change);
        return refusal(directory);
    };
    using Bytes = std::string;
    const auto truncate = [](Bytes& bytes) { bytes.resize(40); };
    const auto flip = [](std::size_t at) { return [at](Bytes& bytes) { bytes[at] ^= 1; }; };
    struct Damage {
        const char* file;
        std::function<void(Bytes&)> change;
        const char* refusal;
    };
    for (const Damage& damage : std::vector<Damage>{
             {"tokens-00000.bin", [](Bytes& bytes) { bytes.pop_back(); }, "is truncated"},
             {"tokens-00001.bin", truncate, "is truncated: it ends within its header"},
             {"sentences.bin", [](Bytes& bytes) { bytes += "more"; }, "is longer than its header says"},
             {"documents.bin", [](Bytes& bytes) { bytes[8] = 7; }, "is of version 7, this program reads 1"},
             {"tokens-00000.bin", flip(45), "was made with another tokenizer"},
             {"tokens-00000.bin", flip(0), "is no file of token shards"},
             {"tokens-00000.bin", [](Bytes& bytes) { bytes[16] = 8; }, "has a damaged header"},
             {"tokens-00000.bin", [](Bytes& bytes) { bytes.back() ^= 1; }, "is damaged: its checksum"},
             {"manifest.json",
              [](Bytes& bytes) {
                  bytes.replace(bytes.find("\"format_version\": 1"), 19, "\"format_version\": 3");
              },
              "is of version 3"},
             {"manifest.json", [](Bytes& bytes) { bytes = "{}"; }, "describes no token shards"}}) {
        DOCTEST_CHECK(
            after(damage.file, damage.change).starts_with(damage.file + std::string(": ") + damage.refusal));
    }
    fs::remove_all(directory);  // one without a manifest is nobody's, and not replaced

    write(directory, small_corpus, 6);
    fs::remove(directory / "tokens-00001.bin");
    DOCTEST_CHECK(refusal(directory).starts_with("tokens-00001.bin: no such file"));
    write(directory, small_corpus, 6);
    fs::rename(directory / "tokens-00001.bin", directory / "tokens-00000.bin");
    DOCTEST_CHECK(refusal(directory).starts_with("tokens-00000.bin: does not belong in this place"));
    write(directory, small_corpus, 1000);
    const std::string other_ends = read_file(directory / "sentences.bin");
    write(directory, {{"ACG"}}, 1000);
    write_file(directory / "sentences.bin", other_ends);
    DOCTEST_CHECK(refusal(directory).starts_with("sentences.bin: does not fit the other files"));
    DOCTEST_CHECK_THROWS_AS(TokenShards(temp.path() / "none"), InputError);
    DOCTEST_CHECK_THROWS_AS(TokenShards(temp.path()), InputError);
}

DOCTEST_TEST_CASE("token_shards: an id outside the vocabulary never leaves the reader") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    write(directory, small_corpus, 1000);
    edit(directory / "tokens-00000.bin", [](std::string& bytes) { bytes[129] = '\xFF'; });
    const TokenShards shards(directory);
    std::vector<std::int32_t> ids;
    DOCTEST_CHECK_THROWS_AS(shards.append_marked({0, 2}, ids), InputError);
}

DOCTEST_TEST_CASE("token_shards: a folder tells whether it is a corpus of tokens") {
    const TempDir temp;
    write(temp.path() / "corpus", small_corpus, 1000);
    DOCTEST_CHECK(is_token_corpus(temp.path() / "corpus"));
    DOCTEST_CHECK_FALSE(is_token_corpus(temp.path()));
    DOCTEST_CHECK_FALSE(is_token_corpus(temp.path() / "none"));
}

DOCTEST_TEST_CASE("token_shards: a manifest cannot name files elsewhere, and must name files") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    const auto with = [&](const Json& files) {
        write(directory, small_corpus, 1000);
        Json manifest = read_json(directory / "manifest.json");
        manifest["files"] = files;
        write_json(directory / "manifest.json", manifest, Overwrite::allow);
        return refusal(directory);
    };
    for (const char* name : {"../x", "/etc/passwd", "..", ""}) {
        DOCTEST_CHECK(with(Json::array({{{"file", name}, {"sha256", ""}}})) ==
                      "manifest.json: names a file outside its folder");
    }
    const std::string damaged = "manifest.json: has a damaged list of files; run tokenize again";
    DOCTEST_CHECK(with(Json()) == damaged);
    DOCTEST_CHECK(with(7) == damaged);
    DOCTEST_CHECK(with(Json::array({{{"file", 7}}})) == damaged);
    DOCTEST_CHECK(with(Json::array({{{"file", "documents.bin"}, {"sha256", "0"}, {"bytes", "many"}}})) ==
                  damaged);
}

DOCTEST_TEST_CASE("token_shards: a corpus whose ends do not rise is not used") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    for (const char* file : {"sentences.bin", "documents.bin"}) {
        for (const char first : {'\x7F', '\x00', '\x80'}) {
            write(directory, small_corpus, 1000);
            edit(
                directory / file, [&](std::string& bytes) { bytes[128] = first, bytes[135] = first; });
            DOCTEST_CHECK(
                testing::message_of<InputError>([&] { TokenCorpus::from_shards(TokenShards(directory)); }) ==
                (directory / file).string() +
                    ": is damaged: its ends do not rise; copy it again or run tokenize again");
        }
    }
}

DOCTEST_TEST_CASE("shard_format: a header that lies about the size is refused") {
    Header header;
    header.element_bytes = 2;
    header.count = 3;
    const auto with_elements = [&](std::size_t bytes) {
        std::vector<std::byte> file(sizeof header + bytes);
        std::memcpy(file.data(), &header, sizeof header);
        return file;
    };
    DOCTEST_CHECK(parse_header(with_elements(6), "file").count == 3);
    DOCTEST_CHECK_THROWS_AS(parse_header(with_elements(5), "file"), InputError);
    DOCTEST_CHECK_THROWS_AS(parse_header(with_elements(7), "file"), InputError);
    for (const std::int64_t count : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
        header.count = count;
        DOCTEST_CHECK_THROWS_AS(parse_header(with_elements(6), "file"), InputError);
    }
}

namespace {

const std::vector<std::int32_t> three{5, 6, 7};

}  // namespace

DOCTEST_TEST_CASE("shard_writer: nothing lies there before commit, and nothing is left without it") {
    const TempDir temp;
    const auto tokenizer = small_tokenizer();
    {
        TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
        writer.add_sentence(three, 9);
        writer.end_document();
        DOCTEST_CHECK_FALSE(fs::exists(temp.path() / "corpus"));
    }
    DOCTEST_CHECK(fs::is_empty(temp.path()));
    TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
    writer.add_sentence(three, 9);
    writer.end_document();
    writer.commit(Json::array(), 1);
    DOCTEST_CHECK(fs::is_directory(temp.path() / "corpus"));
    DOCTEST_CHECK_THROWS_AS(TokenShardWriter(temp.path() / "corpus", tokenizer, Overwrite::refuse),
                            ConfigError);
}

DOCTEST_TEST_CASE("shard_writer: sentences and documents without tokens are left out") {
    const TempDir temp;
    const auto tokenizer = small_tokenizer();
    TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
    DOCTEST_CHECK_THROWS_AS(writer.commit(Json::array(), 1), InputError);
    writer.end_document();
    writer.add_sentence({}, 0);
    writer.end_document();
    writer.add_sentence(three, 9);
    writer.add_sentence({}, 0);
    writer.end_document();
    writer.end_document();
    DOCTEST_CHECK(writer.counts() == TokenCounts{1, 1, 3, 9});
}

DOCTEST_TEST_CASE("shard_writer: a full disk is told, and nothing is left") {
    if (!fs::exists("/dev/full")) return;
    const TempDir temp;
    const auto tokenizer = small_tokenizer();
    {
        TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
        for (const auto& folder : fs::directory_iterator(temp.path()))
            fs::create_symlink("/dev/full", folder.path() / "tokens-00000.bin");
        const std::vector<std::int32_t> many(2'000'000, 5);
        DOCTEST_CHECK_THROWS_AS(writer.add_sentence(many, 9), WriteError);
    }
    DOCTEST_CHECK(fs::is_empty(temp.path()));
}

DOCTEST_TEST_CASE("shard_writer: a tokenizer of Hugging Face's goes along as it is") {
    const TempDir temp;
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/hf/gena_like.json"));
    const std::vector<std::int32_t> ids = tokenizer.encode("ACGTACGTTTGGGCAAT");
    TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
    writer.add_sentence(ids, 17);
    writer.end_document();
    writer.commit(Json::array(), 1);
    DOCTEST_CHECK(fs::exists(temp.path() / "corpus" / "tokenizer.json"));
    const TokenShards shards(temp.path() / "corpus", tokenizer);
    std::vector<std::int32_t> read;
    shards.append_marked({0, shards.counts().tokens}, read);
    DOCTEST_CHECK(read == ids);
    const auto other = small_tokenizer();
    DOCTEST_CHECK_THROWS_AS(TokenShards(temp.path() / "corpus", other), InputError);
}

DOCTEST_TEST_CASE("describe_shards: counts, sizes and whether the checksums were compared") {
    const TempDir temp;
    const auto tokenizer = small_tokenizer();
    TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
    writer.add_sentence(std::vector<std::int32_t>{5, 6, 7}, 10);
    writer.add_sentence(std::vector<std::int32_t>{5}, 2);
    writer.end_document();
    writer.commit(Json::array(), 1);
    const TokenShards shards(temp.path() / "corpus");
    const Json json = describe(shards, false);
    DOCTEST_CHECK(json.at("kind") == "token shards");
    DOCTEST_CHECK(json.at("tokens") == 4);
    DOCTEST_CHECK(json.at("bases_per_token") == 3.0);
    DOCTEST_CHECK(json.at("files").at("tokens-00000.bin") == "136 bytes");
    DOCTEST_CHECK(json.at("checksums") == "not compared; --verify does");
    DOCTEST_CHECK(describe(shards, true).at("checksums") == "verified");
}

namespace {

std::function<std::optional<Document>()> stream_of(std::vector<Document> documents) {
    return [documents = std::move(documents), next = std::size_t{0}]() mutable -> std::optional<Document> {
        return next < documents.size() ? std::optional(documents[next++]) : std::nullopt;
    };
}

}  // namespace

DOCTEST_TEST_CASE(
    "token_corpus: sentences are tokenised each by itself, in order, on any number of threads") {
    const auto tokenizer = small_tokenizer();
    const std::vector<Document> documents{
        {{"ACGTACGTTT", "GGGCAAT"}}, {{"NNN"}}, {{"", ""}}, {}, {{"TTTTTTTTTTTTTTTTTT", "", "A"}}};
    for (const int threads : {1, 3}) {
        const auto corpus = TokenCorpus::from_documents(stream_of(documents), tokenizer, threads);
        DOCTEST_CHECK(corpus.documents() == 3);
        DOCTEST_CHECK(corpus.sentences() == 5);
        DOCTEST_CHECK(corpus.bases() == 10 + 7 + 3 + 18 + 1);
        std::vector<std::string> spelt;
        for (std::int64_t s = 0; s < corpus.sentences(); ++s) {
            std::vector<std::int32_t> ids;
            corpus.append_ids(corpus.sentence_begin(s), corpus.sentence_ends()[static_cast<std::size_t>(s)],
                              ids);
            DOCTEST_CHECK(ids == tokenizer.encode(tokenizer.decode(ids)));
            spelt.push_back(tokenizer.decode(ids));
        }
        DOCTEST_CHECK(spelt ==
                      std::vector<std::string>{"ACGTACGTTT", "GGGCAAT", "NNN", "TTTTTTTTTTTTTTTTTT", "A"});
        DOCTEST_CHECK(corpus.tokens() == corpus.sentence_ends().back());
        const std::span<const std::int64_t> ends = corpus.document_ends();
        DOCTEST_CHECK(std::vector(ends.begin(), ends.end()) == std::vector<std::int64_t>{2, 3, 5});
    }
    DOCTEST_CHECK(TokenCorpus::from_documents(stream_of({}), tokenizer, 2).documents() == 0);
}

namespace {

const BuildSpec sharded_spec{
    .documents = {.passes = 3, .sentences = {3, 6}, .sentence_length = {50, 90}, .start_offset = {0, 40}},
    .add_reverse_complement = true};

void write_documents(const fs::path& path, DocumentForm form, const genome::ReferenceGenome& genome) {
    DocumentWriter writer(path, form, sharded_spec, Overwrite::refuse, 1);
    build_documents(genome, sharded_spec, BuildText::yes, 1,
                    [&](PlacedDocument&& document) { writer.write(document); });
    writer.commit();
}

std::string checksums(const fs::path& directory) {
    return read_json(directory / "manifest.json").at("files").dump();
}

}  // namespace

DOCTEST_TEST_CASE("tokenize: text and coordinates give the same shards on any number of threads") {
    const TempDir temp;
    const auto tokenizer = small_tokenizer();
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
    const TokenCorpus expected = TokenCorpus::from(
        [&](const TokenSink& sink) { tokenize_genome(*genome, sharded_spec, tokenizer, 1, sink); },
        tokenizer);
    std::vector<std::int32_t> mine, theirs;
    shards.append_marked({0, shards.counts().tokens}, mine);
    expected.append_ids(0, expected.tokens(), theirs);
    DOCTEST_CHECK(mine == theirs);
    DOCTEST_CHECK(shards.counts().bases == expected.bases());
    DOCTEST_CHECK(std::equal(shards.sentence_ends().begin(), shards.sentence_ends().end(),
                             expected.sentence_ends().begin(), expected.sentence_ends().end()));
    DOCTEST_CHECK(std::equal(shards.document_ends().begin(), shards.document_ends().end(),
                             expected.document_ends().begin(), expected.document_ends().end()));
}

DOCTEST_TEST_CASE("tokenize: soft-masked tokens are marked, in memory, in shards and in examples") {
    const auto tokenizer = small_tokenizer();
    const std::string dna = read_file(test_data("tokenizer/sentences.txt")).substr(0, 700);
    std::string masked = dna;
    for (const auto& [begin, end] : {std::pair(100, 240), std::pair(400, 401), std::pair(600, 700)})
        for (int i = begin; i < end; ++i)
            masked[static_cast<std::size_t>(i)] += 'a' - 'A';
    const TempDir temp;
    write_file(temp / "masked.fa", ">1\n" + masked + "\n");
    write_file(temp / "documents.bed", "1\t0\t350\t0\t0\t+\n1\t350\t700\t0\t1\t+\n");
    write_file(temp / "reverse.bed", "1\t0\t700\t0\t0\t-\n");
    const std::vector<fs::path> fasta{temp / "masked.fa"};
    const auto cased = genome::open_references(fasta, genome::LetterCase::kept);
    DOCTEST_CHECK(cased->fetch({"1", 95, 105}) == masked.substr(95, 10));
    DOCTEST_CHECK(genome::open_references(fasta)->fetch({"1", 0, 700}) == dna);

    const auto read = [&](const char* documents, const genome::ReferenceGenome& genome) {
        DocumentReader reader(temp / documents, &genome);
        return TokenCorpus::from_documents([&] { return reader.next(); }, tokenizer, 2);
    };
    const TokenCorpus marked = read("documents.bed", *cased),
                      plain = read("documents.bed", *genome::open_references(fasta));
    std::vector<std::int32_t> ids, same, with_marks;
    plain.append_ids(0, plain.tokens(), ids);
    marked.append_ids(0, marked.tokens(), same);
    marked.append_marked(0, marked.tokens(), with_marks);
    DOCTEST_CHECK(ids == same);
    DOCTEST_CHECK(marked.is_marked());
    DOCTEST_CHECK_FALSE(plain.is_marked());
    std::size_t at = 0, marks = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto length = static_cast<std::size_t>(tokenizer.piece_length(ids[i]));
        const std::string letters = masked.substr(at, length);
        const auto lower = std::ranges::count_if(letters, [](char c) { return c >= 'a'; });
        DOCTEST_CHECK((with_marks[i] >= tokenizer.vocab_size()) ==
                      (2 * lower >= static_cast<std::ptrdiff_t>(length)));
        marks += with_marks[i] >= tokenizer.vocab_size() ? 1 : 0;
        at += length;
    }
    DOCTEST_CHECK(marks > 10);
    DOCTEST_CHECK(read("reverse.bed", *cased).is_marked());

    TokenShardWriter writer(temp / "shards", tokenizer, Overwrite::refuse, 100);
    DocumentReader reader(temp / "documents.bed", cased.get());
    tokenize_documents(reader, tokenizer, 2, writer, [](const TokenCounts&) {});
    writer.commit(Json::array(), 1);
    const TokenCorpus stored = TokenCorpus::from_shards(TokenShards(temp / "shards", tokenizer));
    DOCTEST_CHECK(read_json(temp / "shards/manifest.json")["format_version"] == marked_version);
    std::vector<std::int32_t> again;
    stored.append_marked(0, stored.tokens(), again);
    DOCTEST_CHECK(again == with_marks);
    DOCTEST_CHECK(stored.is_marked());

    const ExampleSource source(stored, tokenizer, {.sequence_length = 64, .nsp = false, .seed = 1});
    for (std::int64_t i = 0; i < source.epoch_size(); ++i) {
        const Example example = source.get(i);
        DOCTEST_REQUIRE(example.masked_repeats.size() == example.masked_tokens.size());
        for (std::size_t m = 0; m < example.masked_tokens.size(); ++m) {
            const std::int32_t id = with_marks[static_cast<std::size_t>(example.masked_tokens[m])];
            DOCTEST_CHECK(example.masked_labels[m] == id % tokenizer.vocab_size());
            DOCTEST_CHECK((example.masked_repeats[m] != 0) == (id >= tokenizer.vocab_size()));
        }
    }
}

DOCTEST_TEST_CASE("tokenize: a bad line ends it on any number of threads") {
    const TempDir temp;
    const auto tokenizer = small_tokenizer();
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

DOCTEST_TEST_CASE(
    "tokenizer_corpus: a genome directly gives the tokenizer that its documents of one pass give") {
    const TempDir folder;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    const tokenizer::TrainSpec spec{.vocab_size = 150, .seed = 3};
    tokenizer::TokenizerTrainer direct(spec, folder / "direct.model", Overwrite::refuse);
    add_genome(direct, *genome, 3, 2);
    const auto report = direct.finish();

    const BuildSpec documents{.documents = {.passes = 1, .seed = 3}};
    DocumentWriter writer(folder / "documents.bed", DocumentForm::coordinates, documents, Overwrite::refuse,
                          1);
    build_documents(*genome, documents, BuildText::no, 1,
                    [&](PlacedDocument&& document) { writer.write(document); });
    writer.commit();
    DocumentReader reader(folder / "documents.bed", genome.get());
    tokenizer::TokenizerTrainer indirect(spec, folder / "indirect.model", Overwrite::refuse);
    add_documents(indirect, reader);
    const auto same = indirect.finish();
    DOCTEST_CHECK(read_file(folder / "direct.vocab") == read_file(folder / "indirect.vocab"));
    DOCTEST_CHECK(report.sentences == same.sentences);

    const Json json = report_json(spec, report);
    DOCTEST_CHECK(json["vocab_size"] == 150);
    DOCTEST_CHECK(json["sentences"] == report.sentences);
    DOCTEST_CHECK(json["bases_per_token"].get<double>() ==
                  doctest::Approx(json["measured_bases"].get<double>() / json["tokens"].get<double>()));
}
