// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/exact_trainer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/tokenizer/pair_census.hpp"
#include "bigbird/tokenizer/pair_table.hpp"
#include "bigbird/tokenizer/shard_team.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::int64_t most_merges = 65'000;  // symbols are 16 bits
constexpr std::uint64_t places_worth_waking = 4096;
constexpr double places_a_round = 3000;  // as long as a round takes beside its places

// SentencePiece's.
constexpr std::size_t pieces_between_refreshes = 100, least_active = 1000;
constexpr float active_share = 0.05F;

std::vector<MergeShard> cut(TokenArray& corpus, std::size_t count, const std::vector<std::uint16_t>& lengths,
                            PairCounting counting) {
    std::vector<MergeShard> shards;
    std::size_t begin = 1;
    for (std::size_t i = 1; i <= count; ++i) {
        std::size_t end = std::max(begin, corpus.size() / count * i);
        while (end < corpus.size() && corpus.data()[end - 1] != TokenArray::separator) {
            ++end;
        }
        end = i == count ? corpus.size() : end;
        shards.emplace_back(std::span(corpus.data() + begin, end - begin), lengths, counting);
        begin = end;
    }
    return shards;
}

// A frequency a little below that of the last piece. On human, yeast and synthetic sequence the n-th piece
// occurs 0.16 n^-1.225 times a base, within a third; where the guess is too high a census finds the pairs
// that were left out.
std::uint64_t first_threshold(std::size_t bases, std::int64_t merges) {
    const double last = 0.16 * static_cast<double>(bases) * std::pow(static_cast<double>(merges), -1.225);
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(0.7 * last), 1);
}

class Learner {
public:
    Learner(TokenArray& corpus, const LearnSpec& spec);
    LearntPieces run(const LearnListener& advance);

private:
    struct NewPair {
        std::uint32_t number;
        Symbol symbol;  // beside the joined one
    };

    std::optional<std::uint32_t> choose();
    void refresh_active(double certainty);
    double share_done() const;
    void recount(std::uint32_t number);
    void take_census();
    void list_places(const std::vector<std::uint32_t>& fresh, std::size_t shard);
    void join(std::uint32_t number);
    void add_up_neighbours();
    void settle_left(const MergeRule& rule);
    void settle_right(const MergeRule& rule);
    void settle_joined(const MergeRule& rule);
    void list_new_pairs(const std::vector<PositionList>& places, const MergeRule& rule);
    void decrease(Symbol left, Symbol right, std::uint64_t by);
    std::optional<std::uint32_t> keep(Symbol left, Symbol right, std::uint64_t count);
    bool short_enough(Symbol left, Symbol right) const {
        return lengths_[left] + lengths_[right] <= spec_.max_piece_length;
    }
    bool acceptable(Symbol left, Symbol right) const {
        return short_enough(left, right) && !known_.contains(texts_[left] + texts_[right]);
    }
    void share(const std::function<void(std::size_t)>& job) {
        alone_ ? team_.run_alone(job) : team_.run(job);
    }
    bool droppable(Symbol left, Symbol right) const {
        return left != right || spec_.counting == PairCounting::overlapping;
    }

    const LearnSpec spec_;
    std::vector<std::uint16_t> lengths_;
    std::vector<std::string> texts_;
    ShardTeam team_;
    std::vector<MergeShard> shards_;
    PairTable table_;
    std::unordered_set<std::string> known_;
    std::vector<LearntPiece> learnt_;
    std::uint64_t threshold_;  // rarer pairs are not kept
    double work_ = 0;          // places of all rounds so far

    // What SentencePiece would look at: at least so many pairs that it knows, at most so many frequent ones
    // that are not kept here, and the count above which it looks at every pair since the last refresh.
    std::size_t cached_ = TokenArray::letters, strangers_ = 0;
    std::uint64_t active_above_ = 0, made_since_ = 0;
    bool certain_ = true;

