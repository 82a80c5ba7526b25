// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/rng.hpp"

#include "bigbird/core/check.hpp"

#include <cmath>
#include <numbers>

namespace bigbird {

namespace {

constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15ULL;

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : key_(mix(seed + golden_gamma)) {}

Rng Rng::split(std::string_view stream) const {
    std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
    for (const char letter : stream)
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
    return split(hash ^ (std::uint64_t{stream.size()} << 56));
}

Rng Rng::split(std::uint64_t stream) const {
    Rng child(0);
    child.key_ = mix(key_ ^ mix(stream + golden_gamma));
    return child;
}

std::uint64_t Rng::next() {
    return mix(key_ + golden_gamma * ++counter_);
}

std::int64_t Rng::between(std::int64_t low, std::int64_t high) {
    BIGBIRD_EXPECTS(low <= high, "between() needs low <= high");
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    if (span == 0) return static_cast<std::int64_t>(next());
    const std::uint64_t rejected = (0 - span) % span;  // values below it would be too likely
    std::uint64_t value = next();
    while (value < rejected)
        value = next();
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + value % span);
}

double Rng::uniform() {
    return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

double Rng::normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace bigbird
