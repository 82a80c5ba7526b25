// SPDX-License-Identifier: Apache-2.0
// Bases where reads were cut, on both strands together: what profile models learn to predict.
#pragma once

#include "bigbird/examples/build/signals/read_signal.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace bigbird::profiles {

/// Sorted positions by contig: 4 bytes per read end. Const calls are thread-safe.
class CutCounts {
public:
    explicit CutCounts(std::span<const genome::Contig> contigs);

    /// Adds a read end at a base; drops and counts one that is off its contig. In any order.
    void add(std::size_t contig, std::int64_t position);
    /// Sorts. Call it once, before the following.
    void finish();

    std::int64_t total() const { return total_; }
    std::int64_t dropped() const { return dropped_; }
    bool any_on(std::size_t contig) const { return !sites_[contig].empty(); }
    /// Number of read ends in [begin, end).
    std::int64_t count(std::size_t contig, std::int64_t begin, std::int64_t end) const;
    /// Read ends at each base from `begin` on; 0 beyond the contig.
    void copy(std::size_t contig, std::int64_t begin, std::span<float> counts) const;

private:
    std::span<const std::uint32_t> between(std::size_t contig, std::int64_t begin, std::int64_t end) const;

    std::vector<std::int64_t> lengths_;
    std::vector<std::vector<std::uint32_t>> sites_;
    std::int64_t total_ = 0, dropped_ = 0;
};

/// Cut sites, and what each of their files held.
struct ReadCuts {
    CutCounts sites;
    std::vector<examples::SignalRead> files;
};
/// Reads files of read_signal() and adds them up. Of bigWig and bedGraph, values are numbers of read ends per
/// base. Throws InputError as read_signal() does, for a value that is not a whole number, and if nothing is
/// left.
ReadCuts read_cut_counts(std::span<const std::filesystem::path> paths,
                         const genome::ReferenceGenome& reference, const examples::SignalReading& how);

}  // namespace bigbird::profiles
