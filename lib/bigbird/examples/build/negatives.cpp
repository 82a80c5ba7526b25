// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/negatives.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace bigbird::examples {

namespace {

template <typename Items>
void shuffle(Items& items, Rng& rng) {
    for (std::size_t i = items.size(); i > 1; --i) {
        std::swap(items[i - 1],
                  items[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(i) - 1))]);
    }
}

/// Of the pieces, in random order.
std::vector<std::size_t> choose_pieces(Rng& rng) {
    std::vector<std::size_t> pieces(negative_pieces);
    std::iota(pieces.begin(), pieces.end(), std::size_t{0});
    shuffle(pieces, rng);
    pieces.resize(negative_substituted);
    return pieces;
}

}  // namespace

std::string_view to_string(NegativeKind kind) {
    switch (kind) {
        case NegativeKind::random_bases:
            return "random-bases";
        case NegativeKind::permuted:
            return "permuted";
        case NegativeKind::genomic:
            return "genomic";
    }
    return "genomic";
}

NegativeKind parse_negative_kind(std::string_view text) {
    for (const NegativeKind kind :
         {NegativeKind::random_bases, NegativeKind::permuted, NegativeKind::genomic}) {
        if (text == to_string(kind)) {
            return kind;
        }
    }
    throw ConfigError("--negatives '" + std::string(text) +
                      "' is unknown; write random-bases, permuted or genomic");
}

std::string make_negative(std::string_view positive, NegativeKind kind, Rng rng) {
    BIGBIRD_EXPECTS(positive.size() >= negative_pieces, "a window needs a letter for each piece");
    BIGBIRD_EXPECTS(kind != NegativeKind::genomic, "genomic negatives are drawn from the genome");
    const auto start = [&](std::size_t piece) { return piece * positive.size() / negative_pieces; };
    const std::vector<std::size_t> chosen = choose_pieces(rng);
    std::string filling;
    for (const std::size_t piece : chosen) {
        filling += positive.substr(start(piece), start(piece + 1) - start(piece));
    }
    if (kind == NegativeKind::random_bases) {
        constexpr std::array bases{'A', 'C', 'G', 'T'};
        for (char& letter : filling) {
            letter = bases[static_cast<std::size_t>(rng.between(0, 3))];
        }
    }
    std::vector<std::size_t> places = chosen;
    std::sort(places.begin(), places.end());
    std::string negative(positive);
    std::size_t taken = 0;
    for (const std::size_t place : places) {
        const std::size_t size = start(place + 1) - start(place);
        negative.replace(start(place), size, filling, taken, size);
        taken += size;
    }
    return negative;
}

}  // namespace bigbird::examples
