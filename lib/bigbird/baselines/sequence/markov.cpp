// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/markov.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <string>

namespace bigbird::baselines {

namespace {

constexpr int highest_order = 12;

int checked(int order) {
    if (order < 0 || order > highest_order) {
        throw ConfigError("the order of a Markov model must be 0 to " + std::to_string(highest_order) +
                          ", not " + std::to_string(order));
    }
    return order;
}

// Calls visit(context, length, base) for each A C G T; context holds the `length` <= order bases before it,
// two bits each.
template <typename Visit>
std::int64_t walk(std::string_view dna, int order, Visit visit) {
    const std::uint32_t mask = (std::uint32_t{1} << (2 * order)) - 1;
    std::uint32_t context = 0;
    int length = 0;
    std::int64_t bases = 0;
    for (const char letter : dna) {
        const int base = base_index(letter);
        if (base < 0) {
            length = 0;
            context = 0;
            continue;
        }
        visit(context, length, base);
        context = ((context << 2) | static_cast<std::uint32_t>(base)) & mask;
        length = std::min(length + 1, order);
        ++bases;
    }
    return bases;
}

}  // namespace

MarkovModel::MarkovModel(int order) : counts_(checked(order)) {}

void MarkovModel::add(std::string_view dna) {
    walk(
        dna, order(),
        [this](std::uint32_t context, int length, int base) { counts_.add(context, length, base); });
}

CodeLength MarkovModel::score(std::string_view dna) const {
    return score_all(dna).back();
}

std::vector<CodeLength> MarkovModel::score_all(std::string_view dna) const {
    std::vector<CodeLength> lengths(static_cast<std::size_t>(order()) + 1);
    const std::int64_t bases = walk(dna, order(), [&](std::uint32_t context, int length, int base) {
        counts_.add_bits(context, length, base, lengths);
    });
    for (CodeLength& length : lengths)
        length.bases = bases;
    return lengths;
}

}  // namespace bigbird::baselines
