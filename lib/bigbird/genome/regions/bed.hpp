// SPDX-License-Identifier: Apache-2.0
// BED3 to BED12 and narrowPeak (BED6+4). Format: UCSC / hts-specs BEDv1; tabs required; comments, track,
// browser and blank lines skipped.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::genome {

/// Whether a line of BED or bedGraph has no data: blank, a comment, or a line for browsers, whose first word
/// is `track` or `browser`. A contig may have these names, too: its row goes on with a number.
bool is_no_row(std::string_view line);

struct BedRecord {
    Interval where;                       ///< contig spelled as in the file
    std::string name = ".", score = ".";  ///< columns 4 and 5 as in the file, "." if absent
    Strand strand = Strand::none;  ///< column 6; Strand::none, with one warning, for other text than + - .
    std::optional<std::int64_t> summit;  ///< narrowPeak's column 10, a 0-based offset from begin, where there
                                         ///< are exactly 10 columns and it is in the interval
    std::int64_t line = 0;               ///< line number in the file, from 1
};

/// Reads records one by one, in a single pass, so that pipes work. Throws InputError with file and line: too
/// few columns, blanks instead of tabs, coordinates that are not numbers, start below 0, start > end. After
/// such an error next() can be called again and reads the next line. Another InputError (truncated file) ends
/// the reading. Not thread-safe.
class BedReader {
public:
    explicit BedReader(std::filesystem::path path);
    /// Reads a file as above. If no file has this name, the rows are the contigs and regions that `path`
    /// names (region_on), separated by blanks: "22 21:5,000,001-6,000,000"; line_number() then counts them.
    /// Throws ConfigError naming `option` if it names neither.
    BedReader(std::filesystem::path path, const ReferenceGenome& reference,
              const std::string& option = "--regions");
    std::optional<BedRecord> next();
    /// The row last read, or refused, as in the file.
    const std::string& text() const { return line_; }
    std::int64_t line_number() const {
        return input_ ? input_->line_number() : static_cast<std::int64_t>(next_region_);
    }
    const std::filesystem::path& path() const { return path_; }
    /// Whether another reader gets the same rows: not from a pipe.
    bool can_be_read_again() const;

private:
    std::filesystem::path path_;
    std::optional<TextInput> input_;  ///< nothing: regions
    std::vector<BedRecord> regions_;
    std::size_t next_region_ = 0;
    std::string line_;
    bool warned_ = false;
};

/// Reads one row. Throws InputError, as BedReader; a strand that is none is Strand::none.
BedRecord parse_bed_row(std::string_view line, const std::filesystem::path& path, std::int64_t number);

std::vector<BedRecord> read_bed(const std::filesystem::path& path);

}  // namespace bigbird::genome
