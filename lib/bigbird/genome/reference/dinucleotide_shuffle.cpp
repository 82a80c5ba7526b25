// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace bigbird::genome {

namespace {

constexpr std::string_view letters = "ACGT";

/// For each letter its followers, in the order in which a walk will take them.
using Followers = std::array<std::vector<std::size_t>, letters.size()>;

/// Whether following the last follower of each letter always ends at `end`: then a walk uses all followers.
bool leads_to(const Followers& followers, std::size_t end) {
    for (std::size_t letter = 0; letter < followers.size(); ++letter) {
        std::size_t at = letter;
        for (std::size_t step = 0; step < followers.size() && at != end && !followers[at].empty(); ++step)
            at = followers[at].back();
        if (!followers[letter].empty() && at != end) return false;
    }
    return true;
}

/// `dna`: only A C G T.
std::string shuffled(std::string_view dna, Rng& rng) {
    Followers followers;
    for (std::size_t i = 0; i + 1 < dna.size(); ++i)
        followers[letters.find(dna[i])].push_back(letters.find(dna[i + 1]));
    const std::size_t end = letters.find(dna.back());
    do {
        for (std::vector<std::size_t>& each : followers)
            draw_to_front(each, each.empty() ? 0 : each.size() - 1, rng);
    } while (!leads_to(followers, end));
    std::array<std::size_t, letters.size()> taken{};
    std::string walk(1, dna.front());
    for (std::size_t at = letters.find(dna.front()); walk.size() < dna.size(); walk += letters[at])
        at = followers[at][taken[at]++];
    return walk;
}

}  // namespace

std::string dinucleotide_shuffle(std::string_view dna, Rng& rng) {
    std::string all;
    while (!dna.empty()) {
        const std::size_t run = std::min(dna.find('N'), dna.size());
        if (run > 0) all += shuffled(dna.substr(0, run), rng);
        const std::size_t next = std::min(dna.find_first_not_of('N', run), dna.size());
        all.append(next - run, 'N');
        dna.remove_prefix(next);
    }
    return all;
}

}  // namespace bigbird::genome
