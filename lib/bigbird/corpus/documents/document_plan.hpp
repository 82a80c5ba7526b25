// SPDX-License-Identifier: Apache-2.0
// Documents as in the paper, appendix F.1: for each contig, `passes` times, a start drawn from start_offset,
// then documents of consecutive sentences until the contig ends.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/interval.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bigbird::corpus {

/// Both ends included.
struct Range {
    std::int64_t low = 0, high = 0;
};

struct DocumentSpec {
    int passes = 10;
    Range sentences{50, 100};          ///< a document
    Range sentence_length{500, 1000};  ///< bases
    Range start_offset{0, 5000};       ///< bases
    std::uint64_t seed = 0;
    /// Throws ConfigError naming the option that is out of range.
    void validate() const;
};

/// Half-open stretches of one contig, consecutive, in order.
struct DocumentPlan {
    std::vector<std::pair<std::int64_t, std::int64_t>> sentences;
};

/// The documents of one pass (from 0) over one contig, each starting where the one before it ends; together
/// they cover the contig from the start drawn to its end. A function of (spec, contig name and length, pass)
/// alone, so order and threads never matter.
///
/// At the contig's end the last sentence is cut, however short that leaves it, and the last document holds as
/// many sentences as there are. On a contig too short for it the start is drawn from what leaves at least the
/// shortest sentence, so that every contig of one base or more gives a document.
class DocumentPlanner {
public:
    DocumentPlanner(const genome::Contig& contig, const DocumentSpec& spec, int pass);
    /// The next document, or nothing behind the last.
    std::optional<DocumentPlan> next();

private:
    DocumentSpec spec_;
    std::int64_t length_, position_;
    Rng rng_;
};

/// All of them.
std::vector<DocumentPlan> plan_documents(const genome::Contig& contig, const DocumentSpec& spec, int pass);

}  // namespace bigbird::corpus
