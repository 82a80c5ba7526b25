// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/packed_kernels.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// This file is compiled once for each kind of vector unit.
#define HWY_WANT_AVX3_DL  // compresses bytes
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bigbird/tokenizer/packed_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bigbird::tokenizer::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<std::uint8_t, 64>;
constexpr std::size_t word = 64;  // symbols

// The last symbols of an array, filled up to a word, and behind them what a look ahead may read.
struct Tail {
    std::uint8_t symbols[2 * word];
    Tail(const std::uint8_t* from, std::size_t size) {
        std::memset(symbols, 0xFF, sizeof symbols);
        std::memcpy(symbols, from, size);
    }
};

// Words that can be read, and one symbol beyond each, without leaving the array.
HWY_INLINE std::size_t whole_words(std::size_t size) {
    return size == 0 ? 0 : (size - 1) / word;
}

template <std::size_t rule_count>
struct Rules {
    Bytes d;
    hn::Vec<Bytes> left[rule_count], right[rule_count], joined[rule_count];

    explicit Rules(std::span<const PackedRule> rules) {
        for (std::size_t i = 0; i < rule_count; ++i) {
            left[i] = hn::Set(d, rules[i].left);
            right[i] = hn::Set(d, rules[i].right);
            joined[i] = hn::Set(d, rules[i].joined);
        }
    }

    HWY_INLINE std::uint64_t join_word(std::uint8_t* symbols) const {
        std::uint64_t marks = 0;
        for (std::size_t lane = 0; lane < word; lane += hn::Lanes(d)) {
            const auto here = hn::LoadU(d, symbols + lane), next = hn::LoadU(d, symbols + lane + 1);
            auto found = hn::And(hn::Eq(here, left[0]), hn::Eq(next, right[0]));
            auto out = hn::IfThenElse(found, joined[0], here);
            for (std::size_t i = 1; i < rule_count; ++i) {
                const auto match = hn::And(hn::Eq(here, left[i]), hn::Eq(next, right[i]));
                out = hn::IfThenElse(match, joined[i], out);
                found = hn::Or(found, match);
            }
            std::uint64_t bits = 0;
            hn::StoreMaskBits(d, found, reinterpret_cast<std::uint8_t*>(&bits));
            if (bits != 0) {
                hn::StoreU(out, d, symbols + lane);
                marks |= bits << lane;
            }
        }
        return marks;
    }

    std::uint64_t join(std::uint8_t* symbols, std::size_t size, std::uint64_t* marks) const {
        std::uint64_t count = 0;
        const std::size_t words = whole_words(size), done = words * word;
        for (std::size_t i = 0; i < words; ++i) {
            marks[i] = join_word(symbols + i * word);
            count += static_cast<std::uint64_t>(std::popcount(marks[i]));
        }
        if (done < size) {
            Tail tail(symbols + done, size - done);
            marks[words] = join_word(tail.symbols);
            count += static_cast<std::uint64_t>(std::popcount(marks[words]));
            std::memcpy(symbols + done, tail.symbols, size - done - 1);  // all but the last can be in a rule
        }
        return count;
    }
};

template <std::size_t rule_count>
std::uint64_t join_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                         std::uint64_t* marks) {
    if constexpr (rule_count < most_packed_rules) {
        if (rules.size() > rule_count) {
            return join_pairs<rule_count + 1>(symbols, size, rules, marks);
        }
    }
    return Rules<rule_count>(rules).join(symbols, size, marks);
}

std::uint64_t join_some_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                              std::uint64_t* marks) {
    return join_pairs<1>(symbols, size, rules, marks);
}

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

std::uint64_t mark_runs(const std::uint8_t* symbols, std::size_t size, std::uint8_t symbol,
                        std::uint64_t* marks) {
    const Bytes d;
    const auto wanted = hn::Set(d, symbol);
    std::uint64_t count = 0;
    const auto mark = [&](const std::uint8_t* from, std::uint64_t& out) {
        out = equal_bits(d, from, wanted) & equal_bits(d, from + 1, wanted);
        count += static_cast<std::uint64_t>(std::popcount(out));
    };
    const std::size_t words = whole_words(size), done = words * word;
    for (std::size_t i = 0; i < words; ++i) {
        mark(symbols + i * word, marks[i]);
    }
    if (done < size) {
        const Tail tail(symbols + done, size - done);
        mark(tail.symbols, marks[words]);
    }
    return count;
}

