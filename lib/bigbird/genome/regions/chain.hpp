// SPDX-License-Identifier: Apache-2.0
// Converts coordinates between assemblies by UCSC chain files. Format:
// genome.ucsc.edu/goldenPath/help/chain.html; "target" is the assembly of the given coordinates, "query" the
// assembly of the results.
#pragma once

#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/reference/interval.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::genome {

/// The lifted position.
struct Lifted {
    Interval where;                ///< contig spelled as in the chain file
    Strand strand = Strand::none;  ///< strand of the position; reversed if the chain maps to the other strand
    std::int64_t contig_length = 0;  ///< length of that contig according to the chain file
};

/// The chains of one file. If several contain a base, the one with the best score is used, or the first of
/// equal ones. Contigs are found by aliases too (ContigNames). Const calls are thread-safe.
class ChainMap {
public:
    /// Reads plain, gzip or bgzip. Throws InputError with file and line: malformed header or block line,
    /// blocks that do not add up to the header's size, a file without chains.
    explicit ChainMap(const std::filesystem::path& path);

    /// Lifts one base, by its 0-based position. Returns nullopt if no block of a chain contains it.
    std::optional<Lifted> lift(std::string_view contig, std::int64_t position, Strand strand) const;
    /// Why a base does not lift: "no_chains" of its contig, "outside_chains", which do not span it, or
    /// "in_gap" between the blocks of every chain that spans it, because the other assembly lacks it.
    std::string_view why_unmapped(std::string_view contig, std::int64_t position) const;

    /// A stretch without gaps: target [target, target + size) is query [query, query + size), both on the
    /// chain's own strands.
    struct Block {
        std::int64_t target = 0, query = 0, size = 0;
    };
    struct Chain {
        std::string target, query;
        std::int64_t score = 0;
        std::int64_t target_size = 0, target_begin = 0, target_end = 0;
        std::int64_t query_size = 0, query_begin = 0, query_end = 0;
        bool reverse = false;  ///< query positions count from the other end of its contig
        std::vector<Block> blocks;
    };

private:
    const std::vector<Chain>& of(std::string_view contig) const;

    std::vector<std::vector<Chain>> chains_;  ///< chains of each target contig, best score first
    ContigNames names_;
};

}  // namespace bigbird::genome
