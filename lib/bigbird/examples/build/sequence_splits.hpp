// SPDX-License-Identifier: Apache-2.0
// Splits the records of a table without a split column into training, validation and test.
#pragma once

#include "bigbird/examples/example_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bigbird::examples {

// Finds problems of labeled sequences that make evaluations too optimistic: overlap between splits, and
// contradictions.

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

/// The value of --split-by: `column:NAME`, `fraction[:TRAIN,VALIDATION,TEST]` or `similarity[:…]`.
struct SplitRule {
    std::string column{};  ///< empty: by the shares
    std::array<double, 3> shares{0.8, 0.1, 0.1};
    bool similarity = false;
};
/// Throws ConfigError.
SplitRule parse_split_rule(std::string_view text);

/// Sets the split of each record by the rule's shares. Records of one group get the same, with `similarity`
/// also similar records: those that share at least a tenth of the 16-mers of the shorter one, on either
/// strand. Records without 16-mers are similar to none; if there are more than 2^26 16-mers, a sample of them
/// is used. Classes, or the first label of each record, are kept in proportion. The same seed gives the same
/// splits. Logs how many sets of records stay together.
void draw_splits(std::span<SequenceExample> records, const SplitRule& rule, std::uint64_t seed);

}  // namespace bigbird::examples
