// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/text_sketch.hpp"

#include "bigbird/tokenizer/encode/kmer_encoder.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view prefix = "minhash of 32-mers:";
constexpr std::size_t most_hashes = 1000;
constexpr int letters_of_a_word = 32, hexadecimal = 16;
constexpr std::ptrdiff_t fewest_to_judge = 3;

constexpr std::uint64_t hash_of(std::uint64_t word) {
    return (word ^ word >> 32) * 0xBF58476D1CE4E5B9U;
}

}  // namespace

TextSketch TextSketch::parse(std::string_view text) {
    TextSketch sketch;
    if (!text.starts_with(prefix)) return sketch;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data() + prefix.size(); at < end; ++at) {
        std::uint64_t hash = 0;
        at = std::from_chars(at, end, hash, hexadecimal).ptr;
        sketch.hashes_.insert(hash);
    }
    return sketch;
}

std::string TextSketch::text() const {
    std::string text(prefix);
    for (const std::uint64_t hash : hashes_) {
        char digits[letters_of_a_word / 2];
        if (hash != *hashes_.begin()) text += ' ';
        text.append(digits, std::to_chars(std::begin(digits), std::end(digits), hash, hexadecimal).ptr);
    }
    return text;
}

std::uint64_t TextSketch::largest() const {
    return hashes_.size() < most_hashes ? std::numeric_limits<std::uint64_t>::max() : *hashes_.rbegin();
}

void TextSketch::add(std::string_view sentence) {
    std::uint64_t forward = 0, reverse = 0, limit = largest();
    int letters = 0;
    for (const char letter : sentence) {
        const std::uint64_t code = letter_codes[static_cast<unsigned char>(letter)];
        forward = forward << 2 | (code & 3U);
        reverse = reverse >> 2 | (~code & 3U) << 62;
        letters = code > 3 ? 0 : letters + 1;
        const std::uint64_t hash = hash_of(std::min(forward, reverse));
        if (hash >= limit || letters < letters_of_a_word) continue;
        hashes_.insert(hash);
        if (hashes_.size() > most_hashes) hashes_.erase(std::prev(hashes_.end()));
        limit = largest();
    }
}

bool TextSketch::holds(const TextSketch& part) const {
    const std::uint64_t limit = std::min(largest(), part.largest());
    std::ptrdiff_t judged = 0, found = 0;
    for (auto hash = part.hashes_.begin(); hash != part.hashes_.end() && *hash <= limit; ++hash, ++judged)
        found += hashes_.contains(*hash) ? 1 : 0;
    return found >= fewest_to_judge && 2 * found > judged;
}

}  // namespace bigbird::tokenizer
