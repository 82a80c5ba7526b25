// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/baselines/sequence/markov.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace bigbird::baselines {

/// An n-gram model over a tokenizer's tokens, with all lower orders interpolated (Witten and Bell 1991), like
/// SRILM in the paper's Table 5. A token with letters other than A C G T breaks the context and is neither
/// counted nor scored. Stores counts in hash tables: about 30 bytes for each different n-gram of each order.
/// Const calls are thread-safe.
class TokenNgram {
public:
    /// `n`: tokens of the longest n-gram, at least 1.
    TokenNgram(tokenizer::DnaTokenizer tokenizer, int n);

    /// Counts a sequence; the context does not extend before its start.
    void add(std::span<const std::int32_t> ids);
    /// Code length of a sequence given what was counted so far.
    CodeLength score(std::span<const std::int32_t> ids) const;

private:
    struct Context {
        std::uint32_t total = 0, kinds = 0;
    };
    double probability(std::span<const std::int32_t> context, std::int32_t id) const;

    tokenizer::DnaTokenizer tokenizer_;
    int n_;
    std::vector<bool> plain_;  // by id
    double plain_count_ = 0;
    std::vector<std::unordered_map<std::uint64_t, Context>> contexts_;      // by length
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> counts_;  // by length of the context
};

}  // namespace bigbird::baselines
