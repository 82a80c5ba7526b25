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
    std::vector<std::string> sentences;  ///< normalized sequence
};

/// Reads documents that build-documents wrote, or that users made likewise. "-" is standard input; gzip and
/// bgzip are recognized by content. The first line shows the form:
/// - text: one sentence per line, one or more blank lines between documents; only letters, normalized on
///   reading.
/// - coordinates: BED6: contig, start, end, document, sentence, strand. Consecutive rows with the same
///   document make a document; "-" is read from the other strand; lines that begin with # are skipped.
/// Not thread-safe.
class DocumentReader {
public:
    /// Coordinates need `genome`, which must outlive the reader. Throws InputError: no such file.
    explicit DocumentReader(const std::filesystem::path& path,
                            const genome::ReferenceGenome* genome = nullptr);
    ~DocumentReader();
    /// Nothing at the end; never a document without a sentence. Throws InputError with file and line: what is
    /// neither form, coordinates without a genome, a contig that it lacks, an interval past its end.
    /// In text, returns at most `most_sentences` of a document at once; the next call continues it.
    std::optional<Document> next(std::size_t most_sentences = std::numeric_limits<std::size_t>::max());
    /// Bytes of the file taken so far, and in all (0: not known), for progress. Any thread may ask.
    std::int64_t bytes_read() const;
    std::int64_t total_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::corpus
