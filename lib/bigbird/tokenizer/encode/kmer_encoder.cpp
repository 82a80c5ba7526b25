// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/kmer_encoder.hpp"

#include "bigbird/core/error.hpp"

#include <cstddef>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view letters = "ACGTN";
constexpr std::uint32_t n_code = 4;  // the one code that has this bit

std::uint32_t code_at(std::string_view dna, std::size_t position) {
    return letter_codes[static_cast<unsigned char>(dna[position])];
}

}  // namespace

KmerEncoder::KmerEncoder(int k) : k_(k) {
    if (k < 1 || k > longest) {
        throw ConfigError("k-mers have 1 to " + std::to_string(longest) + " letters, not " +
                          std::to_string(k));
    }
}

std::string KmerEncoder::spelling(std::int32_t id) const {
    if (id < first_kmer) return {letters[static_cast<std::size_t>(id - first_letter)]};
    std::string kmer(static_cast<std::size_t>(k_), 'A');
    auto code = static_cast<std::uint32_t>(id - first_kmer);
    for (auto letter = kmer.rbegin(); letter != kmer.rend(); ++letter, code >>= 2U)
        *letter = letters[code & 3U];
    return kmer;
}

Encoding KmerEncoder::encode(std::string_view dna, bool with_spans) const {
    Encoding encoding;
    const auto k = static_cast<std::size_t>(k_);
    encoding.ids.reserve(dna.size() / k + k);
    for (std::size_t i = 0; i < dna.size();) {
        std::uint32_t kmer = code_at(dna, i), seen = kmer;
        const std::int32_t letter = first_letter + static_cast<std::int32_t>(kmer);
        const bool fits = k > 1 && dna.size() - i >= k && kmer != n_code;
        for (std::size_t j = 1; fits && j < k; ++j) {
            const std::uint32_t code = code_at(dna, i + j);
            seen |= code;
            kmer = kmer << 2U | (code & 3U);
        }
        const bool whole = fits && (seen & n_code) == 0;
        const std::size_t length = whole ? k : 1;
        encoding.ids.push_back(whole ? first_kmer + static_cast<std::int32_t>(kmer) : letter);
        if (with_spans) encoding.spans.push_back({i, i + length});
        i += length;
    }
    return encoding;
}

}  // namespace bigbird::tokenizer
