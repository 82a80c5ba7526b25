// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motif_scanner.hpp"

namespace bigbird::bins {

namespace {

constexpr std::int64_t letters = 4, codes_per_position = 5;

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

MotifScanner::MotifScanner(std::span<const float> odds, std::int64_t width)
    : width_(width), odds_(index(width * codes_per_position)) {
    for (std::int64_t i = 0; i < width; ++i) {
        Both* const here = &odds_[index(i * codes_per_position)];
        Both* const there = &odds_[index((width - 1 - i) * codes_per_position)];
        float sum = 0;
        for (std::int64_t letter = 0; letter < letters; ++letter) {
            const float value = odds[index(i * letters + letter)];
            here[letter].forward = value;
            there[letters - 1 - letter].reverse = value;
            sum += value;
        }
        here[letters].forward = there[letters].reverse = sum / letters;
    }
}

Site MotifScanner::best(std::span<const std::uint8_t> codes) const {
    Site site;
    const std::int64_t last = std::ssize(codes) - width_;
    for (std::int64_t begin = 0; begin <= last; ++begin) {
        const std::uint8_t* const code = &codes[index(begin)];
        const Both* position = odds_.data();
        Both sum;
        for (std::int64_t i = 0; i < width_; ++i, position += codes_per_position) {
            sum.forward += position[code[i]].forward;
            sum.reverse += position[code[i]].reverse;
        }
        if (sum.forward > site.score) site = {sum.forward, begin, false};
        if (sum.reverse > site.score) site = {sum.reverse, begin, true};
    }
    return site;
}

}  // namespace bigbird::bins
