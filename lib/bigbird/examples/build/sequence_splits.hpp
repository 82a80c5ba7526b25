// SPDX-License-Identifier: Apache-2.0
// Splits the records of a table without a split column into training, validation and test.
#pragma once

#include "bigbird/examples/sequence_writer.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {

/// The value of --split-by: `column:NAME`, `fraction[:TRAIN,VALIDATION,TEST]` or `similarity[:…]`.
struct SplitRule {
    std::string column;  ///< empty: by the shares
    std::array<double, 3> shares{0.8, 0.1, 0.1};
    bool similarity = false;
};
/// Throws ConfigError.
SplitRule parse_split_rule(std::string_view text);

/// Parses "train", "validation" or "test", or a common synonym: "training", "valid", "val", "dev", "testing".
std::optional<Split> split_word(std::string_view word);

/// Returns a cluster number per record. Records are in the same cluster if they are similar, directly or
/// through others. Two records are similar if they share at least a tenth of the 16-mers of the shorter one,
/// on either strand. Records without 16-mers are similar to none. If there are more than 2^26 16-mers, a
/// sample of them is used.
std::vector<std::size_t> similar_records(std::span<const SequenceExample> records);

/// Sets the split of each record by the shares. Records with equal `together` get the same. Classes, or the
/// first label of each record, are kept in proportion. The same seed gives the same splits.
void draw_splits(std::span<SequenceExample> records, std::span<const std::size_t> together,
                 const std::array<double, 3>& shares, std::uint64_t seed);

/// Numbers of sets that are joined one by one (union-find).
class JoinedSets {
public:
    explicit JoinedSets(std::size_t count);
    /// The number of the set that holds `element`.
    std::size_t find(std::size_t element);
    void join(std::size_t a, std::size_t b) { parents_[find(a)] = find(b); }

private:
    std::vector<std::size_t> parents_;
};

}  // namespace bigbird::examples
