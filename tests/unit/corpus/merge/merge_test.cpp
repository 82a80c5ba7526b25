// SPDX-License-Identifier: Apache-2.0
#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/corpus/merge/merge_tokens.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"

#include <array>
#include <fstream>

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::testing;

namespace fs = std::filesystem;

namespace {

struct Built {
    Json manifest;
    std::vector<PartSegment> segments;
};

Built build(const fs::path& path, DocumentForm form, std::optional<Shard> shard) {
    BuildSpec spec{.documents = {.passes = 3,
                                 .sentences = {3, 6},
                                 .sentence_length = {50, 90},
                                 .start_offset = {0, 40},
                                 .seed = 6},
                   .add_reverse_complement = true};
    spec.shard = shard;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    DocumentWriter writer(path, form, spec, Overwrite::refuse, 1);
    Built built;
    const BuildText text = form == DocumentForm::text ? BuildText::yes : BuildText::no;
    const BuildCounts counts = build_documents(*genome, spec, text, 2, [&](PlacedDocument&& document) {
        if (built.segments.empty() || built.segments.back().number != document.segment)
            built.segments.push_back({document.segment, 0});
        ++built.segments.back().records;
        writer.write(document);
    });
    built.manifest = document_manifest(form, spec, counts, {});
    const std::array outputs{writer.finish()};
    if (shard)
        pending_part_record(documents_record(built.manifest, *shard, built.segments), *outputs[0])->commit();
    commit_together(outputs);
    return built;
}

std::vector<Part> build_parts(const TempDir& folder, DocumentForm form, std::int64_t count) {
    std::vector<fs::path> paths;
    for (std::int64_t number = count; number >= 1; --number) {
        paths.push_back(folder / ("part" + std::to_string(number)));
        build(paths.back(), form, Shard{number, count});
    }
    return open_parts(paths, 1);
}

}  // namespace

DOCTEST_TEST_CASE(
    "merge documents: text and coordinates have the bytes of one run, and so has the manifest") {
    for (const DocumentForm form : {DocumentForm::text, DocumentForm::coordinates}) {
        for (const std::int64_t count : {1, 2, 5, 1000}) {
            DOCTEST_CAPTURE(count);
            const TempDir folder;
            const Built whole = build(folder / "whole", form, std::nullopt);
            const std::vector<Part> parts = build_parts(folder, form, count);
            merge_documents(parts, folder / "merged", Overwrite::refuse, 1);
            DOCTEST_CHECK(read_file(folder / "merged") == read_file(folder / "whole"));
            DOCTEST_CHECK(merged_manifest(parts).dump(2) == whole.manifest.dump(2));
        }
    }
}

DOCTEST_TEST_CASE("merge documents: a record of more or fewer documents than there are") {
    for (const DocumentForm form : {DocumentForm::text, DocumentForm::coordinates}) {
        for (const std::int64_t by : {1, -1}) {
            const TempDir folder;
            std::vector<Part> parts = build_parts(folder, form, 2);
            parts[0].record.segments.back().records += by;
            DOCTEST_CHECK(message_of<InputError>([&] {
                              merge_documents(parts, folder / "merged", Overwrite::refuse, 1);
                          }).find("part1: holds other documents than its .part.json counts") !=
                          std::string::npos);
            DOCTEST_CHECK(!fs::exists(folder / "merged"));
        }
    }
}

DOCTEST_TEST_CASE("merge documents: counts that are no whole numbers, or whose sum is none of 64 bits") {
    const TempDir folder;
    std::vector<Part> parts = build_parts(folder, DocumentForm::text, 2);
    for (const char* text : {"1.5", "1e300", "18446744073709551615", "9223372036854775807", "\"7\"", "[]"}) {
        parts[1].record.counts["bases"] = Json::parse(text);
        DOCTEST_CHECK(message_of<InputError>([&] { merged_manifest(parts); }) ==
                      (folder / "part2.part.json").string() + ": is damaged: its counts are no numbers");
    }
}

