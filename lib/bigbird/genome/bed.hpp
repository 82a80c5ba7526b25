// SPDX-License-Identifier: Apache-2.0
// BED3 to BED12 and narrowPeak (BED6+4). Format: UCSC / hts-specs BEDv1; tabs required; comments, track, browser and blank lines skipped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bigbird/genome/interval.hpp"
#include "bigbird/genome/text_input.hpp"

namespace bigbird::genome {

struct BedRecord {
    Interval where;                       ///< contig spelt as in the file
    std::string name = ".", score = ".";  ///< columns 4 and 5 as they stand, "." if absent
    Strand strand = Strand::none;         ///< column 6
    std::optional<std::int64_t> summit;   ///< narrowPeak's column 10 (0-based offset from begin), where there are exactly 10 columns and it is >= 0
    std::int64_t line = 0;                ///< line number in the file, from 1
};

/// Reads records one by one, each file once, so that pipes work. Throws InputError with file and line: too few columns, blanks instead of tabs,
/// coordinates that are no numbers, start below 0, start > end, a strand that is none of + - .
class BedReader {
public:
    explicit BedReader(std::filesystem::path path);
    std::optional<BedRecord> next();
    const std::filesystem::path& path() const { return input_.path(); }

private:
    TextInput input_;
    std::string line_;
};

std::vector<BedRecord> read_bed(const std::filesystem::path& path);

}  // namespace bigbird::genome
