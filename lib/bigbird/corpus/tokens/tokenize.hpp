// SPDX-License-Identifier: Apache-2.0
// From documents to token shards.
#pragma once

#include "bigbird/core/parts/part_record.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <vector>

namespace bigbird::corpus {

/// Encodes each sentence by itself on up to `threads` threads and hands it to `writer` in order; the result
/// does not depend on their number. Holds a few megabases a thread. `progress` is called between batches, on
/// the calling thread. Of a part, document d goes to the part d % N + 1 of N, a segment by itself; the
/// segments of `shard` are returned, none without. Throws what the reader and the writer throw, and Stopped.
std::vector<PartSegment> tokenize_documents(DocumentReader& documents,
                                            const tokenizer::DnaTokenizer& tokenizer, int threads,
                                            TokenShardWriter& writer,
                                            const std::function<void(const TokenCounts&)>& progress,
                                            const std::optional<Shard>& shard = {});

/// The same of the documents that build_documents makes, without a file between.
void tokenize_genome(const genome::ReferenceGenome& genome, const BuildSpec& spec,
                     const tokenizer::DnaTokenizer& tokenizer, int threads, TokenShardWriter& writer);

/// The manifest's `inputs`, made on a thread of its own while the files are read for their content: role and
/// SHA-256 of the documents (null for a pipe) and of each FASTA file.
class InputChecksums {
public:
    InputChecksums(std::filesystem::path documents, std::vector<std::filesystem::path> references);
    /// Waits for them. Throws InputError where a file cannot be read. Call it once.
    Json get() { return result_.get(); }

private:
    std::promise<Json> promise_;
    std::future<Json> result_ = promise_.get_future();
    std::jthread thread_;  ///< last: it stops before the rest goes
};

}  // namespace bigbird::corpus
