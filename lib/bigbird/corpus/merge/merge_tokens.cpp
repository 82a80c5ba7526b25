// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/merge/merge_tokens.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::corpus {
namespace fs = std::filesystem;

namespace {

/// The manifest's entries that all parts share.
Json run_of(const Json& manifest, std::int64_t shard_tokens) {
    Json run;
    run["format_version"] = shard_format::version;  // a part without repeats has no marks
    for (const char* key : {"made_by", "vocabulary_sha256", "inputs"})
        run[key] = manifest.at(key);
    run["shard_tokens"] = shard_tokens;
    return run;
}

/// The documents of a part, one after another.
class PartDocuments {
public:
    explicit PartDocuments(const Part& part) : shards_(part.path) { shards_.require_rising_ends(); }

    const TokenShards& shards() const { return shards_; }
    /// Passes the next document to `writer`. All bases of the part are counted for its first sentence,
    /// because no file has them per sentence.
    void take(TokenShardWriter& writer) {
        const auto documents = shards_.document_ends();
        if (document_ >= documents.size()) throw miscounted(shards_.directory(), "documents");
        const auto sentences = shards_.sentence_ends();
        for (const std::int64_t end = documents[document_++]; sentence_ < end; ++sentence_) {
            const IndexRange tokens{token_, sentences[static_cast<std::size_t>(sentence_)]};
            ids_.clear();
            shards_.append_marked(tokens, ids_);
            writer.add_sentence(ids_, sentence_ == 0 ? shards_.counts().bases : 0);
            token_ = tokens.end;
        }
        writer.end_document();
    }
    /// Throws if documents are left.
    void require_end() const {
        if (document_ < shards_.document_ends().size()) throw miscounted(shards_.directory(), "documents");
    }

private:
    TokenShards shards_;
    std::size_t document_ = 0;
    std::int64_t sentence_ = 0, token_ = 0;
    std::vector<std::int32_t> ids_;
};

}  // namespace

std::unique_ptr<PendingOutput> pending_tokens_record(PendingOutput& directory, const Shard& shard,
                                                     std::int64_t shard_tokens,
                                                     std::vector<PartSegment> segments) {
    return pending_part_record({.kind = "tokens",
                                .shard = shard,
                                .run = run_of(TokenShards(directory.path()).manifest(), shard_tokens),
                                .segments = std::move(segments)},
                               std::array{&directory});
}

std::vector<Part> open_token_parts(std::span<const fs::path> paths, int threads) {
    std::vector<Part> parts = open_parts(paths, threads);
    for (const Part& part : parts)
        TokenShards(part.path).verify(threads);
    return parts;
}

void merge_tokens(std::span<const Part> parts, const fs::path& output, Overwrite overwrite, int threads) {
    std::vector<PartDocuments> documents;
    for (const Part& part : parts)
        documents.emplace_back(part);
    const Json& run = parts.front().record.run;
    const Json shard_tokens = run.value("shard_tokens", Json());
    if (!shard_tokens.is_number_integer() || !run.contains("inputs")) {
        throw InputError("is damaged: it does not say how the part was made",
                         part_record_path(parts.front().path));
    }
    TokenShardWriter writer(output, documents.front().shards().tokenizer(), overwrite,
                            shard_tokens.get<std::int64_t>());
    for (const Piece& piece : order_of(parts)) {
        stop_if_asked();
        for (std::int64_t i = 0; i < piece.records; ++i)
            documents[piece.part].take(writer);
    }
    for (const PartDocuments& part : documents)
        part.require_end();
    writer.commit(run.at("inputs"), threads);
}

}  // namespace bigbird::corpus
