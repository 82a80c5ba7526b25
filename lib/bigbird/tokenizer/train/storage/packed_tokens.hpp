// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/position_list.hpp"
#include "bigbird/tokenizer/train/storage/thread_team.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::tokenizer {

// Vectorized merging of adjacent symbols of one byte each.

/// For each symbol, whether a following run of the merged symbol has lost an odd number of occurrences on its
/// left. If so, the run's first pair does not count. Always false except for OverlapCounting::alternate.
using OddRuns = std::array<bool, 256>;

/// The lists that receive the positions of pairs of packed tokens.
class PackedLists {
public:
    explicit PackedLists(std::size_t symbols) : lists_(symbols * width), runs_(symbols) {}

    void set(Symbol left, Symbol right, PositionList* list) { lists_[left * width + right] = list; }
    /// Keeps only every other pair in runs of `symbol`, for OverlapCounting::alternate.
    void thin(Symbol symbol, const OddRuns& odd) { runs_[symbol] = {true, odd, 0, false}; }

    /// Null if the pair's positions are not requested.
    PositionList* at(std::uint8_t left, std::uint8_t right) const { return lists_[left * width + right]; }
    /// Whether the pair of `symbol` with itself at `position` is kept. Call it once per pair, in order.
    bool keep(std::uint8_t symbol, std::uint8_t before, std::uint64_t position) {
        Run& run = runs_[symbol];
        if (!run.thin) return true;
        run.kept = position == run.next ? !run.kept : !run.odd[before];
        run.next = position + 1;
        return run.kept;
    }

private:
    struct Run {
        bool thin = false;
        OddRuns odd{};
        std::uint64_t next = 0;  // position of the run's next pair
        bool kept = false;       // the run's last pair
    };
    static constexpr std::size_t width = 256;
    std::vector<PositionList*> lists_;
    std::vector<Run> runs_;
};

/// left + right -> merged.
struct PackedRule {
    std::uint8_t left, right, merged;
};

inline constexpr std::size_t most_packed_rules = 8;  ///< in one call

/// Merges all adjacent pairs of symbols that match a rule, closes the gaps, and lists the merged symbols' new
/// positions. Returns the number of merges, by which the number of symbols decreases. No symbol may be on the
/// left of one rule and on the right of another or the same, so no two pairs share a symbol. The last symbol
/// must not be in a rule. `positions` must have room for list_beyond more.
std::size_t merge_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                        std::uint32_t* positions);
inline constexpr std::size_t list_beyond = 4;

/// Merges `symbol` with `symbol` in each run, beginning at its first one. Begins at its second where `odd`
/// holds for the symbol before the run. Otherwise like merge_pairs(). The last symbol must differ from
/// `symbol`. Reads symbols[-1].
std::size_t merge_runs(std::uint8_t* symbols, std::size_t size, std::uint8_t symbol, std::uint8_t merged,
                       const OddRuns& odd, std::uint32_t* positions);

/// The number of pairs that merge_runs() would merge.
std::size_t count_runs(const std::uint8_t* symbols, std::size_t size, std::uint8_t symbol,
                       const OddRuns& odd);

/// Adds the count of letter `left` before letter `right` to counts[left * 5 + right], before any merge. The
/// last symbol must not be a letter.
void count_letter_pairs(const std::uint8_t* letters, std::size_t size, std::span<std::uint64_t, 25> counts);

/// Counts of the neighbors of the symbols that a sweep created, including separators.
struct PackedNeighbours {
    using Counts = std::array<std::array<std::uint64_t, 256>, most_packed_rules>;
    Counts left{};   ///< [rule][symbol]: count of the symbol before the merged one
    Counts right{};  ///< likewise, the symbol after it
    std::uint64_t merged = 0;
};

/// A corpus of at most 254 symbols, stored as adjacent bytes. A sweep over all of them costs less than
/// following lists of positions. Chunks fit into a core's cache and end with a separator. Threads process one
/// chunk at a time.
class PackedTokens {
public:
    struct Chunk {
        std::size_t begin;      ///< position in the array
        std::size_t size;       ///< symbols, the last separator included
        std::size_t positions;  ///< reserved for them
    };

    /// `letters` must outlive this object. It holds the symbols, and nothing else may access it.
    explicit PackedTokens(LetterArray& letters, std::size_t target_chunk = 32'768);

    /// Counts [left * 5 + right] before any merge.
    std::array<std::uint64_t, 25> count_letter_pairs(ThreadTeam& team);
    /// Merges pairs everywhere. The rules must satisfy merge_pairs(), and their merged symbols must be
    /// consecutive numbers.
    PackedNeighbours merge(std::span<const PackedRule> rules, ThreadTeam& team);
    /// Merges symbol with symbol, in each run from left to right.
    PackedNeighbours merge_runs(std::uint8_t symbol, std::uint8_t merged, const OddRuns& odd,
                                ThreadTeam& team);
    /// The number of pairs that merge_runs() would merge. With OverlapCounting::alternate, this is the pair's
    /// count.
    std::uint64_t count_runs(std::uint8_t symbol, const OddRuns& odd, ThreadTeam& team);

    /// Lists the requested pairs of some consecutive chunks, as positions in unpack()'s result.
    void list_pairs(std::span<const Chunk> chunks, PackedLists& lists) const;
    /// Returns the symbols, 16 bits each. They stay in the memory of the letters if they fit, as they do from
    /// two bases per symbol on; new memory would take longer than all other steps. `letters`: the
    /// constructor's. Only chunks() may be called afterwards.
    TokenArray unpack(LetterArray&& letters) &&;

    const std::vector<Chunk>& chunks() const { return chunks_; }
    const std::uint8_t* data(const Chunk& chunk) const { return symbols_ + chunk.begin; }
    std::size_t size() const;  ///< number of symbols, including separators except the first

private:
    struct Scratch {
        std::vector<std::uint32_t> positions;
        PackedNeighbours neighbours;
    };
    template <typename Sweep>
    PackedNeighbours sweep(ThreadTeam& team, Sweep&& one_chunk);
    void note_merged(Chunk& chunk, std::size_t count, std::uint8_t first_merged, Scratch& scratch) const;

    std::uint8_t* symbols_;
    std::vector<Chunk> chunks_;
    std::size_t largest_ = 0;
};

}  // namespace bigbird::tokenizer
