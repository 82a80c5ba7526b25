// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::corpus {

struct Document {
    std::vector<std::string> sentences;  ///< normalized sequence, in upper case unless case is kept
};

/// Reads documents in the formats of build-documents. "-" is standard input; gzip and bgzip are recognized by
/// content. The first line shows the form:
/// - text: one sentence per line, one or more blank lines between documents; only letters, normalized on
///   reading.
/// - coordinates: BED6: contig, start, end, document, sentence, strand. Consecutive rows with the same
///   document make a document; "-" is read from the other strand; lines that begin with # are skipped.
/// Not thread-safe.
class DocumentReader {
public:
    /// Coordinates need `genome`, which must outlive the reader and has the case of its letters; text has
    /// `letter_case`. Throws InputError: no such file.
    explicit DocumentReader(const std::filesystem::path& path,
                            const genome::ReferenceGenome* genome = nullptr,
                            genome::LetterCase letter_case = genome::LetterCase::upper);
    ~DocumentReader();
    /// Returns nullopt at the end; never returns a document without a sentence. Throws InputError with file
    /// and line: text in neither form, coordinates without a genome, a contig that the genome lacks, an
    /// interval past its end. In text, returns at most `most_sentences` of a document at once; the next call
    /// continues it.
    std::optional<Document> next(std::size_t most_sentences = std::numeric_limits<std::size_t>::max());
    /// Bytes of the file read so far, and in total (0: unknown), for progress. Thread-safe.
    std::int64_t bytes_read() const;
    std::int64_t total_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::corpus
