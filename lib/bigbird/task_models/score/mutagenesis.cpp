// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/mutagenesis.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/dinucleotide_shuffle.hpp"

#include <algorithm>
#include <limits>

namespace bigbird::task_models {

std::vector<Change> all_changes(std::string_view dna) {
    std::vector<Change> changes;
    for (std::size_t i = 0; i < dna.size(); ++i) {
        if (dna[i] == 'N') continue;
        for (std::uint8_t code = 0; code < letters_of_changes.size(); ++code)
            if (letters_of_changes[code] != dna[i]) changes.push_back({static_cast<std::int64_t>(i), code});
    }
    return changes;
}

std::vector<float> no_effects(std::string_view dna, std::size_t labels) {
    std::vector<float> effects;
    for (const char letter : dna)
        effects.insert(effects.end(), letters_of_changes.size() * labels,
                       letter == 'N' ? std::numeric_limits<float>::quiet_NaN() : 0.0F);
    return effects;
}

float effect_of(double ref, double alt, Quantity quantity, LinkFunction link) {
    return static_cast<float>(quantity == Quantity::difference ? alt - ref
                                                               : additive(alt, link) - additive(ref, link));
}

std::string with_stretch(const MutatedRow& row, const genome::Interval& window, std::int64_t at,
                         const MutagenesisSpec& spec, bool ends) {
    const auto& [contig, begin, end] = window;
    if (spec.deleted > 0) {
        const std::int64_t cut = std::clamp(at, begin, end);
        return row.sequence_of({contig, begin, cut}) +
               row.sequence_of({contig, cut + spec.deleted, ends ? end : end + spec.deleted});
    }
    const std::int64_t size = spec.shuffled;
    Rng rng = Rng(0).split("stretch-shuffles").split(contig).split(static_cast<std::uint64_t>(at));
    const std::string other = genome::dinucleotide_shuffle(row.sequence_of({contig, at, at + size}), rng);
    std::string dna = row.sequence_of(window);
    const std::int64_t first = std::max(at, begin), last = std::min(at + size, end);
    if (first < last) {
        dna.replace(static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - first), other,
                    static_cast<std::size_t>(first - at), static_cast<std::size_t>(last - first));
    }
    return dna;
}

}  // namespace bigbird::task_models
