// SPDX-License-Identifier: Apache-2.0
// Splits the records of a table without a split column into training, validation and test.
#pragma once

#include "bigbird/examples/example_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {

/// Calls visit(kmer) for each k-mer without N of a normalized sequence. A k-mer is a number of two bits per
/// letter, the smaller one of both strands. 1 <= k <= 31.
template <typename Visit>
void for_each_kmer(std::string_view dna, int k, const Visit& visit) {
    const std::uint64_t mask = (std::uint64_t{1} << (2 * k)) - 1;
    std::uint64_t forward = 0, reverse = 0;
    int known = 0;  // letters since the last N
    for (const char letter : dna) {
        const std::size_t code = std::string_view("ACGT").find(letter);
        if (code == std::string_view::npos) {
            known = 0;
            continue;
        }
        forward = (forward << 2 | code) & mask;
        reverse = reverse >> 2 | (std::uint64_t{3} - code) << (2 * (k - 1));
        if (++known >= k) visit(forward < reverse ? forward : reverse);
    }
}

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
    std::string column;  ///< empty: by the shares
    std::array<double, 3> shares{0.8, 0.1, 0.1};
    bool similarity = false;
};
/// Throws ConfigError.
SplitRule parse_split_rule(std::string_view text);

/// Parses "train", "validation" or "test", or a common synonym: "training", "valid", "val", "dev", "testing".
std::optional<Split> split_word(std::string_view word);

/// Numbers of sets that are joined one by one (union-find).
class JoinedSets {
public:
    explicit JoinedSets(std::size_t count) : parents_(count) {
        std::iota(parents_.begin(), parents_.end(), std::size_t{0});
    }
    /// The number of the set that holds `element`.
    std::size_t find(std::size_t element) {
        while (parents_[element] != element)
            element = parents_[element] = parents_[parents_[element]];
        return element;
    }
    void join(std::size_t a, std::size_t b) { parents_[find(a)] = find(b); }

private:
    std::vector<std::size_t> parents_;
};

/// Joins the sets of similar records, by their indices. Two records are similar if they share at least a
/// tenth of the 16-mers of the shorter one, on either strand. Records without 16-mers are similar to none. If
/// there are more than 2^26 16-mers, a sample of them is used.
void join_similar(std::span<const SequenceExample> records, JoinedSets& sets);

/// Sets the split of each record by the shares. Records with equal `together` get the same. Classes, or the
/// first label of each record, are kept in proportion. The same seed gives the same splits.
void draw_splits(std::span<SequenceExample> records, std::span<const std::size_t> together,
                 const std::array<double, 3>& shares, std::uint64_t seed);

}  // namespace bigbird::examples
