// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/learn_pieces.hpp"
#include "bigbird/tokenizer/train/merges/learnt_symbols.hpp"
#include "bigbird/tokenizer/train/merges/merge_slice.hpp"
#include "bigbird/tokenizer/train/merges/pair_table.hpp"
#include "bigbird/tokenizer/train/merges/sweep_merges.hpp"
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"
#include "bigbird/tokenizer/train/storage/thread_team.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::uint64_t places_worth_sharing = 256;
using Chunks = std::span<const PackedTokens::Chunk>;

// A frequency slightly below that of the last piece. On human, yeast and synthetic sequence, the n-th piece
// occurs 0.16 n^-1.225 times per base, within a third. If the estimate is too high, a census finds the
// missing pairs.
std::uint64_t first_threshold(std::size_t bases, std::int64_t merges) {
    const double last = 0.16 * static_cast<double>(bases) *
                        std::pow(static_cast<double>(std::max<std::int64_t>(merges, 1)), -1.225);
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(0.7 * last), 1);
}

// Divides chunks into parts with about the same number of positions.
std::vector<Chunks> share_out(Chunks chunks, std::size_t count) {
    std::vector<Chunks> parts;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = chunks.size() * i / count, end = chunks.size() * (i + 1) / count;
        parts.push_back(chunks.subspan(begin, end - begin));
    }
    return parts;
}

std::size_t symbols_in(Chunks chunks) {
    std::size_t size = 0;
    for (const PackedTokens::Chunk& chunk : chunks)
        size += chunk.size;
    return size;
}

// Makes the merges after the first ones. Each goes through a list of positions where its pair may occur.
class IndexedMerges {
public:
    // Continues where `first` ended, and takes over the corpus: `tokens` must not be used afterwards.
    IndexedMerges(const SweptPairs& first, PackedTokens& tokens, LetterArray&& corpus, LearntSymbols& symbols,
                  const LearnSpec& spec, ThreadTeam& team)
        : spec_(spec),
          symbols_(symbols),
          team_(team),
          table_(symbols.texts, team.size()),
          threshold_(first_threshold(corpus.size(), spec.merges)),
          cached_(first.met),
          certain_(first.certain),
          total_(TokenArray::letters + static_cast<std::size_t>(spec.merges)) {
        counts_.assign(team_.size(), total_);
        for (std::size_t i = 0; i < team_.size(); ++i)
            merged_.emplace_back(table_.memory(i));
        new_lists_.assign(team_.size(), NewLists(total_.left.of.size()));
        const std::vector<Chunks> parts = share_out(tokens.chunks(), team_.size());
        take_over(first, tokens, parts);
        positions_ = std::move(tokens).unpack(std::move(corpus));
        symbols_.narrow();
        std::size_t begin = 1;
        for (const Chunks& part : parts) {
            const std::size_t size = symbols_in(part);
            slices_.emplace_back(std::span(positions_.data() + begin, size), symbols_.widths, spec_.counting);
            begin += size;
        }
    }

    // Merges until spec.merges are made, no pair is left, or spec.only_certain ends it. Calls `advance` after
    // each merge. Returns whether SentencePiece, which considers only frequent pairs, makes the same merges.
    bool run(const std::function<void()>& advance) {
        while (symbols_.merges() < static_cast<std::size_t>(spec_.merges) &&
               (certain_ || !spec_.only_certain)) {
            const std::optional<std::uint32_t> best = choose();
            if (!best) break;
            merge(*best);
            advance();
        }
        return certain_;
    }

    // Undoes all merges of a corpus of `size` positions.
    LetterArray restored_letters(std::size_t size) const {
        LetterArray letters(size);
        std::uint8_t* out = letters.data();
        for (std::size_t position = 0; position < positions_.size();) {
            const Symbol symbol = positions_.data()[position];
            if (symbol == TokenArray::separator) {
                *out++ = LetterArray::separator;
                ++position;
                continue;
            }
            for (const char letter : symbols_.texts[symbol])
                *out++ = static_cast<std::uint8_t>(symbol_of_letter(letter));
            position += symbols_.widths[symbol];
        }
        return letters;
    }

private:
    struct NewPair {
        std::uint32_t number;
        bool before;    // whether the merged symbol is the right one
        Symbol symbol;  // the other one
    };

