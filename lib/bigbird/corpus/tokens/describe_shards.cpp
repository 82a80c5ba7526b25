// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/describe_shards.hpp"

#include "bigbird/corpus/tokens/shard_format.hpp"

#include <cmath>
#include <cstdint>

namespace bigbird::corpus {

namespace {

/// Rounded to a thousandth; 0 where there is nothing to divide by.
double ratio(std::int64_t whole, std::int64_t parts) {
    return parts == 0 ? 0 : std::round(1000 * static_cast<double>(whole) / static_cast<double>(parts)) / 1000;
}

}  // namespace

Json describe(const TokenShards& shards, bool verified) {
    const TokenCounts& counts = shards.counts();
    const Json& manifest = shards.manifest();
    Json json = {{"kind", "token shards"},
                 {"documents", counts.documents},
                 {"sentences", counts.sentences},
                 {"tokens", counts.tokens},
                 {"bases", counts.bases},
                 {"bases_per_token", ratio(counts.bases, counts.tokens)},
                 {"tokens_per_document", ratio(counts.tokens, counts.documents)},
                 {"sentences_per_document", ratio(counts.sentences, counts.documents)},
                 {"vocab_size", shards.tokenizer().vocab_size()},
                 {"vocabulary_sha256", manifest.value("vocabulary_sha256", Json())},
                 {"made_by", manifest.value("made_by", Json())},
                 {"checksums", verified ? "verified" : "not compared; --verify does"}};
    std::int64_t bytes = 0;
    for (const shard_format::FileSum& file : shard_format::file_sums(manifest, shards.directory())) {
        bytes += file.bytes;
        json["files"][file.name] = std::to_string(file.bytes) + " bytes";
    }
    json["bytes"] = bytes;
    for (const Json& input : manifest.value("inputs", Json::array())) {
        json["made_from"].push_back(input);
    }
    return json;
}

}  // namespace bigbird::corpus
