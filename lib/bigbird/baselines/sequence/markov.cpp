// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/markov.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace bigbird::baselines {

namespace {

constexpr int highest_order = 12;
constexpr double trust_in_shorter = 16;  // contexts, over Witten and Bell's 1

int base_index(char base) {
    switch (base) {
        case 'A':
            return 0;
        case 'C':
            return 1;
        case 'G':
            return 2;
        case 'T':
            return 3;
        default:
            return -1;
    }
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

MarkovModel::MarkovModel(int order) : order_(order) {
    if (order < 0 || order > highest_order) {
        throw ConfigError("the order of a Markov model must be 0 to " + std::to_string(highest_order) +
                          ", not " + std::to_string(order));
    }
    for (int k = 0; k <= order; ++k) {
        counts_.emplace_back(std::size_t{1} << (2 * (k + 1)));
    }
}

void MarkovModel::add(std::string_view dna) {
    walk(dna, order_, [this](std::uint32_t context, int length, int base) {
        for (int k = 0; k <= length; ++k) {
            const std::uint32_t suffix = context & ((std::uint32_t{1} << (2 * k)) - 1);
            ++counts_[static_cast<std::size_t>(k)]
                     [(std::size_t{suffix} << 2) + static_cast<std::size_t>(base)];
        }
    });
}

// p_k(b|h) = (c(h b) + w(h) p_{k-1}(b|h')) / (c(h) + w(h)) with p_{-1} uniform and w(h) = 16 t(h), t(h) the
// number of different bases seen after h. Witten and Bell have w = t, which trusts rare contexts too much on
// DNA: of chromosome 1 by a model of chromosome 22 (5.7 Mb) order 11 then costs 2.37 bits a base, and 1.86
// so.
template <typename Visit>
void MarkovModel::probabilities(std::uint32_t context, int length, int base, Visit visit) const {
    double p = 0.25;
    bool known = true;
    for (int k = 0; k <= length; ++k) {
        const std::uint32_t suffix = context & ((std::uint32_t{1} << (2 * k)) - 1);
        const std::uint64_t* counts =
            counts_[static_cast<std::size_t>(k)].data() + (std::size_t{suffix} << 2);
        const std::uint64_t total = known ? counts[0] + counts[1] + counts[2] + counts[3] : 0;
        known = total > 0;  // else longer contexts were not seen either
        if (known) {
            const double weight = trust_in_shorter * static_cast<double>((counts[0] > 0) + (counts[1] > 0) +
                                                                         (counts[2] > 0) + (counts[3] > 0));
            p = (static_cast<double>(counts[base]) + weight * p) / (static_cast<double>(total) + weight);
        }
        visit(k, p);
    }
}

CodeLength MarkovModel::score(std::string_view dna) const {
    return score_all(dna).back();
}

std::vector<CodeLength> MarkovModel::score_all(std::string_view dna) const {
    std::vector<CodeLength> lengths(static_cast<std::size_t>(order_) + 1);
    const std::int64_t bases = walk(dna, order_, [&](std::uint32_t context, int known, int base) {
        double bits = 0;
        probabilities(context, known, base, [&](int k, double p) {
            bits = -std::log2(p);
            lengths[static_cast<std::size_t>(k)].bits += bits;
        });
        for (int k = known + 1; k <= order_; ++k) {  // at a start they have no more context
            lengths[static_cast<std::size_t>(k)].bits += bits;
        }
    });
    for (CodeLength& length : lengths) {
        length.bases = bases;
    }
    return lengths;
}

}  // namespace bigbird::baselines
