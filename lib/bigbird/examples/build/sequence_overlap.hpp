// SPDX-License-Identifier: Apache-2.0
// What makes figures of labeled sequences better than they should be.
#pragma once

#include "bigbird/examples/sequence_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace bigbird::examples {

/// How much of a split is in training, too, on either strand.
struct Overlap {
    std::int64_t rows = 0;         ///< the split's rows
    std::int64_t in_train = 0;     ///< their sequence is one of train
    std::int64_t share_31mer = 0;  ///< 31 neighboring bases of theirs are in one of train; in_train or not
};
Overlap overlap_with_train(std::span<const SequenceExample> records, Split split);

/// Sequences that occur several times, as they are, with different classes, labels or numbers.
struct Contradictions {
    std::int64_t sequences = 0, records = 0;
    std::size_t first = 0, other = 0;  ///< two records of the first such sequence
};
Contradictions contradictions_in(std::span<const SequenceExample> records);

}  // namespace bigbird::examples
