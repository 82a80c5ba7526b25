// SPDX-License-Identifier: Apache-2.0
// Evaluates a promoter scan on real sequence, where nearly everything is negative. Balanced examples cannot
// show how many false calls there are.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace bigbird::evaluation {

struct ScanOptions {
    std::filesystem::path scores;  ///< scores by predict-promoter --tile
    std::filesystem::path tss;     ///< BED of known TSSs on the same reference
    std::int64_t distance =
        500;  ///< maximum distance between a TSS and a correct call, and between rows that are joined
};

/// Rows at or above the threshold within `distance` of each other are one call, on either strand. A call is
/// right where a TSS is within `distance` of it.
struct ScanFigures {
    double threshold = 0;
    std::int64_t scanned_bases = 0;  ///< bases of scored rows, each once
    std::int64_t calls = 0, right_calls = 0;
    std::int64_t tss = 0, found_tss = 0;  ///< TSSs in the scanned bases, and those within distance of a call
    /// Undefined if no base was scanned, nothing was called, or there are no TSSs, respectively.
    std::optional<double> false_calls_a_megabase, precision, recall;
};

/// Throws InputError: no score table, no TSS on its contigs.
ScanFigures evaluate_scan(const ScanOptions& options, double threshold);
Json to_json(const ScanFigures& figures);

}  // namespace bigbird::evaluation
