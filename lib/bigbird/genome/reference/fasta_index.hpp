// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/text/random_bytes.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::genome::detail {

/// A contig's position in the text of a FASTA file, as in a .fai (samtools faidx).
struct FastaEntry {
    std::string name;             ///< the header's text up to its first blank
    std::int64_t length = 0;      ///< bases
    std::int64_t offset = 0;      ///< offset of the first base
    std::int64_t end = 0;         ///< offset after the contig: of the next header, or the text's end
    std::int64_t line_bases = 0;  ///< bases of each line except the last
    std::int64_t line_bytes = 0;  ///< bytes of a line with its line end
    std::int64_t line = 0;        ///< line of the header in the file, from 1; 0: unknown
    bool even = true;             ///< lines are as long as stated, so that positions can be computed
};

/// Finds the contigs of a FASTA file in one pass over its text, which is passed in chunks of any size.
class FastaScanner {
public:
    /// With `keep` the bases are kept too, for files that can be read only once.
    explicit FastaScanner(std::filesystem::path path, bool keep = false);

    /// Throws InputError with the line: no header at the start, a header without a name, a byte that is not
    /// text, blanks between letters.
    void feed(std::string_view text);
    /// Ends the pass.
    std::vector<FastaEntry> finish();
    /// After finish(): the bases of each contig as in the file, if they were kept.
    std::vector<std::string> take_bases() { return std::move(bases_); }

private:
    std::size_t take_regular_lines(std::string_view text);
    void take(std::string_view piece);
    void take_sequence(std::string_view piece);
    void end_line(std::int64_t newline_bytes);
    void end_header();
    void end_sequence_line(std::int64_t bases, std::int64_t bytes);
    [[noreturn]] void refuse(const std::string& what) const;

    std::filesystem::path path_;
    bool keep_;
    std::vector<FastaEntry> entries_;
    std::vector<std::string> bases_;  ///< a contig each
    std::int64_t position_ = 0;       ///< offset of the next byte in the text
    std::int64_t line_ = 1;           ///< number of the current line
    std::int64_t line_begin_ = 0;     ///< its position
    std::string header_;              ///< its text, if it is a header
    bool in_header_ = false;
    bool carriage_return_ = false;  ///< whether the line's last byte so far is one
    bool lettered_ = false;         ///< whether the line has letters so far
    bool gap_ = false;              ///< whether it has blanks behind them
    bool closed_ = false;           ///< a shorter line ended the contig's regular part
};

/// The contigs of a .fai, checked against the text: each must be where the index says. Throws InputError
/// naming the index if it does not match the text, or if one of its lines is malformed.
std::vector<FastaEntry> read_fai(const std::filesystem::path& index, const RandomBytes& text);

}  // namespace bigbird::genome::detail
