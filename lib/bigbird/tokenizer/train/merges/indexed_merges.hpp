// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/merges/learnt_symbols.hpp"
#include "bigbird/tokenizer/train/merges/merge_slice.hpp"
#include "bigbird/tokenizer/train/merges/pair_table.hpp"
#include "bigbird/tokenizer/train/merges/sweep_merges.hpp"
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"
#include "bigbird/tokenizer/train/storage/thread_team.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::tokenizer {

/// Makes the merges after the first ones. Each goes through a list of positions where its pair may occur.
class IndexedMerges {
public:
    /// Continues where `first` ended, with its tokens, symbols and team, which must outlive this object.
    /// Takes over the corpus: `tokens` must not be used afterwards.
    IndexedMerges(const SweepMerges& first, PackedTokens& tokens, LetterArray&& corpus,
                  LearntSymbols& symbols, const LearnSpec& spec, ThreadTeam& team);

    /// Merges until spec.merges are made, no pair is left, or spec.only_certain ends it. Calls `advance`
    /// after each merge.
    void run(const std::function<void()>& advance);

    /// The corpus after the merges so far.
    const TokenArray& positions() const { return positions_; }
    /// Whether SentencePiece, which considers only frequent pairs, makes the same merges.
    bool certain() const { return certain_; }

private:
    struct NewPair {
        std::uint32_t number;
        Symbol symbol;  // the neighbor of the merged one
    };
    struct LostPair {
        Symbol left, right;
        std::uint64_t count;
    };
    struct LostCount {
        std::uint32_t number;
        std::uint64_t count;
    };
    using Chunks = std::span<const PackedTokens::Chunk>;

    void take_over(const SweepMerges& first, const PackedTokens& tokens, const std::vector<Chunks>& parts);
    void cut(const std::vector<Chunks>& parts);
    std::optional<std::uint32_t> choose();
    void refresh_active(double certainty);
    void recount(std::uint32_t number);
    void take_census();
    void list_positions(const std::vector<std::uint32_t>& fresh, std::size_t slice);
    void merge(std::uint32_t number);
    void add_up_neighbours();
    void settle_left(const MergeRule& rule);
    void settle_right(const MergeRule& rule);
    void list_new_pairs(const MergeRule& rule);
    void decrease(const std::vector<LostPair>& lost);
    std::optional<std::uint32_t> keep(Symbol left, Symbol right, std::uint64_t count);
    void share(const std::function<void(std::size_t)>& job) {
        on_one_thread_ ? team_.run_alone(job) : team_.run(job);
    }
    bool droppable(Symbol left, Symbol right) const {
        return left != right || spec_.counting == OverlapCounting::every;
    }

    const LearnSpec spec_;
    LearntSymbols& symbols_;
    ThreadTeam& team_;
    TokenArray positions_;
    std::vector<MergeSlice> slices_;
    PairTable table_;
    std::uint64_t threshold_;  // rarer pairs are not kept

    // Bounds of the pairs that SentencePiece considers: a lower bound of the pairs that it knows, an upper
    // bound of the frequent pairs not kept here, and the count above which it has considered every pair since
    // the last refresh.
    std::size_t cached_, passed_over_ = 0;
    std::uint64_t active_above_ = 0, made_since_ = 0;
    bool certain_;

    std::vector<PositionList> merged_;     // by slice: the positions of the current pair
    std::vector<NeighbourCounts> counts_;  // by slice
    NeighbourCounts total_;
    std::vector<LostPair> lost_;
    std::vector<LostCount> numbers_;
    std::vector<NewPair> new_left_, new_right_;
    std::optional<std::uint32_t> new_merged_;
    bool on_one_thread_ = false;       // this round is too short to share
    std::vector<NewLists> new_lists_;  // by slice
};

}  // namespace bigbird::tokenizer