    // Keeps the pairs that are frequent enough, and lists their positions.
    void take_over(const SweptPairs& first, const PackedTokens& tokens, const std::vector<Chunks>& parts) {
        const std::size_t cached = cached_;  // it counts them already
        std::vector<std::uint32_t> fresh;
        for (const CountedPair& pair : first.pairs) {
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
                if (!droppable(pair.left, pair.right)) lists.thin(pair.left, first.odd_runs[pair.left]);
            }
            tokens.list_pairs(parts[i], lists);
            for (const std::uint32_t number : fresh)
                table_.positions(number, i).finish();
        });
    }

    std::optional<std::uint32_t> keep(Symbol left, Symbol right, std::uint64_t count) {
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

    void recount(std::uint32_t number) {
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
    void take_census() {
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

    void list_positions(const std::vector<std::uint32_t>& fresh, std::size_t slice) {
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
    void refresh_active(double certainty) {
        const auto active = static_cast<std::size_t>(certainty * static_cast<double>(active_pairs(cached_)));
        if (table_.size() + passed_over_ <= active)
            active_above_ = 0;
        else if (passed_over_ >= active)
            active_above_ = std::numeric_limits<std::uint64_t>::max();
        else
            active_above_ = table_.ranked_count(active - passed_over_);
        made_since_ = table_.made();
    }

    std::optional<std::uint32_t> choose() {
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

    void merge(std::uint32_t number) {
        const SymbolPair& pair = table_.at(number);
        const MergeRule rule{pair.left, pair.right, symbols_.add(pair.left, pair.right)};
        for (std::size_t i = 0; i < team_.size(); ++i)
            merged_[i] = std::move(table_.positions(number, i));
        on_one_thread_ = pair.count < places_worth_sharing;
        certain_ = certain_ && (pair.count > active_above_ || pair.order >= made_since_);
        --cached_;
        table_.erase(number);

        share([&](std::size_t i) { slices_[i].merge(merged_[i], rule, counts_[i]); });
        for (const NeighbourCounts& counts : counts_)
            total_.add(counts);
        settle(true, rule);
        settle(false, rule);
        const bool all = spec_.counting == OverlapCounting::every;
        new_merged_ = keep(rule.merged, rule.merged, all ? total_.merged_twice : total_.merged_twice_kept);
        if (!new_pairs_.empty() || new_merged_) share([&](std::size_t i) { list_new_pairs(rule, i); });
        new_pairs_.clear();
        total_.clear();
        for (NeighbourCounts& counts : counts_)
            counts.clear();
    }

    // Subtracts lost occurrences from the pairs' counts. Memory is prefetched one step ahead: slots, then
    // pairs.
    void decrease(const std::vector<CountedPair>& lost) {
        for (const CountedPair& pair : lost)
            table_.prefetch(pair.left, pair.right);
        numbers_.clear();
        for (const CountedPair& pair : lost) {
            if (const auto number = table_.find(pair.left, pair.right)) {
                table_.prefetch(*number);
                numbers_.emplace_back(*number, pair.count);
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

    // Where `x left right` was, (x, left) is gone and (x, merged) is new; where `left right x` was, (right,
    // x) is gone and (merged, x) is new, unless `x` was merged as well.
    void settle(bool before, const MergeRule& rule) {
        const SymbolCounts& neighbours = before ? total_.left : total_.right;
        const Symbol part = before ? rule.left : rule.right;
        const auto in_order = [&](Symbol symbol, Symbol neighbour) {
            return before ? std::pair(neighbour, symbol) : std::pair(symbol, neighbour);
        };
        lost_.clear();
        for (const Symbol neighbour : neighbours.met) {
            const auto [left, right] = in_order(part, neighbour);
            if (neighbour != part || rule.left != rule.right)
                lost_.push_back({left, right, neighbours.of[neighbour]});
        }
        decrease(lost_);
        for (const Symbol neighbour : neighbours.met) {
            const auto [left, right] = in_order(rule.merged, neighbour);
            const bool merged_too = !before && neighbour == rule.left;
            const std::uint64_t count = neighbours.of[neighbour] - (merged_too ? total_.merged_twice : 0);
            if (const auto number = keep(left, right, count))
                new_pairs_.push_back({*number, before, neighbour});
        }
    }

    void list_new_pairs(const MergeRule& rule, std::size_t slice) {
        NewLists& lists = new_lists_[slice];
        const NeighbourCounts& counts = counts_[slice];
        const auto open = [&](std::uint32_t number, std::uint64_t count) {
            PositionList& list = table_.positions(number, slice);
            list.expect(count, slices_[slice].size());
            return &list;
        };
        const auto list_of = [&](const NewPair& pair) -> PositionList*& {
            return (pair.before ? lists.left : lists.right)[pair.symbol];
        };
        for (const NewPair& pair : new_pairs_)
            list_of(pair) = open(pair.number, (pair.before ? counts.left : counts.right).of[pair.symbol]);
        lists.merged_twice = new_merged_ ? open(*new_merged_, counts.merged_twice) : nullptr;
        slices_[slice].list_neighbours(rule, lists);
        for (const NewPair& pair : new_pairs_)
            std::exchange(list_of(pair), nullptr)->finish();
        if (new_merged_) lists.merged_twice->finish();
    }

    void share(const std::function<void(std::size_t)>& job) {
        on_one_thread_ ? team_.run_alone(job) : team_.run(job);
    }
    bool droppable(Symbol left, Symbol right) const {
        return left != right || spec_.counting == OverlapCounting::every;
    }

    const LearnSpec& spec_;
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
    std::vector<CountedPair> lost_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> numbers_;  // of lost pairs, and how often
    std::vector<NewPair> new_pairs_;
    std::optional<std::uint32_t> new_merged_;
    bool on_one_thread_ = false;       // this round is too short to share
    std::vector<NewLists> new_lists_;  // by slice
};

// The work up to a number of merges, in positions visited: the n-th piece has 0.16 n^-1.225 positions per
// base, and each round costs about a thousand positions more. The first merges each take as long as the
// hundredth, because they sweep over all positions.
double work_up_to(std::int64_t merges, std::size_t bases) {
    constexpr double exponent = 1.225, swept = 100, places_per_round = 3000;
    const auto count = static_cast<double>(merges);
    const double by_sweeps = std::min(count, swept) * std::pow(swept, -exponent);
    const double by_lists =
        count <= swept ? 0 : (std::pow(swept, 1 - exponent) - std::pow(count, 1 - exponent)) / (exponent - 1);
    return 0.16 * static_cast<double>(bases) * (by_sweeps + by_lists) + places_per_round * count;
}

}  // namespace

LearntPieces learn_pieces(LetterArray& corpus, const LearnSpec& spec, const LearnListener& listener) {
    LearntSymbols symbols(spec.max_piece_length);
    const std::size_t size = corpus.size();
    std::int64_t told = 0;
    const auto advance = [&] {
        while (told < static_cast<std::int64_t>(symbols.merges())) {
            ++told;
            listener(told, work_up_to(told, size) / work_up_to(spec.merges, size));
        }
    };
    ThreadTeam team(static_cast<std::size_t>(std::max(spec.threads, 1)));
    PackedTokens tokens(corpus);
    const SweptPairs first = merge_by_sweeps(tokens, symbols, spec, team, advance);
    IndexedMerges later(first, tokens, std::move(corpus), symbols, spec, team);
    const bool certain = later.run(advance);
    corpus = spec.only_certain && !certain ? later.restored_letters(size) : LetterArray();
    return {{symbols.texts.begin() + TokenArray::letters, symbols.texts.end()}, certain};
}

}  // namespace bigbird::tokenizer
