// SPDX-License-Identifier: Apache-2.0
// BED3 to BED12 and narrowPeak (BED6+4). Format: UCSC / hts-specs BEDv1; tabs required; comments, track,
// browser and blank lines skipped.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/text/text_input.hpp"

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
    std::optional<BedRecord> next();
    /// The row last read, or refused, as in the file.
    const std::string& text() const { return line_; }
    std::int64_t line_number() const { return input_.line_number(); }
    const std::filesystem::path& path() const { return input_.path(); }

private:
    TextInput input_;
    std::string line_;
    bool warned_ = false;
};

std::vector<BedRecord> read_bed(const std::filesystem::path& path);

}  // namespace bigbird::genome
