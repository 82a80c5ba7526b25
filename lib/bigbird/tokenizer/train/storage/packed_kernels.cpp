// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/check.hpp"
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// This file is compiled once for each kind of vector unit.
#define HWY_WANT_AVX3_DL  // compresses bytes
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bigbird/tokenizer/train/storage/packed_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bigbird::tokenizer::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<std::uint8_t, 64>;
constexpr std::size_t word = 64;  // symbols

// The last symbols of an array, padded to a word, followed by the bytes that a look-ahead may read.
struct Tail {
    std::uint8_t symbols[2 * word];
    Tail(const std::uint8_t* from, std::size_t size) {
        std::memset(symbols, 0xFF, sizeof symbols);
        std::memcpy(symbols, from, size);
    }
};

// Number of words that can be read, each with the symbol after it, within the array.
HWY_INLINE std::size_t whole_words(std::size_t size) {
    return size == 0 ? 0 : (size - 1) / word;
}

// Calls visit(symbols) for each word, the last one padded.
template <typename Visit>
HWY_INLINE void for_each_word(const std::uint8_t* symbols, std::size_t size, Visit&& visit) {
    const std::size_t words = whole_words(size), done = words * word;
    for (std::size_t i = 0; i < words; ++i)
        visit(symbols + i * word);
    if (done < size) visit(Tail(symbols + done, size - done).symbols);
}

// Symbols in registers: storing and reloading them would take three times as long.
struct Word {
    static constexpr std::size_t parts = word / hn::MaxLanes(Bytes());
    hn::Vec<Bytes> part[parts];
};

template <std::size_t rule_count>
struct Rules {
    Bytes d;
    hn::Vec<Bytes> left[rule_count], right[rule_count], merged[rule_count];

    explicit Rules(std::span<const PackedRule> rules) {
        for (std::size_t i = 0; i < rule_count; ++i) {
            left[i] = hn::Set(d, rules[i].left);
            right[i] = hn::Set(d, rules[i].right);
            merged[i] = hn::Set(d, rules[i].merged);
        }
    }

    HWY_INLINE std::uint64_t operator()(const std::uint8_t* symbols, Word& out) const {
        std::uint64_t marks = 0;
        for (std::size_t i = 0; i < Word::parts; ++i) {
            const std::size_t lane = i * hn::MaxLanes(d);
            const auto here = hn::LoadU(d, symbols + lane), next = hn::LoadU(d, symbols + lane + 1);
            auto found = hn::And(hn::Eq(here, left[0]), hn::Eq(next, right[0]));
            out.part[i] = hn::IfThenElse(found, merged[0], here);
            for (std::size_t rule = 1; rule < rule_count; ++rule) {
                const auto match = hn::And(hn::Eq(here, left[rule]), hn::Eq(next, right[rule]));
                out.part[i] = hn::IfThenElse(match, merged[rule], out.part[i]);
                found = hn::Or(found, match);
            }
            std::uint64_t bits = 0;
            hn::StoreMaskBits(d, found, reinterpret_cast<std::uint8_t*>(&bits));
            marks |= bits << lane;
        }
        return marks;
    }
};

HWY_INLINE std::uint64_t equal_bits(Bytes d, const std::uint8_t* symbols, hn::Vec<Bytes> symbol) {
    std::uint64_t marks = 0;
    for (std::size_t lane = 0; lane < word; lane += hn::Lanes(d)) {
        std::uint64_t bits = 0;
        hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, symbols + lane), symbol),
                          reinterpret_cast<std::uint8_t*>(&bits));
        marks |= bits << lane;
    }
    return marks;
}

// Keeps the symbols whose bits are set; writes up to a word at `out`.
HWY_INLINE std::size_t keep_word(const Word& symbols, std::uint64_t kept, std::uint8_t* out) {
    const Bytes d;
#if HWY_TARGET == HWY_AVX3_DL
    // One vector per word; storing compressed bytes straight to memory is slow on some processors.
    const auto mask = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&kept));
    hn::StoreU(hn::Compress(symbols.part[0], mask), d, out);
