// SPDX-License-Identifier: Apache-2.0
// Converts coordinates between assemblies by UCSC chain files. Format:
// genome.ucsc.edu/goldenPath/help/chain.html; "target" is the assembly of the given coordinates, "query" the
// assembly of the results.
#pragma once

#include "bigbird/genome/reference/interval.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace bigbird::genome {

/// The lifted position.
struct Lifted {
    Interval where;                ///< contig spelled as in the chain file
    Strand strand = Strand::none;  ///< strand of the position; reversed if the chain maps to the other strand
    std::int64_t contig_length = 0;  ///< length of that contig according to the chain file
};

/// Why a base does not lift.
enum class Unmapped : std::uint8_t {
    no_chains,       ///< the file has no chain of its contig
    outside_chains,  ///< no chain spans it
    in_gap,          ///< between the blocks of every chain that spans it: the other assembly lacks it
};
std::string_view to_string(Unmapped reason);

/// The chains of one file. If several contain a base, the one with the best score is used, or the first of
/// equal ones. Contigs are found by aliases too (ContigNames). Const calls are thread-safe.
class ChainMap {
public:
    /// Reads plain, gzip or bgzip. Throws InputError with file and line: malformed header or block line,
    /// blocks that do not add up to the header's size, a file without chains.
    explicit ChainMap(const std::filesystem::path& path);
    ~ChainMap();
    ChainMap(ChainMap&&) noexcept;
    ChainMap& operator=(ChainMap&&) noexcept;

    /// Lifts one base, by its 0-based position. Returns nullopt if no block of a chain contains it.
    std::optional<Lifted> lift(std::string_view contig, std::int64_t position, Strand strand) const;
    /// The reason why a base does not lift.
    Unmapped why_unmapped(std::string_view contig, std::int64_t position) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::genome
