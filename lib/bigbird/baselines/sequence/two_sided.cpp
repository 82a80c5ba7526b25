// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/two_sided.hpp"

#include "bigbird/core/error.hpp"

#include <cstdint>
#include <string>

namespace bigbird::baselines {

namespace {

constexpr int longest_reach = 6;

int order_of(int reach) {
    if (reach < 0 || reach > longest_reach) {
        throw ConfigError("the reach of a two-sided model must be 0 to " + std::to_string(longest_reach) +
                          ", not " + std::to_string(reach));
    }
    return 2 * reach;
}

struct Context {
    std::uint32_t bases = 0;
    int length = 0;
};

/// The neighbors of dna[at], nearest first, up to the first that is not A C G T.
Context context_of(std::string_view dna, std::size_t at, int order) {
    Context context;
    for (; context.length < order; ++context.length) {
        const auto distance = static_cast<std::size_t>(context.length) / 2 + 1;
        const bool before = context.length % 2 == 0;
        if (before ? distance > at : at + distance >= dna.size()) break;
        const int base = base_index(dna[before ? at - distance : at + distance]);
        if (base < 0) break;
        context.bases |= static_cast<std::uint32_t>(base) << (2 * context.length);
    }
    return context;
}

/// Calls visit(context, base) for each A C G T.
template <typename Visit>
std::int64_t walk(std::string_view dna, int order, Visit visit) {
    std::int64_t bases = 0;
    for (std::size_t at = 0; at < dna.size(); ++at) {
        const int base = base_index(dna[at]);
        if (base < 0) continue;
        visit(context_of(dna, at, order), base);
        ++bases;
    }
    return bases;
}

}  // namespace

TwoSidedModel::TwoSidedModel(int reach) : counts_(order_of(reach)) {}

void TwoSidedModel::add(std::string_view dna) {
    walk(
        dna, counts_.order(),
        [this](const Context& context, int base) { counts_.add(context.bases, context.length, base); });
}

std::vector<CodeLength> TwoSidedModel::score_all(std::string_view dna) const {
    std::vector<CodeLength> orders(static_cast<std::size_t>(counts_.order()) + 1), reaches;
    const std::int64_t bases = walk(dna, counts_.order(), [&](const Context& context, int base) {
        counts_.add_bits(context.bases, context.length, base, orders);
    });
    for (std::size_t order = 0; order < orders.size(); order += 2)
        reaches.push_back({orders[order].bits, bases});
    return reaches;
}

}  // namespace bigbird::baselines
