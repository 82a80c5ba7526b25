// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/position_list.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird::tokenizer {

/// For each symbol, whether a run of the symbol in question that follows it has lost an odd number of
/// occurrences on its left, so that its first pair does not count. Always
/// false but for OverlapCounting::alternate.
using OddRuns = std::array<bool, 256>;

/// Where the positions of pairs of packed tokens shall go.
class PackedLists {
public:
    explicit PackedLists(std::size_t symbols) : lists_(symbols * width), runs_(symbols) {}

    void set(Symbol left, Symbol right, PositionList* list) { lists_[left * width + right] = list; }
    /// Of runs of `symbol` keeps every other pair alone, as OverlapCounting::alternate demands.
    void thin(Symbol symbol, const OddRuns& odd) { runs_[symbol] = {true, odd, 0, false}; }

    /// Null where the pair's positions are not wanted.
    PositionList* at(std::uint8_t left, std::uint8_t right) const { return lists_[left * width + right]; }
    /// Whether the pair of `symbol` with itself at `position` is kept; asked for each one, in order.
    bool keep(std::uint8_t symbol, std::uint8_t before, std::uint64_t position) {
        Run& run = runs_[symbol];
        if (!run.thin) {
            return true;
        }
        run.kept = position == run.next ? !run.kept : !run.odd[before];
        run.next = position + 1;
        return run.kept;
    }

private:
    struct Run {
        bool thin = false;
        OddRuns odd{};
        std::uint64_t next = 0;  // where the run's next pair would stand
        bool kept = false;       // the run's last pair
    };
    static constexpr std::size_t width = 256;
    std::vector<PositionList*> lists_;
    std::vector<Run> runs_;
};

}  // namespace bigbird::tokenizer
