// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/indexed_merges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::uint64_t places_worth_sharing = 256;

// A frequency slightly below that of the last piece. On human, yeast and synthetic sequence, the n-th piece
// occurs 0.16 n^-1.225 times per base, within a third. If the estimate is too high, a census finds the
// missing pairs.
std::uint64_t first_threshold(std::size_t bases, std::int64_t merges) {
    const double last = 0.16 * static_cast<double>(bases) *
                        std::pow(static_cast<double>(std::max<std::int64_t>(merges, 1)), -1.225);
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(0.7 * last), 1);
}

// Divides chunks into parts with about the same number of positions.
std::vector<std::span<const PackedTokens::Chunk>> share_out(std::span<const PackedTokens::Chunk> chunks,
                                                            std::size_t count) {
    std::vector<std::span<const PackedTokens::Chunk>> parts;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = chunks.size() * i / count, end = chunks.size() * (i + 1) / count;
        parts.push_back(chunks.subspan(begin, end - begin));
    }
    return parts;
}

std::size_t symbols_in(std::span<const PackedTokens::Chunk> chunks) {
    std::size_t size = 0;
    for (const PackedTokens::Chunk& chunk : chunks)
        size += chunk.size;
    return size;
}

}  // namespace

IndexedMerges::IndexedMerges(const SweepMerges& first, PackedTokens& tokens, LetterArray&& corpus,
                             LearntSymbols& symbols, const LearnSpec& spec, ThreadTeam& team)
    : spec_(spec),
      symbols_(symbols),
      team_(team),
      table_(symbols.texts, team.size()),
      threshold_(first_threshold(corpus.size(), spec.merges)),
      cached_(first.pairs_met()),
      certain_(first.certain()),
      total_(TokenArray::letters + static_cast<std::size_t>(spec.merges)) {
    counts_.assign(team_.size(), total_);
    for (std::size_t i = 0; i < team_.size(); ++i)
        merged_.emplace_back(table_.memory(i));
    new_lists_.assign(team_.size(), NewLists(total_.left.of.size()));
    const std::vector<Chunks> parts = share_out(tokens.chunks(), team_.size());
    take_over(first, tokens, parts);
    positions_ = std::move(tokens).unpack(std::move(corpus));
    symbols_.narrow();
    cut(parts);
}

void IndexedMerges::cut(const std::vector<Chunks>& parts) {
    std::size_t begin = 1;
    for (const Chunks& part : parts) {
        const std::size_t size = symbols_in(part);
        slices_.emplace_back(std::span(positions_.data() + begin, size), symbols_.widths, spec_.counting);
        begin += size;
    }
}

// Keeps the pairs that are frequent enough, and lists their positions.
void IndexedMerges::take_over(const SweepMerges& first, const PackedTokens& tokens,
                              const std::vector<Chunks>& parts) {
    const std::size_t cached = cached_;  // it counts them already
    std::vector<std::uint32_t> fresh;
    for (const CountedPair& pair : first.pairs()) {
        if (const auto number = keep(pair.left, pair.right, pair.count)) {
            table_.at(*number).recount = pair.recount;
            fresh.push_back(*number);
        }
    }
    cached_ = cached;
    team_.run([&](std::size_t i) {
        PackedLists lists(symbols_.size());
        for (const std::uint32_t number : fresh) {
            const SymbolPair& pair = table_.at(number);
            PositionList& list = table_.positions(number, i);
            list.expect(pair.count / team_.size(), symbols_in(parts[i]));
            lists.set(pair.left, pair.right, &list);
            if (!droppable(pair.left, pair.right)) lists.thin(pair.left, first.odd_runs(pair.left));
        }
        tokens.list_pairs(parts[i], lists);
        for (const std::uint32_t number : fresh)
            table_.positions(number, i).finish();
    });
}

std::optional<std::uint32_t> IndexedMerges::keep(Symbol left, Symbol right, std::uint64_t count) {
    const std::uint64_t least = droppable(left, right) ? threshold_ : 1;
    if (count == 0 || !symbols_.short_enough(left, right)) return std::nullopt;
    ++cached_;
    if (count < least) return std::nullopt;
    if (symbols_.is_known(left, right)) {
        ++passed_over_;
        return std::nullopt;
    }
    return table_.insert(left, right, count);
}