// Four at a time are written, marks or not: a branch for each would often be mispredicted.
std::size_t list_marks(const std::uint64_t* marks, std::size_t words, std::uint32_t* places) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < words; ++i) {
        std::uint64_t bits = marks[i];
        const auto in_word = static_cast<std::size_t>(std::popcount(bits));
        const auto first = static_cast<std::uint32_t>(i * word);
        for (std::size_t done = 0; done < in_word; done += 4) {
            for (std::size_t k = 0; k < 4; ++k) {
                places[count + done + k] = first + static_cast<std::uint32_t>(std::countr_zero(bits));
                bits &= bits - 1;
            }
        }
        count += in_word;
    }
    return count;
}

// Keeps the symbols of one word whose bits are set; writes up to a word at `out`, which may lie before it.
HWY_INLINE std::size_t keep_word(const std::uint8_t* symbols, std::uint64_t kept, std::uint8_t* out) {
#if HWY_TARGET == HWY_AVX3_DL
    const Bytes d;  // 64 lanes; storing compressed bytes straight to memory is slow on some processors
    const auto mask = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&kept));
    hn::StoreU(hn::Compress(hn::LoadU(d, symbols), mask), d, out);
#else
    if (kept == ~std::uint64_t{0}) {
        std::memmove(out, symbols, word);
    } else {
        for (std::size_t i = 0; i < word; ++i) {
            *out = symbols[i];
            out += kept >> i & 1;
        }
    }
#endif
    return static_cast<std::size_t>(std::popcount(kept));
}

std::size_t drop_marked(std::uint8_t* symbols, std::size_t size, const std::uint64_t* marks) {
    const std::size_t words = whole_words(size), done = words * word;
    std::uint64_t carry = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < words; ++i) {
        kept += keep_word(symbols + i * word, ~(marks[i] << 1 | carry), symbols + kept);
        carry = marks[i] >> 63;
    }
    if (done < size) {
        const Tail tail(symbols + done, size - done);
        std::uint8_t out[word];
        const std::size_t padding = word - (size - done);
        const std::size_t left = keep_word(tail.symbols, ~(marks[words] << 1 | carry), out) - padding;
        std::memcpy(symbols + kept, out, left);
        kept += left;
    }
    return kept;
}

// A word of bits for each letter, and the counts are those of bits that two of them share.
void count_letter_pairs(const std::uint8_t* letters, std::size_t size, std::uint64_t* counts) {
    const Bytes d;
    const auto count = [&](const std::uint8_t* from) {
        std::uint64_t here[5], next[5];
        for (std::uint8_t letter = 0; letter < 5; ++letter) {
            here[letter] = equal_bits(d, from, hn::Set(d, letter));
            next[letter] = equal_bits(d, from + 1, hn::Set(d, letter));
        }
        for (std::size_t pair = 0; pair < 25; ++pair) {
            counts[pair] += static_cast<std::uint64_t>(std::popcount(here[pair / 5] & next[pair % 5]));
        }
    };
    const std::size_t words = whole_words(size), done = words * word;
    for (std::size_t i = 0; i < words; ++i) {
        count(letters + i * word);
    }
    if (done < size) {
        const Tail tail(letters + done, size - done);
        count(tail.symbols);
    }
}

}  // namespace bigbird::tokenizer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bigbird::tokenizer {

HWY_EXPORT(join_some_pairs);
HWY_EXPORT(mark_runs);
HWY_EXPORT(list_marks);
HWY_EXPORT(drop_marked);
HWY_EXPORT(count_letter_pairs);

std::uint64_t join_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                         std::uint64_t* marks) {
    BIGBIRD_EXPECTS(!rules.empty() && rules.size() <= most_packed_rules, "one rule to eight");
    return HWY_DYNAMIC_DISPATCH(join_some_pairs)(symbols, size, rules, marks);
}

std::uint64_t mark_runs(const std::uint8_t* symbols, std::size_t size, std::uint8_t symbol,
                        std::uint64_t* marks) {
    return HWY_DYNAMIC_DISPATCH(mark_runs)(symbols, size, symbol, marks);
}

std::size_t list_marks(const std::uint64_t* marks, std::size_t words, std::uint32_t* places) {
    return HWY_DYNAMIC_DISPATCH(list_marks)(marks, words, places);
}

std::size_t drop_marked(std::uint8_t* symbols, std::size_t size, const std::uint64_t* marks) {
    return HWY_DYNAMIC_DISPATCH(drop_marked)(symbols, size, marks);
}

void count_letter_pairs(const std::uint8_t* letters, std::size_t size, std::span<std::uint64_t, 25> counts) {
    HWY_DYNAMIC_DISPATCH(count_letter_pairs)(letters, size, counts.data());
}

}  // namespace bigbird::tokenizer
#endif
