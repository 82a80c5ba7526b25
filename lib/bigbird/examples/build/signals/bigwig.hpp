// SPDX-License-Identifier: Apache-2.0
// Reads bigWig (Kent et al., Bioinformatics 2010, 26:2204).
#pragma once

#include "bigbird/genome/reference/interval.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace bigbird::examples {

/// Receives an interval of a contig of the reference (by index) and the value of each of its bases. Intervals
/// of fragments may overlap.
using AddSignal = std::function<void(std::size_t contig, std::int64_t begin, std::int64_t end, double value)>;

/// Calls add() for every interval on `contigs` (by name or alias), in the order of the file's data, which
/// need not be the order of its contigs. NaN is no value, as for pyBigWig and deepTools. Returns the number
/// of intervals. If a contig is a slice of the file's, warns and reads it up to its end. A child process
/// reads. Throws InputError: a damaged file, an infinite value, contigs of other lengths, none in common.
std::int64_t read_bigwig(const std::filesystem::path& path, std::span<const genome::Contig> contigs,
                         const AddSignal& add);

}  // namespace bigbird::examples
