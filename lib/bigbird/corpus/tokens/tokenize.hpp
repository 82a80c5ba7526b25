// SPDX-License-Identifier: Apache-2.0
// Tokenizes documents to token shards.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/tokenizer/train/train.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace bigbird::corpus {

// Turns documents into token ids, in the documents' order.

/// The ids of a sentence. If case was kept, a token of which at least half of the letters are lower case, so
/// soft-masked, is marked: its id is vocab_size() higher.
std::vector<std::int32_t> encode_marked(const tokenizer::DnaTokenizer& tokenizer,
                                        const std::string& sentence);

/// Receives tokenized sentences, as encode_marked() gives them, in order, on the thread that calls the
/// tokenizer.
struct TokenSink {
    std::function<void(std::span<const std::int32_t> ids, std::int64_t bases)> sentence;
    std::function<void()> document_end;
};

/// Takes documents one by one and tokenizes them a few megabases at a time on up to `threads` threads. The
/// result does not depend on the number of threads. Each sentence is encoded separately. Call it from one
/// thread.
class BatchTokenizer {
public:
    /// `tokenizer` must outlive this.
    BatchTokenizer(const tokenizer::DnaTokenizer& tokenizer, int threads, TokenSink sink);

    /// Throws what the sink throws, and Stopped.
    void add(Document&& document);
    /// Tokenizes the remaining documents. Call it after the last document.
    void finish();

private:
    const tokenizer::DnaTokenizer& tokenizer_;
    int threads_;
    TokenSink sink_;
    std::vector<Document> batch_;
    std::int64_t bases_ = 0;  // of the current batch
};

/// Encodes each sentence separately on up to `threads` threads and passes it to `writer` in order. The result
/// does not depend on the number of threads. Holds a few megabases per thread. `progress` is called between
/// batches, on the calling thread. Document d is a segment and belongs to part d % N + 1 of N. Returns the
/// segments of `shard`, or none without it. Throws what the reader and the writer throw, and Stopped.
std::vector<PartSegment> tokenize_documents(DocumentReader& documents,
                                            const tokenizer::DnaTokenizer& tokenizer, int threads,
                                            TokenShardWriter& writer,
                                            const std::function<void(const TokenCounts&)>& progress,
                                            const std::optional<Shard>& shard = {});

/// Tokenizes the documents that build_documents() would write, without an intermediate file.
void tokenize_genome(const genome::ReferenceGenome& genome, const BuildSpec& spec,
                     const tokenizer::DnaTokenizer& tokenizer, int threads, TokenShardWriter& writer);

/// The manifest's `inputs`: role and SHA-256 of the documents (null for a pipe) and of each FASTA file. They
/// are computed in a separate thread while the files are read for their content.
class InputChecksums {
public:
    InputChecksums(std::filesystem::path documents, std::vector<std::filesystem::path> references);
    /// Waits for them. Throws InputError if a file cannot be read. Call it once.
    Json get() { return result_.get(); }

private:
    std::promise<Json> promise_;
    std::future<Json> result_ = promise_.get_future();
    std::jthread thread_;  ///< the last member, so that it stops before the others are destroyed
};

// Adds training data to a tokenizer's trainer: documents, or a genome.

/// Adds every sentence of the documents.
void add_documents(tokenizer::TokenizerTrainer& trainer, DocumentReader& documents);

/// Adds the sentences that build_documents cuts in one pass with the paper's lengths, without those that are
/// mostly N.
void add_genome(tokenizer::TokenizerTrainer& trainer, const genome::ReferenceGenome& genome,
                std::uint64_t seed, int threads);

/// {"made_by", "engine", "overlaps", the spec, "sentences", "bases", "measured_bases", "tokens",
/// "bases_per_token"};
/// "tokens" counts the tokens of measured_bases.
Json report_json(const tokenizer::TrainSpec& spec, const tokenizer::TrainReport& report);

}  // namespace bigbird::corpus