    std::vector<NeighbourCounts> counts_;  // a shard
    NeighbourCounts total_;
    std::vector<NewPair> new_left_, new_right_;
    std::optional<std::uint32_t> new_joined_;
    bool alone_ = false;               // this round is too short to share
    std::vector<NewLists> new_lists_;  // a shard
};

Learner::Learner(TokenArray& corpus, const LearnSpec& spec)
    : spec_(spec),
      lengths_(TokenArray::letters, 1),
      team_(static_cast<std::size_t>(std::max(spec.threads, 1))),
      shards_(cut(corpus, team_.size(), lengths_, spec.counting)),
      table_(texts_),
      threshold_(first_threshold(corpus.size(), spec.merges)),
      total_(TokenArray::letters + static_cast<std::size_t>(spec.merges)) {
    for (Symbol letter = 0; letter < TokenArray::letters; ++letter) {
        texts_.emplace_back(1, letter_of_symbol(letter));
    }
    counts_.assign(team_.size(), total_);
    new_lists_.assign(team_.size(), NewLists(total_.left.size()));
}

std::optional<std::uint32_t> Learner::keep(Symbol left, Symbol right, std::uint64_t count) {
    const std::uint64_t least = droppable(left, right) ? threshold_ : 1;
    if (count == 0 || !short_enough(left, right)) {
        return std::nullopt;
    }
    ++cached_;
    if (count < least) {
        return std::nullopt;
    }
    if (known_.contains(texts_[left] + texts_[right])) {
        ++strangers_;
        return std::nullopt;
    }
    return table_.insert(left, right, count, team_.size());
}

void Learner::decrease(Symbol left, Symbol right, std::uint64_t by) {
    const std::optional<std::uint32_t> number = table_.find(left, right);
    if (!number) {
        return;
    }
    SymbolPair& pair = table_.at(*number);
    if (!droppable(left, right)) {
        pair.recount = true;
        return;
    }
    pair.count -= by;
    if (pair.count < threshold_) {
        table_.erase(*number);
    }
}

void Learner::recount(std::uint32_t number) {
    SymbolPair& pair = table_.at(number);
    std::vector<std::uint64_t> found(team_.size());
    team_.run([&](std::size_t i) { found[i] = shards_[i].count(pair.places[i], pair.left, pair.right); });
    pair.count = 0;
    for (const std::uint64_t count : found) {
        pair.count += count;
    }
    pair.recount = false;
    if (pair.count == 0) {
        table_.erase(number);
    }
}

// Finds the pairs that a lower threshold lets in. Those that count disjoint occurrences were never dropped
// and stay as they are.
void Learner::take_census() {
    strangers_ = 0;
    const auto wanted = [this](Symbol left, Symbol right) {
        if (!short_enough(left, right) || table_.find(left, right)) {
            return false;
        }
        const bool known = known_.contains(texts_[left] + texts_[right]);
        strangers_ += known ? 1 : 0;
        return !known && (droppable(left, right) || learnt_.empty());
    };
    const auto pairs = count_pairs(shards_, team_, threshold_, spec_.counting, lengths_, wanted);
    const std::size_t cached = cached_;
    std::vector<std::uint32_t> fresh;
    for (const CountedPair& pair : pairs) {
        if (const auto number = keep(pair.left, pair.right, pair.count)) {
            fresh.push_back(*number);
        }
    }
    cached_ = learnt_.empty() ? cached_ : cached;  // later on, pairs were counted when they appeared
    refresh_active(learnt_.empty() ? 1.0 : 0.75);
    team_.run([&](std::size_t i) { list_places(fresh, i); });
}