#else
    std::uint8_t all[word];
    for (std::size_t i = 0; i < Word::parts; ++i)
        hn::StoreU(symbols.part[i], d, all + i * hn::MaxLanes(d));
    if (kept == ~std::uint64_t{0}) {
        std::memcpy(out, all, word);
    } else {
        for (std::size_t i = 0; i < word; ++i) {
            *out = all[i];
            out += kept >> i & 1;
        }
    }
#endif
    return static_cast<std::size_t>(std::popcount(kept));
}

// Writes four positions at a time, even for fewer marks, because a branch for each would often be
// mispredicted.
HWY_INLINE std::size_t list_word(std::uint64_t marks, std::size_t first, std::uint32_t* positions) {
    const auto count = static_cast<std::size_t>(std::popcount(marks));
    std::size_t done = 0;
    do {
        for (std::size_t k = 0; k < 4; ++k, ++done) {
            positions[done] =
                static_cast<std::uint32_t>(first + static_cast<std::size_t>(std::countr_zero(marks)) - done);
            marks &= marks - 1;
        }
    } while (done < count);
    return count;
}

// merge_word(symbols, out) merges within a word and returns marks of the merged symbols; the symbol after
// each of them must be removed.
template <typename MergeWord>
std::size_t merge_and_close_up(std::uint8_t* symbols, std::size_t size, std::uint32_t* positions,
                               MergeWord&& merge_word) {
    const std::size_t words = whole_words(size), done = words * word;
    std::uint64_t carry = 0;
    std::size_t kept = 0, count = 0;
    for (std::size_t i = 0; i < words; ++i) {
        Word merged;
        const std::uint64_t marks = merge_word(symbols + i * word, merged);
        count += list_word(marks, i * word - count, positions + count);
        kept += keep_word(merged, ~(marks << 1 | carry), symbols + kept);
        carry = marks >> 63;
    }
    if (done < size) {
        const Tail tail(symbols + done, size - done);
        Word merged;
        const std::uint64_t marks = merge_word(tail.symbols, merged);
        count += list_word(marks, done - count, positions + count);
        std::uint8_t out[word];
        keep_word(merged, ~(marks << 1 | carry), out);
        std::memcpy(symbols + kept, out, size - count - kept);
    }
    return count;
}

template <std::size_t rule_count>
std::size_t merge_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                        std::uint32_t* positions) {
    if constexpr (rule_count < most_packed_rules) {
        if (rules.size() > rule_count) return merge_pairs<rule_count + 1>(symbols, size, rules, positions);
    }
    return merge_and_close_up(symbols, size, positions, Rules<rule_count>(rules));
}

std::size_t merge_some_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                             std::uint32_t* positions) {
    return merge_pairs<1>(symbols, size, rules, positions);
}

// Returns the first, third, … bit of each run. An addition at the start of a run clears all of it, which
// distinguishes runs that start at even positions from the others.
HWY_INLINE std::uint64_t every_other(std::uint64_t bits) {
    constexpr std::uint64_t even = 0x5555'5555'5555'5555;
    const std::uint64_t from_even = bits & ~(bits + (bits & ~(bits << 1) & even));
    return (from_even & even) | (bits & ~from_even & ~even);
}

// Finds the pairs of a symbol with itself that are merged, word by word.
class RunMarks {
public:
    RunMarks(std::uint8_t symbol, std::uint8_t before, const OddRuns& odd)
        : symbol_(hn::Set(d_, symbol)),
          odd_(odd),
          any_odd_(std::find(odd.begin(), odd.end(), true) != odd.end()),
          before_(before) {}