void IndexedMerges::recount(std::uint32_t number) {
    SymbolPair& pair = table_.at(number);
    std::vector<std::uint64_t> found(team_.size());
    team_.run([&](std::size_t i) {
        found[i] = slices_[i].count(table_.positions(number, i), pair.left, pair.right);
    });
    pair.count = 0;
    for (const std::uint64_t count : found)
        pair.count += count;
    pair.recount = false;
    if (pair.count == 0) table_.erase(number);
}

// Finds the pairs that exceed a lower threshold. Pairs whose disjoint occurrences are counted were never
// dropped and stay unchanged.
void IndexedMerges::take_census() {
    passed_over_ = 0;
    const auto wanted = [this](Symbol left, Symbol right) {
        if (!symbols_.short_enough(left, right) || table_.find(left, right)) return false;
        const bool known = symbols_.is_known(left, right);
        passed_over_ += known ? 1 : 0;
        return !known && droppable(left, right);
    };
    const auto pairs = count_pairs(slices_, team_, threshold_, wanted);
    const std::size_t cached = cached_;
    std::vector<std::uint32_t> fresh;
    for (const CountedPair& pair : pairs)
        if (const auto number = keep(pair.left, pair.right, pair.count)) fresh.push_back(*number);
    cached_ = cached;  // they were counted when they appeared
    refresh_active(0.75);
    team_.run([&](std::size_t i) { list_positions(fresh, i); });
}

void IndexedMerges::list_positions(const std::vector<std::uint32_t>& fresh, std::size_t slice) {
    std::vector<PositionList*> lists(table_.numbers_end());
    for (const std::uint32_t number : fresh) {
        lists[number] = &table_.positions(number, slice);
        lists[number]->expect(table_.at(number).count / team_.size(), slices_[slice].size());
    }
    slices_[slice].for_each_counted([&](Symbol left, Symbol right, std::uint64_t position) {
        const auto number = table_.find(left, right);
        if (number && lists[*number] != nullptr) lists[*number]->push_back(position);
    });
    for (const std::uint32_t number : fresh)
        table_.positions(number, slice).finish();
}

// `certainty` below 1 allows for pairs that have become rarer since SentencePiece's last refresh.
void IndexedMerges::refresh_active(double certainty) {
    const auto active = static_cast<std::size_t>(certainty * static_cast<double>(active_pairs(cached_)));
    if (table_.size() + passed_over_ <= active)
        active_above_ = 0;
    else if (passed_over_ >= active)
        active_above_ = std::numeric_limits<std::uint64_t>::max();
    else
        active_above_ = table_.ranked_count(active - passed_over_);
    made_since_ = table_.made();
}

std::optional<std::uint32_t> IndexedMerges::choose() {
    if (symbols_.merges() % pieces_between_refreshes == 0) refresh_active(1.0);
    while (true) {
        const std::optional<std::uint32_t> best = table_.best();
        if (best && table_.at(*best).recount) {
            recount(*best);
        } else if (best && symbols_.is_known(table_.at(*best).left, table_.at(*best).right)) {
            --cached_;
            table_.erase(*best);  // its text became a piece from another pair
        } else if (best && table_.at(*best).count >= threshold_) {
            return best;
        } else if (threshold_ == 1) {
            return std::nullopt;
        } else {
            threshold_ = std::max<std::uint64_t>(threshold_ / 4, 1);
            take_census();
        }
    }
}

void IndexedMerges::merge(std::uint32_t number) {
    const SymbolPair& pair = table_.at(number);
    const MergeRule rule{pair.left, pair.right, symbols_.add(pair.left, pair.right, pair.count)};
    for (std::size_t i = 0; i < team_.size(); ++i)
        merged_[i] = std::move(table_.positions(number, i));
    on_one_thread_ = pair.count < places_worth_sharing;
    certain_ = certain_ && (pair.count > active_above_ || pair.order >= made_since_);
    --cached_;
    table_.erase(number);

    share([&](std::size_t i) { slices_[i].merge(merged_[i], rule, counts_[i]); });
    add_up_neighbours();
    settle_left(rule);
    settle_right(rule);
    const bool all = spec_.counting == OverlapCounting::every;
    new_merged_ = keep(rule.merged, rule.merged, all ? total_.merged_twice : total_.merged_twice_kept);
    list_new_pairs(rule);
    total_.clear();
    for (NeighbourCounts& counts : counts_)
        counts.clear();
}

