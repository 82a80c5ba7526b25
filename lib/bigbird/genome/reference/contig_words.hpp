// SPDX-License-Identifier: Apache-2.0
// Contigs as the words that a ChildReader's process is told: name, length, name, length.
#pragma once

#include "bigbird/genome/reference/interval.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bigbird::genome {

inline std::vector<std::string> words_of(std::span<const Contig> contigs) {
    std::vector<std::string> words;
    for (const Contig& contig : contigs)
        words.insert(words.end(), {contig.name, std::to_string(contig.length)});
    return words;
}

inline std::vector<Contig> contigs_of(std::span<const std::string> words) {
    std::vector<Contig> contigs;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2)
        contigs.push_back({words[i], std::stoll(words[i + 1])});
    return contigs;
}

}  // namespace bigbird::genome