    HWY_INLINE std::uint64_t operator()(const std::uint8_t* symbols) {
        const std::uint64_t pairs = equal_bits(d_, symbols, symbol_) & equal_bits(d_, symbols + 1, symbol_);
        std::uint64_t skipped = pairs & last_merged_;
        if (any_odd_) {
            for (std::uint64_t starts = pairs & ~(pairs << 1 | goes_on_); starts != 0; starts &= starts - 1) {
                const auto position = static_cast<std::size_t>(std::countr_zero(starts));
                const std::uint8_t before = position == 0 ? before_ : symbols[position - 1];
                skipped |= odd_[before] ? starts & -starts : 0;
            }
        }
        const std::uint64_t merged = every_other(pairs & ~skipped);
        before_ = symbols[word - 1];
        goes_on_ = pairs >> 63;
        last_merged_ = merged >> 63;
        return merged;
    }

private:
    Bytes d_;
    hn::Vec<Bytes> symbol_;
    const OddRuns& odd_;
    bool any_odd_;
    std::uint8_t before_;
    std::uint64_t goes_on_ = 0, last_merged_ = 0;  // whether the last word ends with a pair, which is merged
};

std::size_t merge_runs(std::uint8_t* symbols, std::size_t size, std::uint8_t symbol, std::uint8_t merged,
                       const OddRuns& odd, std::uint32_t* positions) {
    const Bytes d;
    const auto one = hn::Set(d, merged);
    RunMarks marks(symbol, symbols[-1], odd);
    return merge_and_close_up(symbols, size, positions, [&](const std::uint8_t* here, Word& out) {
        const std::uint64_t found = marks(here);
        for (std::size_t i = 0; i < Word::parts; ++i) {
            const std::size_t lane = i * hn::MaxLanes(d);
            const std::uint64_t bits = found >> lane;
            const auto mask = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
            out.part[i] = hn::IfThenElse(mask, one, hn::LoadU(d, here + lane));
        }
        return found;
    });
}

std::size_t count_runs(const std::uint8_t* symbols, std::size_t size, std::uint8_t symbol,
                       const OddRuns& odd) {
    RunMarks marks(symbol, symbols[-1], odd);
    std::size_t count = 0;
    for_each_word(symbols, size, [&](const std::uint8_t* here) {
        count += static_cast<std::size_t>(std::popcount(marks(here)));
    });
    return count;
}

// Makes a word of bits for each letter; the counts are the numbers of bits that two words share.
void count_letter_pairs(const std::uint8_t* letters, std::size_t size, std::uint64_t* counts) {
    const Bytes d;
    for_each_word(letters, size, [&](const std::uint8_t* from) {
        std::uint64_t here[5], next[5];
        for (std::uint8_t letter = 0; letter < 5; ++letter) {
            here[letter] = equal_bits(d, from, hn::Set(d, letter));
            next[letter] = equal_bits(d, from + 1, hn::Set(d, letter));
        }
        for (std::size_t pair = 0; pair < 25; ++pair)
            counts[pair] += static_cast<std::uint64_t>(std::popcount(here[pair / 5] & next[pair % 5]));
    });
}

}  // namespace bigbird::tokenizer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bigbird::tokenizer {

HWY_EXPORT(merge_some_pairs);
HWY_EXPORT(merge_runs);
HWY_EXPORT(count_runs);
HWY_EXPORT(count_letter_pairs);

std::size_t merge_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                        std::uint32_t* positions) {
    BIGBIRD_EXPECTS(!rules.empty() && rules.size() <= most_packed_rules, "one rule to eight");
    return HWY_DYNAMIC_DISPATCH(merge_some_pairs)(symbols, size, rules, positions);
}

std::size_t merge_runs(std::uint8_t* symbols, std::size_t size, std::uint8_t symbol, std::uint8_t merged,
                       const OddRuns& odd, std::uint32_t* positions) {
    return HWY_DYNAMIC_DISPATCH(merge_runs)(symbols, size, symbol, merged, odd, positions);
}

std::size_t count_runs(const std::uint8_t* symbols, std::size_t size, std::uint8_t symbol,
                       const OddRuns& odd) {
    return HWY_DYNAMIC_DISPATCH(count_runs)(symbols, size, symbol, odd);
}

void count_letter_pairs(const std::uint8_t* letters, std::size_t size, std::span<std::uint64_t, 25> counts) {
    HWY_DYNAMIC_DISPATCH(count_letter_pairs)(letters, size, counts.data());
}

}  // namespace bigbird::tokenizer
#endif
