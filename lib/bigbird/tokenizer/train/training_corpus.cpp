// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/training_corpus.hpp"

#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <cstring>

namespace bigbird::tokenizer {

namespace {

constexpr std::int64_t bases_per_letter = std::int64_t{1} << 24;
constexpr std::uint8_t n_symbol = 4;

// A C G T N only by arithmetic, which compilers vectorize: bits 1 and 2 of the letters are 0 1 3 2.
constexpr std::uint8_t number_of(char letter) {
    const auto base = static_cast<std::uint8_t>(normalised_base(letter));
    const auto bits = static_cast<std::uint8_t>(base >> 1 & 3);
    const std::uint8_t is_n = mask_if(base == 'N');
    return static_cast<std::uint8_t>((n_symbol & is_n) | ((bits ^ bits >> 1) & ~is_n));
}
static_assert(number_of('a') == 0 && number_of('C') == 1 && number_of('G') == 2 && number_of('u') == 3 &&
              number_of('T') == 3 && number_of('N') == n_symbol && number_of('x') == n_symbol);

}  // namespace

TrainingCorpus::TrainingCorpus(std::uint64_t seed, std::size_t most_bases)
    : seed_(Rng(seed).split("sample").key()), most_bases_(most_bases) {}

bool TrainingCorpus::is_sampled(std::int64_t sentence) const {
    return threshold_ == std::numeric_limits<std::uint64_t>::max() ||
           Rng(seed_).split(static_cast<std::uint64_t>(sentence)).next() <= threshold_;
}

void TrainingCorpus::append(std::string_view sentence) {
    letters_.resize(sentence.size());
    std::transform(
        sentence.begin(), sentence.end(), letters_.begin(), [](char base) { return number_of(base); });
    const auto is_n = [](std::uint8_t letter) { return letter == n_symbol; };
    for (auto begin = letters_.begin();;) {
        begin = std::find_if_not(begin, letters_.end(), is_n);
        if (begin == letters_.end()) return;
        const auto end = std::find(begin, letters_.end(), n_symbol);
        while (begin < end) {
            const std::size_t size = std::min(longest_stretch, static_cast<std::size_t>(end - begin));
            positions_.append(&*begin, size);
            begin += static_cast<std::ptrdiff_t>(size);
        }
    }
}

// Counts in bytes, so that compilers vectorize it.
void TrainingCorpus::count_letters(std::size_t from) {
    constexpr std::size_t block = 255;
    for (; from < positions_.size(); from += block) {
        const std::uint8_t* const begin = positions_.data() + from;
        const std::size_t size = std::min(block, positions_.size() - from);
        for (std::uint8_t letter = 0; letter < LetterArray::letters; ++letter) {
            std::uint8_t count = 0;
            for (std::size_t i = 0; i < size; ++i)
                count = static_cast<std::uint8_t>(count + (begin[i] == letter ? 1 : 0));
            counts_[letter] += count;
        }
    }
}

void TrainingCorpus::add(std::string_view sentence) {
    const std::int64_t number = seen_++;
    if (!is_sampled(number)) return;
    const bool limited = most_bases_ != std::numeric_limits<std::size_t>::max();
    if (limited) starts_.emplace_back(number, positions_.size());
    const std::size_t first = positions_.size();
    append(sentence);
    ++sentences_;
    count_letters(first);
    while (limited && positions_.size() > most_bases_ && sentences_ > 1)
        halve();
}

void TrainingCorpus::halve() {
    threshold_ /= 2;
    std::vector<std::pair<std::int64_t, std::size_t>> kept;
    std::size_t target = 1;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
        const auto [number, begin] = starts_[i];
        const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1].second : positions_.size();
        if (is_sampled(number)) {
            kept.emplace_back(number, target);
            positions_.move_down(begin, end, target);
            target += end - begin;
        }
    }
    positions_.truncate(target);
    starts_ = std::move(kept);
    sentences_ = static_cast<std::int64_t>(starts_.size());
    counts_.fill(0);
    count_letters(0);
}

std::int64_t TrainingCorpus::bases() const {
    std::int64_t bases = 0;
    for (Symbol letter = 0; letter < n_symbol; ++letter)
        bases += counts_[letter];
    return bases;
}

void TrainingCorpus::add_missing_letters() {
    const std::int64_t copies = bases() / bases_per_letter + 1;
    for (std::uint8_t letter = 0; letter < LetterArray::letters; ++letter)
        for (const bool missing = counts_[letter] == 0; missing && counts_[letter] < copies;
             ++counts_[letter])
            positions_.append(&letter, 1);
}

std::span<const std::uint8_t> next_stretch(const LetterArray& letters, std::size_t& position) {
    if (position >= letters.size()) return {};
    const std::uint8_t* const begin = letters.data() + position;
    const void* const separator = std::memchr(begin, LetterArray::separator, letters.size() - position);
    const std::span stretch(begin, static_cast<const std::uint8_t*>(separator));
    position += stretch.size() + 1;
    return stretch;
}

std::string text_of(std::span<const std::uint8_t> stretch) {
    std::string text(stretch.size(), ' ');
    std::ranges::transform(stretch, text.begin(), letter_of_symbol);
    return text;
}

}  // namespace bigbird::tokenizer
