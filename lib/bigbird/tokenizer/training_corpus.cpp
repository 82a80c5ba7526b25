// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/training_corpus.hpp"

#include "bigbird/core/base.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>

namespace bigbird::tokenizer {

namespace {

constexpr std::int64_t bases_a_letter = std::int64_t{1} << 24;
constexpr Symbol n_symbol = 4;

}  // namespace

TrainingCorpus::TrainingCorpus(std::uint64_t seed, std::size_t most_bases)
    : seed_(Rng(seed).split("sample").key()), most_bases_(most_bases) {}

bool TrainingCorpus::is_sampled(std::int64_t sentence) const {
    return threshold_ == std::numeric_limits<std::uint64_t>::max() ||
           Rng(seed_).split(static_cast<std::uint64_t>(sentence)).next() <= threshold_;
}

void TrainingCorpus::append(std::string_view sentence) {
    normalised_.resize(sentence.size());
    std::transform(sentence.begin(), sentence.end(), normalised_.begin(), normalised_base);
    const std::string_view dna = normalised_;
    for (std::size_t begin = dna.find_first_not_of('N'); begin != std::string_view::npos;) {
        const std::size_t end = std::min(dna.find('N', begin), dna.size());
        for (; begin < end; begin += std::min(longest_stretch, end - begin)) {
            places_.append(dna.substr(begin, std::min(longest_stretch, end - begin)));
        }
        begin = dna.find_first_not_of('N', end);
    }
}

void TrainingCorpus::add(std::string_view sentence) {
    const std::int64_t number = seen_++;
    if (!is_sampled(number)) {
        return;
    }
    const bool limited = most_bases_ != std::numeric_limits<std::size_t>::max();
    if (limited) {
        starts_.emplace_back(number, places_.size());
    }
    const std::size_t first = places_.size();
    append(sentence);
    ++sentences_;
    for (std::size_t place = first; place < places_.size(); ++place) {
        if (const Symbol symbol = places_.data()[place]; symbol < TokenArray::letters) {
            ++counts_[symbol];
        }
    }
    while (limited && places_.size() > most_bases_ && sentences_ > 1) {
        halve();
    }
}

void TrainingCorpus::halve() {
    threshold_ /= 2;
    std::vector<std::pair<std::int64_t, std::size_t>> kept;
    std::size_t target = 1;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
        const auto [number, begin] = starts_[i];
        const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1].second : places_.size();
        if (is_sampled(number)) {
            kept.emplace_back(number, target);
            places_.move_down(begin, end, target);
            target += end - begin;
        }
    }
    places_.truncate(target);
    starts_ = std::move(kept);
    sentences_ = static_cast<std::int64_t>(starts_.size());
    counts_.fill(0);
    for (std::size_t place = 0; place < places_.size(); ++place) {
        if (const Symbol symbol = places_.data()[place]; symbol < TokenArray::letters) {
            ++counts_[symbol];
        }
    }
}

std::int64_t TrainingCorpus::bases() const {
    std::int64_t bases = 0;
    for (Symbol letter = 0; letter < n_symbol; ++letter) {
        bases += counts_[letter];
    }
    return bases;
}

void TrainingCorpus::add_missing_letters() {
    const std::int64_t copies = bases() / bases_a_letter + 1;
    for (Symbol letter = 0; letter < TokenArray::letters; ++letter) {
        if (counts_[letter] == 0) {
            const char text = letter_of_symbol(letter);
            for (; counts_[letter] < copies; ++counts_[letter]) {
                places_.append({&text, 1});
            }
        }
    }
}

void TrainingCorpus::for_each_stretch(const std::function<bool(const std::string&)>& visit) const {
    for (StretchReader reader(places_); !reader.done() && visit(reader.stretch()); reader.next()) {
    }
}

void StretchReader::next() {
    done_ = place_ >= places_.size();
    stretch_.clear();
    while (place_ < places_.size() && places_.data()[place_] != TokenArray::separator) {
        stretch_ += letter_of_symbol(places_.data()[place_++]);
    }
    ++place_;
}

}  // namespace bigbird::tokenizer
