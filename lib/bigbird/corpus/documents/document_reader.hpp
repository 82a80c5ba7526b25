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
    std::vector<std::string> sentences;  ///< normalised sequence
};

/// Reads documents that build-documents wrote, or that users made likewise; which form it is shows in the
/// first line
/// ("-" is standard input, gzip and bgzip are told by content):
///   text         one sentence a line, one or more blank lines between documents; letters alone, normalised
///   on reading coordinates  BED6: contig, start, end, document, sentence, strand; rows with the same
///   document that follow one
///                another make a document, "-" is read from the other strand; lines that begin with # are
///                skipped
/// Not thread-safe.
class DocumentReader {
public:
    /// Coordinates need `genome`, which must outlive the reader. Throws InputError: no such file.
    explicit DocumentReader(const std::filesystem::path& path,
                            const genome::ReferenceGenome* genome = nullptr);
    ~DocumentReader();
    /// Nothing at the end; never a document without a sentence. Throws InputError with file and line: what is
    /// neither form, coordinates without a genome, a contig that it lacks, an interval past its end.
    /// Of text, at most so many sentences of a document come at once; the next call goes on with it.
    std::optional<Document> next(std::size_t most_sentences = std::numeric_limits<std::size_t>::max());
    /// Bytes of the file taken so far, and in all (0: not known), for progress. Any thread may ask.
    std::int64_t bytes_read() const;
    std::int64_t total_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::corpus
