// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/packed_kernels.hpp"
#include "bigbird/tokenizer/train/storage/packed_lists.hpp"
#include "bigbird/tokenizer/train/storage/shard_team.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::tokenizer {

/// What a sweep met beside the symbols that it made. Counts of separators are among them.
struct PackedNeighbours {
    using Counts = std::array<std::array<std::uint64_t, 256>, most_packed_rules>;
    Counts left{};   ///< [rule][symbol]: how often the symbol stands before the merged one
    Counts right{};  ///< behind it
    std::uint64_t merged = 0;
};

/// A corpus of at most 254 symbols, which stand side by side, a byte each, so that a sweep over all of them
/// costs less than following lists of positions. They are kept in chunks which fit into a core's cache, end
/// with a separator, and are swept by the threads one by one.
class PackedTokens {
public:
    static constexpr std::size_t most_symbols = 254;

    struct Chunk {
        std::size_t begin;      ///< position in the array
        std::size_t size;       ///< symbols, the last separator included
        std::size_t positions;  ///< that are there for them
    };

    /// `letters` must outlive this and holds the symbols from now on, which only this may touch.
    explicit PackedTokens(LetterArray& letters, std::size_t target_chunk = 32'768);

    /// Counts of [left * 5 + right] while nothing is merged.
    std::array<std::uint64_t, 25> count_letter_pairs(ShardTeam& team);
    /// Merges pairs everywhere. The rules must be as merge_pairs() wants them, and their merged symbols
    /// successive numbers.
    PackedNeighbours merge(std::span<const PackedRule> rules, ShardTeam& team);
    /// Merges symbol with symbol, in each run from left to right.
    PackedNeighbours merge_runs(std::uint8_t symbol, std::uint8_t merged, const OddRuns& odd,
                                ShardTeam& team);
    /// How many pairs merge_runs() would merge, which with OverlapCounting::alternate is their count.
    std::uint64_t count_runs(std::uint8_t symbol, const OddRuns& odd, ShardTeam& team);

    /// Lists where wanted pairs of some successive chunks stand, as positions of what unpack() makes of these
    /// chunks.
    void list_pairs(std::span<const Chunk> chunks, PackedLists& lists) const;
    /// The symbols, 16 bits each, in the letters' own memory where they fit into it, as they do once two
    /// bases a symbol are merged; fresh memory takes longer to come by than all else here. `letters` are
    /// those of the constructor; nothing but chunks() may be called afterwards.
    TokenArray unpack(LetterArray&& letters) &&;

    const std::vector<Chunk>& chunks() const { return chunks_; }
    const std::uint8_t* data(const Chunk& chunk) const { return symbols_ + chunk.begin; }
    std::size_t size() const;  ///< symbols, separators included, but for the first one

private:
    struct Scratch {
        std::vector<std::uint32_t> positions;
        PackedNeighbours neighbours;
    };
    template <typename Visit>
    void for_each_chunk(ShardTeam& team, Visit&& visit) const;
    template <typename Sweep>
    PackedNeighbours sweep(ShardTeam& team, Sweep&& one_chunk);
    void note_merged(Chunk& chunk, std::size_t count, std::uint8_t first_merged, Scratch& scratch) const;

    std::uint8_t* symbols_;
    std::vector<Chunk> chunks_;
    std::size_t largest_ = 0;
};

}  // namespace bigbird::tokenizer
