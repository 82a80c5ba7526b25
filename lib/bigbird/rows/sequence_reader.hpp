// SPDX-License-Identifier: Apache-2.0
// Reads sequences with or without further columns: FASTA, CSV (RFC 4180, without line breaks in fields) or
// TSV, detected by content; plain, gzip or bgzip, or standard input ("-").
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::rows {

/// The columns of a table that are read, by name or, from 1, by number. A table has a header if its first
/// line names one of them by a word, or if the column of sequences, given by number, holds no letters of DNA
/// in it. Without a header "sequence" is the first column that holds only A C G T U N, and "label" the column
/// beside it where there are two.
struct SequenceColumns {
    std::string sequence = "sequence";  ///< "": none, and ids are required
    std::string id = "id";              ///< optional; "": none
    std::vector<std::string> values{};  ///< required
    std::optional<bool> header{};       ///< whether the first line is a header; nullopt: as above
};

/// The values of --header.
inline constexpr Choices<std::optional<bool>, 3> header_choices{
    {{std::nullopt, "auto"}, {true, "yes"}, {false, "no"}}};

struct SequenceRecord {
    /// FASTA: the header up to its first blank. Without an id: the record's number, from 1.
    std::string id{};
    std::string sequence{};  ///< as read, without line ends and blanks at its ends
    std::vector<std::string> values{};
    std::int64_t line = 0;  ///< its first line, from 1
};

/// Not thread-safe.
class SequenceReader {
public:
    /// Throws InputError: missing or empty file, or a missing column (lists the existing ones).
    SequenceReader(std::filesystem::path path, SequenceColumns columns);

    bool is_fasta() const { return fasta_; }
    /// Logs whether a table's first line is taken as a header, where no name decides it.
    void tell_header() const;
    /// The next record, or nothing at the end. Throws InputError with file and line: a different number of
    /// columns than in the first line, an unclosed quote, an empty or missing sequence, blanks between
    /// letters.
    std::optional<SequenceRecord> next();
    const std::filesystem::path& path() const { return input_.path(); }

private:
    InputError fault(const std::string& what, std::int64_t line = 0) const;
    void read_first_line();
    void split();
    bool names(const std::string& column) const;
    std::optional<std::size_t> position_of(const std::string& column) const;
    bool begins_with_header() const;
    void append_letters(std::string& sequence, std::string_view text) const;
    InputError missing(const std::string& column) const;
    std::optional<SequenceRecord> next_of_fasta();
    std::optional<SequenceRecord> next_of_table();

    genome::TextInput input_;
    SequenceColumns columns_;
    std::string line_;
    std::vector<std::string_view> fields_;  ///< of line_
    bool fasta_ = false, tabs_ = false;
    bool header_ = false,
         named_ = false;    ///< whether the first line names columns, and one of them by a word
    bool waiting_ = false;  ///< line_ was read and belongs to the next record
    std::int64_t records_ = 0;
    std::size_t sequence_at_ = 0, id_at_ = 0, count_ = 0;
    std::vector<std::size_t> values_at_;
};

/// Counts of sequence letters by meaning.
struct LetterCounts {
    /// U counts as T; X and gaps (- . *) as N; `ambiguous` are other IUPAC codes, which are read as N, as are
    /// the other letters.
    static constexpr std::array<const char*, 7> names{"A", "C", "G", "T", "N", "ambiguous", "other"};
    std::array<std::int64_t, names.size()> counts{};
    char first_other = 0;
    std::int64_t other_line = 0;  ///< line of the record with the first one

    std::int64_t total() const;
    std::int64_t others() const { return counts.back(); }
    void add(const LetterCounts& other);
    /// "12 letters stand for no nucleotide and are read as N, first 'E' in line 3"; empty if there are none.
    /// If more than one in 20: "... : are these proteins?"
    std::string complaint() const;
    /// Whether too many letters are not DNA or RNA.
    bool is_protein() const { return 20 * others() > total(); }
};

/// Normalizes a record's sequence and counts its letters. Throws InputError for a character that is neither a
/// letter nor a gap.
void normalise(SequenceRecord& record, LetterCounts& counts, const std::filesystem::path& path);

}  // namespace bigbird::rows
