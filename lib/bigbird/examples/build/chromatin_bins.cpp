// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/chromatin_bins.hpp"

#include <algorithm>

namespace bigbird::examples {

void mark_covered_bins(std::span<const genome::Span> covered, std::int64_t size, std::int64_t count,
                       const std::function<void(std::int64_t)>& mark) {
    std::int64_t bin = -1, bases = 0;
    const auto close = [&] {
        if (bin >= 0 && bin < count && 2 * bases > size) mark(bin);
    };
    for (const genome::Span& span : covered) {
        for (std::int64_t next = span.begin / size; next * size < span.end; ++next) {
            if (next != bin) {
                close();
                bin = next;
                bases = 0;
            }
            bases += std::min(span.end, (next + 1) * size) - std::max(span.begin, next * size);
        }
    }
    close();
}

NCounter::NCounter(std::string_view dna) : length_(static_cast<std::int64_t>(dna.size())) {
    std::int64_t sum = 0;
    std::size_t begin = dna.find('N');
    while (begin != std::string_view::npos) {
        const std::size_t end = std::min(dna.find_first_not_of('N', begin), dna.size());
        runs_.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
        sums_.push_back(sum);
        sum += static_cast<std::int64_t>(end - begin);
        begin = dna.find('N', end);
    }
}

std::int64_t NCounter::before(std::int64_t position) const {
    const auto after =
        std::upper_bound(runs_.begin(), runs_.end(), position,
                         [](std::int64_t wanted, const genome::Span& run) { return wanted < run.begin; });
    if (after == runs_.begin()) return 0;
    const auto last = static_cast<std::size_t>(after - runs_.begin()) - 1;
    return sums_[last] + std::min(position, runs_[last].end) - runs_[last].begin;
}

std::int64_t NCounter::count(std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = std::clamp<std::int64_t>(begin, 0, length_),
                       last = std::clamp<std::int64_t>(end, 0, length_);
    return before(last) - before(first) + (end - begin) - (last - first);
}

}  // namespace bigbird::examples
