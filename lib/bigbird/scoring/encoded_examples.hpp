// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/model/batching.hpp"
#include "bigbird/tasks/examples.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::scoring {

/// The windows of some rows of an example set as ids (encode_window), held compactly: two bytes a token
/// where the vocabulary allows it. Immutable once made; const calls are thread-safe.
class EncodedExamples {
public:
    /// Encodes `rows` on `threads` threads. Rows whose window is all N are left out. With
    /// `both_strands` the reverse complements are held too.
    EncodedExamples(const tasks::ExampleSet& examples, std::span<const std::int64_t> rows,
                    const tokenizer::DnaTokenizer& tokenizer, std::int64_t max_tokens, bool both_strands,
                    int threads);

    /// Windows held, and the row of the example set that each stands for, ascending as given.
    std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
    std::int64_t row(std::int64_t index) const { return rows_[static_cast<std::size_t>(index)]; }
    std::int64_t truncated() const { return truncated_; }
    std::int64_t left_out() const { return left_out_; }

    /// [CLS] and [SEP] included. `reverse` needs both strands.
    model::TokenSequence sequence(std::int64_t index, bool reverse = false) const;

private:
    void append(std::span<const std::int32_t> ids);

    bool wide_ = false;  ///< four bytes a token
    bool both_strands_ = false;
    std::vector<std::int64_t> rows_;
    std::vector<std::int64_t> offsets_{
        0};  ///< one window after the other; with both strands two for each row
    std::vector<std::uint16_t> narrow_ids_;
    std::vector<std::int32_t> wide_ids_;
    std::int64_t truncated_ = 0, left_out_ = 0;
};

}  // namespace bigbird::scoring
