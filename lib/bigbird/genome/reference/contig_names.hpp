// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/interval.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::genome {

/// Finds contigs by any of their usual names: the exact name first, else an alias (`chr1`/`1`,
/// `chrM`/`M`/`MT`) if exactly one contig matches. Logs once which kind of alias it used, unless `says` is
/// false because the names were looked up before. Thread-safe.
class ContigNames {
public:
    explicit ContigNames(std::span<const Contig> contigs = {}, bool says = true);

    /// The contig's index, or nothing if it is unknown or ambiguous.
    std::optional<std::size_t> find(std::string_view name) const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Whether the contigs are numbered by Roman numerals (yeast, worms) and the names of an input by Arabic ones
/// (human, mouse). A name in both systems, such as X, is then not the same chromosome.
bool numbered_differently(std::span<const Contig> contigs, const std::set<std::string>& names);

}  // namespace bigbird::genome
