// SPDX-License-Identifier: Apache-2.0
// Tokenizes documents to token shards.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/tokenizer/train/train.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <vector>

namespace bigbird::corpus {

// Turns documents into token ids, in the documents' order.

/// The ids of a sentence. If case was kept, a token of which at least half of the letters are lower case, so
/// soft-masked, is marked: its id is vocab_size() higher.
std::vector<std::int32_t> encode_marked(const tokenizer::DnaTokenizer& tokenizer,
                                        const std::string& sentence);

/// Encodes each sentence separately on up to `threads` threads and passes it to the sink in order, on the
/// calling thread. The result does not depend on the number of threads. Holds a few megabases per thread.
/// Throws what the functions throw, and Stopped.
void tokenize(const std::function<std::optional<Document>()>& next_document,
              const tokenizer::DnaTokenizer& tokenizer, int threads, const TokenSink& sink);

/// Tokenizes the documents that build_documents() would write, in the same way, without an intermediate file.
void tokenize_genome(const genome::ReferenceGenome& genome, const BuildSpec& spec,
                     const tokenizer::DnaTokenizer& tokenizer, int threads, const TokenSink& sink);

/// Passes the documents to `writer`. `progress` is called after each, on the calling thread. Document d is a
/// segment and belongs to part d % N + 1 of N. Returns the segments of `shard`, or none without it. Throws
/// what the reader and the writer throw, and Stopped.
std::vector<PartSegment> tokenize_documents(DocumentReader& documents,
                                            const tokenizer::DnaTokenizer& tokenizer, int threads,
                                            TokenShardWriter& writer,
                                            const std::function<void(const TokenCounts&)>& progress,
                                            const std::optional<Shard>& shard = {});

/// The manifest's `inputs`: role and SHA-256 of the documents (null for a pipe) and of each FASTA file. They
/// are computed in a separate thread while the files are read for their content.
class InputChecksums {
public:
    InputChecksums(std::filesystem::path documents, std::vector<std::filesystem::path> references);
    ~InputChecksums() { stop_.request_stop(); }
    InputChecksums(const InputChecksums&) = delete;
    InputChecksums& operator=(const InputChecksums&) = delete;
    /// Waits for them. Throws InputError if a file cannot be read. Call it once.
    Json get() { return result_.get(); }

private:
    std::stop_source stop_;
    std::future<Json> result_;  ///< its destructor waits for the thread
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
