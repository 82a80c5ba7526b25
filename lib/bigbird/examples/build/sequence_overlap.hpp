// SPDX-License-Identifier: Apache-2.0
// Finds problems of labeled sequences that make evaluations too optimistic: overlap between splits, and
// contradictions.
#pragma once

#include "bigbird/examples/sequence_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace bigbird::examples {

/// How much of a split is also in training, on either strand.
struct Overlap {
    std::int64_t rows = 0;         ///< the split's rows
    std::int64_t in_train = 0;     ///< rows whose sequence is also in train
    std::int64_t share_31mer = 0;  ///< rows that share a 31-mer with a row of train, including in_train
};
Overlap overlap_with_train(std::span<const SequenceExample> records, Split split);

/// Sequences that occur several times, as they are, with different classes, labels or numbers.
struct Contradictions {
    std::int64_t sequences = 0, records = 0;
    std::size_t first = 0, other = 0;  ///< two records of the first such sequence
};
Contradictions contradictions_in(std::span<const SequenceExample> records);

}  // namespace bigbird::examples
