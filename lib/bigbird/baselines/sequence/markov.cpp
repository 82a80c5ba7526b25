// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/markov.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::baselines {

namespace {

constexpr double trust_in_shorter = 16;  // weight factor of shorter contexts; Witten and Bell use 1

std::size_t place_of(std::uint32_t context, int order) {
    return std::size_t{context & ((std::uint32_t{1} << (2 * order)) - 1)} << 2;
}

}  // namespace

int base_index(char base) {
    const std::size_t index = std::string_view("ACGT").find(base);
    return index == std::string_view::npos ? -1 : static_cast<int>(index);
}

ContextCounts::ContextCounts(int order) : order_(order) {
    BIGBIRD_EXPECTS(order >= 0 && order <= highest_order, "an order whose counters can be held");
    for (int k = 0; k <= order; ++k)
        counts_.emplace_back(std::size_t{1} << (2 * (k + 1)));
}

void ContextCounts::add(std::uint32_t context, int length, int base) {
    for (int k = 0; k <= length; ++k)
        ++counts_[static_cast<std::size_t>(k)][place_of(context, k) + static_cast<std::size_t>(base)];
}

// p_k(b|h) = (c(h b) + w(h) p_{k-1}(b|h')) / (c(h) + w(h)) with p_{-1} uniform and w(h) = 16 t(h), t(h) the
// number of different bases seen after h. Witten and Bell have w = t, which trusts rare contexts too much on
// DNA. For example, chromosome 1 under a model of order 11 trained on chromosome 22 (5.7 Mb) has 2.37 bits
// per base with w = t, and 1.86 here.
void ContextCounts::add_bits(std::uint32_t context, int length, int base,
                             std::vector<CodeLength>& lengths) const {
    double p = 0.25, bits = 0;
    bool known = true;
    for (int k = 0; k <= order_; ++k) {
        const std::uint64_t* counts =
            counts_[static_cast<std::size_t>(k)].data() + (k <= length ? place_of(context, k) : 0);
        const std::uint64_t total = known && k <= length ? counts[0] + counts[1] + counts[2] + counts[3] : 0;
        known = total > 0;  // otherwise longer contexts were not seen either
        if (known) {
            const double weight = trust_in_shorter * static_cast<double>((counts[0] > 0) + (counts[1] > 0) +
                                                                         (counts[2] > 0) + (counts[3] > 0));
            p = (static_cast<double>(counts[base]) + weight * p) / (static_cast<double>(total) + weight);
        }
        bits = k == 0 || known ? -std::log2(p) : bits;
        lengths[static_cast<std::size_t>(k)].bits += bits;
    }
}

namespace {

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

void MarkovModel::add(std::string_view dna) {
    walk(
        dna, order(),
        [this](std::uint32_t context, int length, int base) { counts_.add(context, length, base); });
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

namespace {

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
std::int64_t walk_both_sides(std::string_view dna, int order, Visit visit) {
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

void TwoSidedModel::add(std::string_view dna) {
    walk_both_sides(
        dna, counts_.order(),
        [this](const Context& context, int base) { counts_.add(context.bases, context.length, base); });
}

std::vector<CodeLength> TwoSidedModel::score_all(std::string_view dna) const {
    std::vector<CodeLength> orders(static_cast<std::size_t>(counts_.order()) + 1), reaches;
    const std::int64_t bases = walk_both_sides(dna, counts_.order(), [&](const Context& context, int base) {
        counts_.add_bits(context.bases, context.length, base, orders);
    });
    for (std::size_t order = 0; order < orders.size(); order += 2)
        reaches.push_back({orders[order].bits, bases});
    return reaches;
}

}  // namespace bigbird::baselines
