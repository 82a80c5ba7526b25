// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/encoded_examples.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/genome/sequence.hpp"
#include "bigbird/scoring/window_encoder.hpp"

#include <algorithm>
#include <limits>

namespace bigbird::scoring {

namespace {

constexpr std::int64_t rows_a_task = 64;  // enough work for a thread to pick up at once

struct Encoded {
    std::vector<EncodedWindow> forward, reverse;
};

}  // namespace

EncodedExamples::EncodedExamples(const tasks::ExampleSet& examples, std::span<const std::int64_t> rows,
                                 const tokenizer::DnaTokenizer& tokenizer, std::int64_t max_tokens,
                                 bool both_strands, int threads)
    : wide_(tokenizer.vocab_size() > std::numeric_limits<std::uint16_t>::max()), both_strands_(both_strands) {
    const auto total = static_cast<std::int64_t>(rows.size());
    const auto encode_some = [&](std::int64_t task) {
        Encoded encoded;
        for (std::int64_t i = task * rows_a_task; i < std::min(total, (task + 1) * rows_a_task); ++i) {
            const std::string dna = examples.sequence(rows[static_cast<std::size_t>(i)]);
            encoded.forward.push_back(encode_window(dna, tokenizer, max_tokens));
            if (both_strands) {
                encoded.reverse.push_back(
                    encode_window(genome::reverse_complement(dna), tokenizer, max_tokens));
            }
        }
        return encoded;
    };
    Progress progress("Encoding windows", "windows", total);
    std::int64_t done = 0;
    const auto keep = [&](Encoded&& encoded) {
        stop_if_asked();
        for (std::size_t i = 0; i < encoded.forward.size(); ++i, ++done) {
            const EncodedWindow& forward = encoded.forward[i];
            if (forward.all_n()) {
                ++left_out_;
                continue;
            }
            rows_.push_back(rows[static_cast<std::size_t>(done)]);
            truncated_ += forward.truncated ? 1 : 0;
            append(forward.ids);
            if (both_strands) {
                append(encoded.reverse[i].ids);
            }
        }
        progress.update(done);
    };
    ordered_pipeline<Encoded>((total + rows_a_task - 1) / rows_a_task, threads, encode_some, keep);
    progress.finish();
}

void EncodedExamples::append(std::span<const std::int32_t> ids) {
    if (wide_) {
        wide_ids_.insert(wide_ids_.end(), ids.begin(), ids.end());
    } else {
        std::transform(ids.begin(), ids.end(), std::back_inserter(narrow_ids_),
                       [](std::int32_t id) { return static_cast<std::uint16_t>(id); });
    }
    offsets_.push_back(offsets_.back() + static_cast<std::int64_t>(ids.size()));
}

model::TokenSequence EncodedExamples::sequence(std::int64_t index, bool reverse) const {
    BIGBIRD_EXPECTS(!reverse || both_strands_, "the reverse complements were not encoded");
    const auto window = static_cast<std::size_t>(both_strands_ ? 2 * index + (reverse ? 1 : 0) : index);
    const auto begin = static_cast<std::ptrdiff_t>(offsets_[window]);
    const auto end = static_cast<std::ptrdiff_t>(offsets_[window + 1]);
    model::TokenSequence sequence;
    if (wide_) {
        sequence.ids.assign(wide_ids_.begin() + begin, wide_ids_.begin() + end);
    } else {
        sequence.ids.assign(narrow_ids_.begin() + begin, narrow_ids_.begin() + end);
    }
    return sequence;
}

}  // namespace bigbird::scoring
