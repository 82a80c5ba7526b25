// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/kmer_encoder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/nucleotide.hpp"

#include <array>
#include <cstddef>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view letters = "ACGTN";
constexpr std::uint32_t n_code = 4;  // the one code that has this bit

constexpr std::array<std::uint8_t, 256> letter_codes() {
    std::array<std::uint8_t, 256> codes{};
    for (std::size_t byte = 0; byte < codes.size(); ++byte)
        codes[byte] = static_cast<std::uint8_t>(letters.find(normalised_base(static_cast<char>(byte))));
    return codes;
}
constexpr std::array<std::uint8_t, 256> code_of = letter_codes();

std::uint32_t code_at(std::string_view dna, std::size_t position) {
    return code_of[static_cast<unsigned char>(dna[position])];
}

/// Calls emit(id, length) for each piece, from left to right.
template <typename Emit>
void for_each_piece(std::string_view dna, std::size_t k, const Emit& emit) {
    for (std::size_t i = 0; i < dna.size();) {
        std::uint32_t kmer = code_at(dna, i), seen = kmer;
        const std::int32_t letter = KmerEncoder::first_letter + static_cast<std::int32_t>(kmer);
        const bool fits = k > 1 && dna.size() - i >= k && kmer != n_code;
        for (std::size_t j = 1; fits && j < k; ++j) {
            const std::uint32_t code = code_at(dna, i + j);
            seen |= code;
            kmer = kmer << 2U | (code & 3U);
        }
        const bool whole = fits && (seen & n_code) == 0;
        emit(whole ? KmerEncoder::first_kmer + static_cast<std::int32_t>(kmer) : letter, whole ? k : 1);
        i += whole ? k : 1;
    }
}

}  // namespace

KmerEncoder::KmerEncoder(int k) : k_(k) {
    if (k < 1 || k > longest) {
        throw ConfigError("k-mers have 1 to " + std::to_string(longest) + " letters, not " +
                          std::to_string(k));
    }
}

std::int32_t KmerEncoder::vocab_size() const {
    return first_kmer + (k_ > 1 ? std::int32_t{1} << (2 * k_) : 0);
}

std::string KmerEncoder::spelling(std::int32_t id) const {
    if (id < first_kmer) return {letters[static_cast<std::size_t>(id - first_letter)]};
    std::string kmer(static_cast<std::size_t>(k_), 'A');
    auto code = static_cast<std::uint32_t>(id - first_kmer);
    for (auto letter = kmer.rbegin(); letter != kmer.rend(); ++letter, code >>= 2U)
        *letter = letters[code & 3U];
    return kmer;
}

std::vector<std::int32_t> KmerEncoder::encode(std::string_view dna) const {
    std::vector<std::int32_t> ids;
    const auto k = static_cast<std::size_t>(k_);
    ids.reserve(dna.size() / k + k);
    for_each_piece(dna, k, [&](std::int32_t id, std::size_t) { ids.push_back(id); });
    return ids;
}

Encoding KmerEncoder::encode_with_spans(std::string_view dna) const {
    Encoding encoding;
    std::size_t position = 0;
    for_each_piece(dna, static_cast<std::size_t>(k_), [&](std::int32_t id, std::size_t length) {
        encoding.ids.push_back(id);
        encoding.spans.push_back({position, position + length});
        position += length;
    });
    return encoding;
}

}  // namespace bigbird::tokenizer
