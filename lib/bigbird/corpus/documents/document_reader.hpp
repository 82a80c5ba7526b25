// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::corpus {

struct Document {
    std::vector<std::string> sentences;  ///< normalized sequence, in upper case unless case is kept
};

enum class Fasta : std::uint8_t { refuse, take };

/// Reads documents in the formats of build-documents. "-" is standard input; gzip and bgzip are recognized by
/// content. The first line shows the form:
/// - text: one sentence per line, one or more blank lines between documents; only letters, normalized on
///   reading.
/// - FASTA, where it is taken: each record is a document, longer ones several of a megabase; sentences are
/// what
///   is between runs of N.
/// - coordinates: BED6: contig, start, end, document, sentence, strand. Consecutive rows with the same
///   document make a document; "-" is read from the other strand; lines that begin with # are skipped.
/// Not thread-safe.
class DocumentReader {
public:
    /// Coordinates need `genome`, which must outlive the reader and has the case of its letters; text has
    /// `letter_case`. Throws InputError: no such file.
    explicit DocumentReader(const std::filesystem::path& path,
                            const genome::ReferenceGenome* genome = nullptr,
                            genome::LetterCase letter_case = genome::LetterCase::upper,
                            Fasta fasta = Fasta::refuse);
    /// Returns nullopt at the end; never returns a document without a sentence. Throws InputError with file
    /// and line: text in neither form, coordinates without a genome, a contig that the genome lacks, an
    /// interval past its end. In text, returns at most `most_sentences` of a document at once; the next call
    /// continues it.
    std::optional<Document> next(std::size_t most_sentences = std::numeric_limits<std::size_t>::max());
    /// Bytes of the file read so far, and in total (0: unknown), for progress. Thread-safe.
    std::int64_t bytes_read() const { return input_.bytes_read(); }
    std::int64_t total_bytes() const { return input_.total_bytes(); }

private:
    enum class Form { unknown, text, fasta, coordinates };
    struct Row {
        genome::Interval where;
        std::int64_t document = 0, sentence = 0;
        bool reverse = false;
    };
    [[noreturn]] void fail(const std::string& what) const;
    bool next_line();
    std::optional<Document> next_text(std::string first, std::size_t most_sentences);
    std::optional<Document> next_record();
    Row parse_row() const;
    Document fetch(const std::vector<Row>& rows) const;
    std::optional<Document> next_coordinates();

    genome::TextInput input_;
    const genome::ReferenceGenome* genome_;
    genome::LetterCase letter_case_;
    Fasta fasta_;
    Form form_ = Form::unknown;
    std::string line_;
    std::optional<Row> ahead_;  // the first row of the next document
};

}  // namespace bigbird::corpus