void Learner::list_places(const std::vector<std::uint32_t>& fresh, std::size_t shard) {
    std::vector<RunFilter> runs;
    for (const std::uint16_t length : lengths_) {
        runs.emplace_back(spec_.counting, length);
    }
    std::vector<PositionList*> lists(table_.numbers_end());
    for (const std::uint32_t number : fresh) {
        SymbolPair& pair = table_.at(number);
        lists[number] = &pair.places[shard];
        lists[number]->expect(pair.count / team_.size(), shards_[shard].size());
    }
    shards_[shard].for_each_pair([&](Symbol left, Symbol right, std::uint64_t place) {
        const auto number = table_.find(left, right);
        PositionList* const list = number ? lists[*number] : nullptr;
        if (list != nullptr && (left != right || runs[left].keep(place))) {
            list->push_back(place);
        }
    });
    for (const std::uint32_t number : fresh) {
        table_.at(number).places[shard].finish();
    }
}

// `certainty` below 1 allows for pairs that have become rarer since SentencePiece's last refresh.
void Learner::refresh_active(double certainty) {
    const auto active = static_cast<std::size_t>(
        certainty * std::max(static_cast<double>(least_active),
                             static_cast<double>(static_cast<float>(cached_) * active_share)));
    if (table_.size() + strangers_ <= active) {
        active_above_ = 0;
    } else if (strangers_ >= active) {
        active_above_ = std::numeric_limits<std::uint64_t>::max();
    } else {
        active_above_ = table_.ranked_count(active - strangers_);
    }
    made_since_ = table_.made();
}

// Later pieces are rarer: the n-th goes with n^-1.225.
double Learner::share_done() const {
    const auto done = static_cast<double>(learnt_.size()), all = static_cast<double>(spec_.merges);
    const double left =
        static_cast<double>(learnt_.back().frequency) * done / 0.225 * (1 - std::pow(all / done, -0.225)) +
        (all - done) * places_a_round;
    return work_ / (work_ + left);
}

