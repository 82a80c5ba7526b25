// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/interval.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::genome {

/// Sequence by coordinates. Const calls are thread-safe.
class ReferenceGenome {
public:
    virtual ~ReferenceGenome() = default;

    /// In the order of the file(s).
    virtual std::span<const Contig> contigs() const = 0;
    /// The contig's index by its name or an alias (ContigNames).
    virtual std::optional<std::size_t> find(std::string_view contig) const = 0;
    /// Normalised sequence (A C G T N) of exactly where.size() letters, N outside the contig. Throws
    /// InputError where the contig is unknown or the file cannot be read.
    virtual std::string fetch(const Interval& where) const = 0;
};

/// Opens FASTA files as one genome: plain, bgzip (random access by .fai/.gzi, read if fresh, else made in
/// memory, never written) or plain gzip (held in memory). Throws InputError: missing or empty file, no
/// header, truncated, a contig name that occurs twice.
std::unique_ptr<ReferenceGenome> open_references(std::span<const std::filesystem::path> fastas);
std::unique_ptr<ReferenceGenome> open_reference(const std::filesystem::path& fasta);

/// For tests and generated sequence; normalises.
std::unique_ptr<ReferenceGenome> in_memory_genome(std::vector<std::pair<std::string, std::string>> contigs);

}  // namespace bigbird::genome
