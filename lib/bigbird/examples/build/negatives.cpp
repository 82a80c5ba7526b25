// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/negatives.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/choice.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace bigbird::examples {

namespace {

constexpr Choices<NegativeKind, 4> negative_choices{{{NegativeKind::random_bases, "random-bases"},
                                                     {NegativeKind::permuted, "permuted"},
                                                     {NegativeKind::shuffled, "shuffled"},
                                                     {NegativeKind::genomic, "genomic"}}};

/// The chosen pieces, in random order.
std::vector<std::size_t> choose_pieces(Rng& rng) {
    std::vector<std::size_t> pieces(negative_pieces);
    std::iota(pieces.begin(), pieces.end(), std::size_t{0});
    shuffle(pieces, rng);
    pieces.resize(negative_substituted);
    return pieces;
}

}  // namespace

std::string_view to_string(NegativeKind kind) {
    return word_of(negative_choices, kind);
}

NegativeKind parse_negative_kind(std::string_view text) {
    return parse_choice(negative_choices, "--negatives", text);
}

std::string make_negative(std::string_view positive, NegativeKind kind, Rng rng) {
    BIGBIRD_EXPECTS(positive.size() >= negative_pieces, "a window needs a letter for each piece");
    BIGBIRD_EXPECTS(kind != NegativeKind::genomic, "genomic negatives are drawn from the genome");
    if (kind == NegativeKind::shuffled) return genome::dinucleotide_shuffle(positive, rng);
    const auto start = [&](std::size_t piece) { return piece * positive.size() / negative_pieces; };
    const std::vector<std::size_t> chosen = choose_pieces(rng);
    std::string filling;
    for (const std::size_t piece : chosen)
        filling += positive.substr(start(piece), start(piece + 1) - start(piece));
    if (kind == NegativeKind::random_bases) {
        constexpr std::array bases{'A', 'C', 'G', 'T'};
        for (char& letter : filling)
            letter = bases[static_cast<std::size_t>(rng.between(0, 3))];
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

GenomicNegatives::GenomicNegatives(const genome::ReferenceGenome& reference, const rows::WindowBounds& bounds,
                                   double max_n_fraction, const genome::IntervalSet& zone,
                                   genome::IntervalSet avoided)
    : reference_(reference),
      bounds_(bounds),
      max_n_fraction_(max_n_fraction),
      zone_(zone.intervals()),
      avoided_(std::move(avoided)) {
    std::int64_t sum = 0;
    for (const genome::Interval& interval : zone_) {
        sum += interval.size();
        ends_.push_back(sum);
    }
}

GenomicNegatives::Window GenomicNegatives::draw(genome::Strand strand, Rng rng) const {
    constexpr int most_draws = 10'000;
    for (int i = 0; i < most_draws && !zone_.empty(); ++i) {
        const std::int64_t drawn = rng.between(0, ends_.back() - 1);
        const auto at =
            static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), drawn) - ends_.begin());
        const std::int64_t base = zone_[at].end - (ends_[at] - drawn);
        const genome::Interval window = rows::window_about_tss(zone_[at].contig, base, strand, bounds_);
        genome::Interval checked = window;
        if (window.begin < 0 || genome::place(checked, reference_) != genome::Fit::inside ||
            avoided_.overlaps(window))
            continue;
        std::string sequence = reference_.fetch(window);
        const double n = genome::n_fraction(sequence);
        if (n > max_n_fraction_ || n == 1.0) continue;
        return {window.contig,
                strand == genome::Strand::reverse ? genome::reverse_complement(sequence) : sequence, base};
    }
    throw ConfigError(
        "--negatives genomic: no window without a TSS was found among the training or held-out regions; hold "
        "out larger regions, or use shuffled");
}

}  // namespace bigbird::examples
