// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/token_ngram.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::baselines {

namespace {

/// Extends a hash of 64 bits, which two n-grams of one corpus practically never share.
std::uint64_t extended(std::uint64_t hash, std::int32_t id) {
    std::uint64_t value = (hash + static_cast<std::uint64_t>(id) + 1) * 0x9E3779B97F4A7C15ULL;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31);
}

std::uint64_t hash_of(std::span<const std::int32_t> ids) {
    std::uint64_t hash = 0;
    for (const std::int32_t id : ids)
        hash = extended(hash, id);
    return hash;
}

/// Calls visit(context, id) for each plain id; the context is the preceding plain ids, at most `most`.
template <typename Visit>
void walk(std::span<const std::int32_t> ids, const std::vector<bool>& plain, std::size_t most, Visit visit) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!plain[static_cast<std::size_t>(ids[i])]) {
            first = i + 1;
            continue;
        }
        const std::size_t length = std::min(most, i - first);
        visit(ids.subspan(i - length, length), ids[i]);
    }
}

}  // namespace

TokenNgram::TokenNgram(tokenizer::DnaTokenizer tokenizer, int n) : tokenizer_(std::move(tokenizer)), n_(n) {
    BIGBIRD_EXPECTS(n >= 1, "n of an n-gram");
    contexts_.resize(static_cast<std::size_t>(n));
    counts_.resize(static_cast<std::size_t>(n));
    for (std::int32_t id = 0; id < tokenizer_.vocab_size(); ++id) {
        plain_.push_back(tokenizer_.piece_length(id) > 0 && !tokenizer_.has_n(id));
        plain_count_ += plain_.back() ? 1 : 0;
    }
}

void TokenNgram::add(std::span<const std::int32_t> ids) {
    walk(
        ids, plain_, static_cast<std::size_t>(n_ - 1),
        [&](std::span<const std::int32_t> context, std::int32_t id) {
            for (std::size_t length = 0; length <= context.size(); ++length) {
                const std::uint64_t hash = hash_of(context.last(length));
                Context& seen = contexts_[length][hash];
                ++seen.total;
                seen.kinds += counts_[length][extended(hash, id)]++ == 0 ? 1U : 0U;
            }
        });
}

// p(w|h) = (c(h w) + t(h) p(w|h')) / (c(h) + t(h)), where t(h) is the number of different tokens seen after
// h. Without context, tokens are uniform.
double TokenNgram::probability(std::span<const std::int32_t> context, std::int32_t id) const {
    double p = 1.0 / plain_count_;
    for (std::size_t length = 0; length <= context.size(); ++length) {
        const std::uint64_t hash = hash_of(context.last(length));
        const auto seen = contexts_[length].find(hash);
        if (seen == contexts_[length].end()) break;  // longer contexts were not seen either
        const auto count = counts_[length].find(extended(hash, id));
        const double together = count == counts_[length].end() ? 0.0 : count->second;
        p = (together + seen->second.kinds * p) / (seen->second.total + seen->second.kinds);
    }
    return p;
}

CodeLength TokenNgram::score(std::span<const std::int32_t> ids) const {
    CodeLength length;
    walk(ids, plain_, static_cast<std::size_t>(n_ - 1),
         [&](std::span<const std::int32_t> context, std::int32_t id) {
             length.bits -= std::log2(probability(context, id));
             length.bases += tokenizer_.piece_length(id);
         });
    return length;
}

}  // namespace bigbird::baselines
