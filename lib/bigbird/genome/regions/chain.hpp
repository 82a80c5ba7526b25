// SPDX-License-Identifier: Apache-2.0
// Coordinates of one assembly on another by UCSC chain files. Format:
// genome.ucsc.edu/goldenPath/help/chain.html; "target" is the assembly that coordinates come from, "query"
// the one that they go to.
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

/// The chains of one file. Where several hold a base, the one with the best score counts, the first in the
/// file among equals. Contigs are found by aliases too (ContigNames). Const calls are thread-safe.
class ChainMap {
public:
    /// Reads plain, gzip or bgzip. Throws InputError with file and line: malformed header or block line,
    /// blocks that do not add up to the header's size, a file without chains.
    explicit ChainMap(const std::filesystem::path& path);
    ~ChainMap();
    ChainMap(ChainMap&&) noexcept;
    ChainMap& operator=(ChainMap&&) noexcept;

    /// One base, by its 0-based position. Nothing where no chain has it in a block.
    std::optional<Lifted> lift(std::string_view contig, std::int64_t position, Strand strand) const;
    /// Why a base that does not lift does not.
    Unmapped why_unmapped(std::string_view contig, std::int64_t position) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::genome
