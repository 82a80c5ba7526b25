// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace bigbird {

/// A splittable random generator: the n-th value of a stream is a fixed function of (seed, the names and
/// numbers it was split by, n). So any sentence, sample or mask can be computed on its own, on any thread, in
/// any order. SplitMix64 over a keyed counter; the values are part of the file formats' meaning and never
/// change within a major version. Cheap to copy; a copy continues from the same position.
class Rng {
public:
    explicit Rng(std::uint64_t seed);

    /// An independent stream named by text or by a number.
    Rng split(std::string_view stream) const;
    Rng split(std::uint64_t stream) const;

    std::uint64_t next();
    /// Uniform in [low, high], both included, without bias. Needs low <= high.
    std::int64_t between(std::int64_t low, std::int64_t high);
    /// Uniform in [0, 1), 53 bits.
    double uniform();
    /// Standard normal (Box-Muller, one value per call).
    double normal();

    /// The stream's key: for seeding another generator from this one.
    std::uint64_t key() const { return key_; }

private:
    std::uint64_t key_;
    std::uint64_t counter_ = 0;
};

/// Puts `count` items, drawn in random order, in front of the others (Fisher-Yates, from the first item on).
template <typename Items>
void draw_to_front(Items& items, std::size_t count, Rng& rng) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t other =
            rng.between(static_cast<std::int64_t>(i), static_cast<std::int64_t>(items.size()) - 1);
        std::swap(items[i], items[static_cast<std::size_t>(other)]);
    }
}

/// Puts items into random order (Fisher-Yates, from the last item on).
template <typename Items>
void shuffle(Items& items, Rng& rng) {
    for (std::size_t i = items.size(); i > 1; --i) {
        const std::int64_t other = rng.between(0, static_cast<std::int64_t>(i) - 1);
        std::swap(items[i - 1], items[static_cast<std::size_t>(other)]);
    }
}

}  // namespace bigbird