void IndexedMerges::add_up_neighbours() {
    for (const NeighbourCounts& counts : counts_) {
        for (const Symbol symbol : counts.left.met)
            total_.left.add(symbol, counts.left.of[symbol]);
        for (const Symbol symbol : counts.right.met)
            total_.right.add(symbol, counts.right.of[symbol]);
        total_.merged_twice += counts.merged_twice;
        total_.merged_twice_kept += counts.merged_twice_kept;
    }
}

// Subtracts lost occurrences from the pairs' counts. Memory is prefetched one step ahead: slots, then pairs.
void IndexedMerges::decrease(const std::vector<LostPair>& lost) {
    for (const LostPair& pair : lost)
        table_.prefetch(pair.left, pair.right);
    numbers_.clear();
    for (const LostPair& pair : lost) {
        if (const auto number = table_.find(pair.left, pair.right)) {
            table_.prefetch(*number);
            numbers_.push_back({*number, pair.count});
        }
    }
    for (const auto& [number, count] : numbers_) {
        SymbolPair& pair = table_.at(number);
        if (!droppable(pair.left, pair.right)) {
            pair.recount = true;
            continue;
        }
        pair.count -= count;
        if (pair.count < threshold_) table_.erase(number);
    }
}

// Where `before left right` was, (before, left) is gone and (before, merged) is new.
void IndexedMerges::settle_left(const MergeRule& rule) {
    lost_.clear();
    for (const Symbol before : total_.left.met)
        if (before != rule.left || rule.left != rule.right)
            lost_.push_back({before, rule.left, total_.left.of[before]});
    decrease(lost_);
    for (const Symbol before : total_.left.met)
        if (const auto number = keep(before, rule.merged, total_.left.of[before]))
            new_left_.push_back({*number, before});
}

// Where `left right behind` was, (right, behind) is gone and (merged, behind) is new, unless `behind` was
// merged as well.
void IndexedMerges::settle_right(const MergeRule& rule) {
    lost_.clear();
    for (const Symbol behind : total_.right.met)
        if (behind != rule.right || rule.left != rule.right)
            lost_.push_back({rule.right, behind, total_.right.of[behind]});
    decrease(lost_);
    for (const Symbol behind : total_.right.met) {
        const std::uint64_t remaining =
            total_.right.of[behind] - (behind == rule.left ? total_.merged_twice : 0);
        if (const auto number = keep(rule.merged, behind, remaining)) new_right_.push_back({*number, behind});
    }
}

void IndexedMerges::list_new_pairs(const MergeRule& rule) {
    if (!new_left_.empty() || !new_right_.empty() || new_merged_) {
        share([&](std::size_t i) {
            NewLists& lists = new_lists_[i];
            const auto open = [&](std::uint32_t number, std::uint64_t count) {
                PositionList& list = table_.positions(number, i);
                list.expect(count, slices_[i].size());
                return &list;
            };
            for (const NewPair& pair : new_left_)
                lists.left[pair.symbol] = open(pair.number, counts_[i].left.of[pair.symbol]);
            for (const NewPair& pair : new_right_)
                lists.right[pair.symbol] = open(pair.number, counts_[i].right.of[pair.symbol]);
            lists.merged_twice = new_merged_ ? open(*new_merged_, counts_[i].merged_twice) : nullptr;
            slices_[i].list_neighbours(merged_[i], rule, lists);
            const auto close = [](PositionList*& list) {
                list->finish();
                list = nullptr;
            };
            for (const NewPair& pair : new_left_)
                close(lists.left[pair.symbol]);
            for (const NewPair& pair : new_right_)
                close(lists.right[pair.symbol]);
            if (lists.merged_twice != nullptr) close(lists.merged_twice);
        });
    }
    new_left_.clear();
    new_right_.clear();
    new_merged_.reset();
}

void IndexedMerges::run(const std::function<void()>& advance) {
    while (symbols_.merges() < static_cast<std::size_t>(spec_.merges) && (certain_ || !spec_.only_certain)) {
        const std::optional<std::uint32_t> best = choose();
        if (!best) break;
        merge(*best);
        advance();
    }
}

}  // namespace bigbird::tokenizer