std::optional<std::uint32_t> Learner::choose() {
    if (learnt_.size() % pieces_between_refreshes == 0) {
        refresh_active(1.0);
    }
    while (true) {
        const std::optional<std::uint32_t> best = table_.best();
        if (best && table_.at(*best).recount) {
            recount(*best);
        } else if (best && !acceptable(table_.at(*best).left, table_.at(*best).right)) {
            --cached_;
            table_.erase(*best);  // its text became a piece by another split
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

void Learner::join(std::uint32_t number) {
    SymbolPair& pair = table_.at(number);
    const MergeRule rule{pair.left, pair.right, static_cast<Symbol>(texts_.size())};
    const std::vector<PositionList> places = std::move(pair.places);
    alone_ = pair.count < places_worth_waking;
    certain_ = certain_ && (pair.count > active_above_ || pair.order >= made_since_);
    work_ += static_cast<double>(pair.count) + places_a_round;
    --cached_;
    learnt_.push_back({texts_[rule.left] + texts_[rule.right], pair.count});
    texts_.push_back(learnt_.back().text);
    lengths_.push_back(static_cast<std::uint16_t>(texts_.back().size()));
    known_.insert(texts_.back());
    table_.erase(number);

    share([&](std::size_t i) { shards_[i].merge(places[i], rule, counts_[i]); });
    add_up_neighbours();
    settle_left(rule);
    settle_right(rule);
    settle_joined(rule);
    list_new_pairs(places, rule);
    total_.clear();
    for (NeighbourCounts& counts : counts_) {
        counts.clear();
    }
}

void Learner::add_up_neighbours() {
    for (const NeighbourCounts& counts : counts_) {
        for (const Symbol symbol : counts.met_left) {
            if (total_.left[symbol] == 0) {
                total_.met_left.push_back(symbol);
            }
            total_.left[symbol] += counts.left[symbol];
        }
        for (const Symbol symbol : counts.met_right) {
            if (total_.right[symbol] == 0) {
                total_.met_right.push_back(symbol);
            }
            total_.right[symbol] += counts.right[symbol];
        }
        total_.joined_twice += counts.joined_twice;
        total_.joined_twice_kept += counts.joined_twice_kept;
    }
}

// Where `before left right` stood, (before, left) is gone and (before, joined) is new.
void Learner::settle_left(const MergeRule& rule) {
    for (const Symbol before : total_.met_left) {
        table_.prefetch(before, rule.left);
    }
    for (const Symbol before : total_.met_left) {
        const std::uint64_t count = total_.left[before];
        if (before != rule.left || rule.left != rule.right) {
            decrease(before, rule.left, count);
        }
        if (const auto number = keep(before, rule.joined, count)) {
            new_left_.push_back({*number, before});
        }
    }
}

// Where `left right behind` stood, (right, behind) is gone and (joined, behind) is new, unless behind was
// joined in its turn.
void Learner::settle_right(const MergeRule& rule) {
    for (const Symbol behind : total_.met_right) {
        table_.prefetch(rule.right, behind);
    }
    for (const Symbol behind : total_.met_right) {
        const std::uint64_t count = total_.right[behind];
        if (behind != rule.right || rule.left != rule.right) {
            decrease(rule.right, behind, count);
        }
        const std::uint64_t remaining = count - (behind == rule.left ? total_.joined_twice : 0);
        if (const auto number = keep(rule.joined, behind, remaining)) {
            new_right_.push_back({*number, behind});
        }
    }
}

void Learner::settle_joined(const MergeRule& rule) {
    const std::uint64_t count =
        spec_.counting == PairCounting::disjoint ? total_.joined_twice_kept : total_.joined_twice;
    new_joined_ = keep(rule.joined, rule.joined, count);
}

void Learner::list_new_pairs(const std::vector<PositionList>& places, const MergeRule& rule) {
    if (!new_left_.empty() || !new_right_.empty() || new_joined_) {
        share([&](std::size_t i) {
            NewLists& lists = new_lists_[i];
            const auto open = [&](std::uint32_t number, std::uint64_t count) {
                PositionList& list = table_.at(number).places[i];
                list.expect(count, shards_[i].size());
                return &list;
            };
            for (const NewPair& pair : new_left_) {
                lists.left[pair.symbol] = open(pair.number, counts_[i].left[pair.symbol]);
            }
            for (const NewPair& pair : new_right_) {
                lists.right[pair.symbol] = open(pair.number, counts_[i].right[pair.symbol]);
            }
            lists.joined_twice = new_joined_ ? open(*new_joined_, counts_[i].joined_twice) : nullptr;
            shards_[i].list_neighbours(places[i], rule, lists);
            const auto close = [](PositionList*& list) {
                list->finish();
                list = nullptr;
            };
            for (const NewPair& pair : new_left_) {
                close(lists.left[pair.symbol]);
            }
            for (const NewPair& pair : new_right_) {
                close(lists.right[pair.symbol]);
            }
            if (lists.joined_twice != nullptr) {
                close(lists.joined_twice);
            }
        });
    }
    new_left_.clear();
    new_right_.clear();
    new_joined_.reset();
}

LearntPieces Learner::run(const LearnListener& advance) {
    take_census();
    while (static_cast<std::int64_t>(learnt_.size()) < spec_.merges && (certain_ || !spec_.only_certain)) {
        const std::optional<std::uint32_t> best = choose();
        if (!best) {
            break;
        }
        join(*best);
        advance(static_cast<std::int64_t>(learnt_.size()), share_done());
    }
    return {std::move(learnt_), certain_};
}

}  // namespace

LearntPieces learn_pieces(TokenArray& corpus, const LearnSpec& spec, const LearnListener& advance) {
    BIGBIRD_EXPECTS(spec.merges >= 0 && spec.merges <= most_merges, "the exact trainer has 16 bits a symbol");
    return Learner(corpus, spec).run(advance);
}

void restore_letters(TokenArray& corpus, const std::vector<LearntPiece>& pieces) {
    Symbol* place = corpus.data();
    for (const Symbol* const end = place + corpus.size(); place != end;) {
        if (*place < TokenArray::letters || *place == TokenArray::separator) {
            ++place;
            continue;
        }
        for (const char letter : pieces.at(*place - TokenArray::letters).text) {
            *place++ = symbol_of_letter(letter);
        }
    }
}

}  // namespace bigbird::tokenizer
