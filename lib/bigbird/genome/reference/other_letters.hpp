// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/sequence.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bigbird::genome::detail {

/// Handles characters of a FASTA file that are not nucleotide codes: letters (and gaps: - . *) are read as N,
/// with one warning per file; any other character is an error. Thread-safe.
class OtherLetters {
public:
    explicit OtherLetters(std::filesystem::path path, LetterCase letter_case = LetterCase::upper)
        : path_(std::move(path)), letter_case_(letter_case) {}

    /// Checks `text`, in which the vector code found other characters: bases of a contig from 0-based `begin`
    /// on, with line ends. Throws InputError at a byte that is neither letter nor gap.
    void look(std::string_view contig, std::int64_t begin, std::string_view text);
    /// check_and_normalise() for a complete contig without line ends.
    void check_and_normalise(std::string_view contig, std::string& bases);

private:
    std::filesystem::path path_;
    LetterCase letter_case_;
    std::atomic<bool> said_{false};
};

}  // namespace bigbird::genome::detail
