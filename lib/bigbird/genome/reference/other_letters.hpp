// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bigbird::genome::detail {

/// What to do with the letters of a FASTA file that are no nucleotide codes: letters (and gaps: - . *) are
/// read as N, with one warning per file; anything else ends the work. Thread-safe.
class OtherLetters {
public:
    explicit OtherLetters(std::filesystem::path path) : path_(std::move(path)) {}

    /// Looks through `text`, bases of a contig from 0-based `begin` on with line ends between them, where the
    /// vector code saw something. Throws InputError at a byte that is neither letter nor gap.
    void look(std::string_view contig, std::int64_t begin, std::string_view text);
    /// check_and_normalise() for a complete contig without line ends.
    void check_and_normalise(std::string_view contig, std::string& bases);

private:
    std::filesystem::path path_;
    std::atomic<bool> said_{false};
};

}  // namespace bigbird::genome::detail