namespace {

constexpr std::int64_t part_tokens = 60;  // several files

/// Documents of differing lengths, an N among them.
fs::path write_documents(const TempDir& folder) {
    std::ofstream out(folder / "documents.txt");
    for (int document = 0; document < 23; ++document) {
        if (document > 0) out << '\n';
        for (int sentence = 0; sentence <= document % 4; ++sentence)
            out << "ACGTTGCANACG"
                << std::string(static_cast<std::size_t>(document * 3 + sentence),
                               document % 3 == 0 ? 't' : 'T')
                << "\n";
    }
    return folder / "documents.txt";
}

void tokenize(const fs::path& documents, const fs::path& output, std::optional<Shard> shard) {
    const auto tokenizer = small_tokenizer();
    DocumentReader reader(documents, nullptr, genome::LetterCase::kept);
    TokenShardWriter writer(output, tokenizer, Overwrite::refuse, part_tokens);
    auto segments = tokenize_documents(
        reader, tokenizer, 2, writer, [](const TokenCounts&) {}, shard);
    PendingOutput& pending = writer.finish(Json::array(), 1);
    if (!shard) return pending.commit();
    const auto record = pending_tokens_record(pending, *shard, part_tokens, std::move(segments));
    commit_together(std::array{record.get(), &pending});
}

std::vector<fs::path> tokenize_parts(const TempDir& folder, std::int64_t count) {
    const fs::path documents = write_documents(folder);
    std::vector<fs::path> paths;
    for (std::int64_t number = count; number >= 1; --number) {
        paths.push_back(folder / ("part" + std::to_string(number)));
        tokenize(documents, paths.back(), Shard{number, count});
    }
    return paths;
}

}  // namespace

DOCTEST_TEST_CASE("merge tokens: every file has the bytes of one run") {
    for (const std::int64_t count : {1, 2, 5}) {
        const TempDir folder;
        const auto paths = tokenize_parts(folder, count);
        tokenize(folder / "documents.txt", folder / "whole", std::nullopt);
        merge_tokens(open_token_parts(paths, 1), folder / "merged", Overwrite::refuse, 1);
        std::size_t files = 0;
        for (const auto& entry : fs::directory_iterator(folder / "whole")) {
            DOCTEST_CAPTURE(entry.path().filename().string());
            DOCTEST_CHECK(read_file(entry.path()) == read_file(folder / "merged" / entry.path().filename()));
            ++files;
        }
        DOCTEST_CHECK(files > 6);  // more than one shard
    }
}

DOCTEST_TEST_CASE("merge tokens: a damaged part is named") {
    const TempDir folder;
    const auto paths = tokenize_parts(folder, 2);
    std::string bytes = read_file(paths[0] / "tokens-00000.bin");
    bytes[130] = static_cast<char>(bytes[130] ^ 1);
    write_file(paths[0] / "tokens-00000.bin", bytes);
    DOCTEST_CHECK(message_of<InputError>([&] { open_token_parts(paths, 1); }).find("part2") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("merge tokens: a record of more or fewer documents than there are") {
    for (const std::int64_t by : {1, -1}) {
        const TempDir folder;
        std::vector<Part> parts = open_token_parts(tokenize_parts(folder, 2), 1);
        parts[0].record.segments.back().records += by;
        DOCTEST_CHECK(message_of<InputError>([&] {
                          merge_tokens(parts, folder / "merged", Overwrite::refuse, 1);
                      }).find("part1: holds other documents than its .part.json counts") !=
                      std::string::npos);
        DOCTEST_CHECK(!fs::exists(folder / "merged"));
    }
}

DOCTEST_TEST_CASE("merge tokens: parts of other documents are foreign") {
    const TempDir folder;
    auto paths = tokenize_parts(folder, 2);
    const auto tokenizer = small_tokenizer();
    fs::remove_all(paths[0]);
    TokenShardWriter writer(paths[0], tokenizer, Overwrite::refuse, part_tokens);
    writer.add_sentence(tokenizer.encode("ACGT"), 4);
    writer.end_document();
    PendingOutput& pending = writer.finish({{{"role", "documents"}, {"sha256", "other"}}}, 1);
    const auto record = pending_tokens_record(pending, {2, 2}, part_tokens, {{1, 1}});
    commit_together(std::array{record.get(), &pending});
    DOCTEST_CHECK(message_of<InputError>([&] { open_token_parts(paths, 1); }).find("inputs differs") !=
                  std::string::npos);
}
