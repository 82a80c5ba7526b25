// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/meme.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/whole_file.hpp"
#include "bigbird/core/log.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

namespace bigbird::bins {

namespace {

constexpr std::size_t letters = 4;
using Shares = std::array<double, letters>;

/// How often a letter stands anywhere. Odds at a place are shares over that, and shares have the sum 1; both
/// strands were counted, so G and C are equally common, and A and T: the least squares of all places.
Shares background_of(std::span<const Motif> motifs) {
    double numerator = 0, denominator = 0;
    for (const Motif& motif : motifs) {
        for (std::size_t i = 0; i + letters <= motif.odds.size(); i += letters) {
            const auto times = [&](std::size_t letter) { return std::exp2(motif.odds[i + letter]); };
            const double at = (times(0) + times(3)) / 2, gc = (times(1) + times(2)) / 2;
            numerator += (1 - at) * (gc - at);
            denominator += (gc - at) * (gc - at);
        }
    }
    const double gc = denominator > 0 ? std::clamp(numerator / denominator, 0.01, 0.99) : 0.5;
    return {(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2};
}

std::string one_word(std::string text) {
    std::ranges::replace(text, ' ', '_');
    return text;
}

void write_motif(std::ostream& out, const Motif& motif, const std::string& label, const Shares& background,
                 std::size_t number) {
    out << "\nMOTIF motif_" << number << ' ' << one_word(label) << '\n'
        << fmt::format("letter-probability matrix: alength= 4 w= {} nsites= {}\n",
                       motif.odds.size() / letters, motif.sites);
    for (std::size_t i = 0; i + letters <= motif.odds.size(); i += letters) {
        Shares shares{};
        double sum = 0;
        for (std::size_t letter = 0; letter < letters; ++letter)
            sum += shares[letter] = background[letter] * std::exp2(motif.odds[i + letter]);
        for (const double share : shares)
            out << fmt::format(" {:.6f}", share / sum);
        out << '\n';
    }
}

}  // namespace

void write_meme(const std::filesystem::path& file, std::span<const Motif> motifs,
                std::span<const std::string> labels) {
    const Shares background = background_of(motifs);
    write_atomically(file, Overwrite::allow, [&](std::ostream& out) {
        out << "MEME version 4\n\nALPHABET= ACGT\n\nstrands: + -\n\nBackground letter frequencies\n"
            << fmt::format("A {:.4f} C {:.4f} G {:.4f} T {:.4f}\n", background[0], background[1],
                           background[2], background[3]);
        for (std::size_t i = 0; i < motifs.size(); ++i)
            write_motif(out, motifs[i], labels[static_cast<std::size_t>(motifs[i].label)], background, i + 1);
    });
}

std::vector<MemeMotif> read_meme(const std::filesystem::path& file) {
    std::istringstream text(read_whole_file(file));
    std::vector<MemeMotif> motifs;
    std::int64_t number = 0, places = 0;
    for (std::string line; std::getline(text, line);) {
        ++number;
        std::istringstream words(line);
        std::string word;
        if (places > 0) {
            Shares& shares = motifs.back().shares.emplace_back();
            if (!(words >> shares[0] >> shares[1] >> shares[2] >> shares[3]))
                throw InputError("is no line of four letters' probabilities", file, number);
            --places;
        } else if (words >> word; word == "MOTIF") {
            words >> word >> motifs.emplace_back().label;
        } else if (word == "letter-probability" && !motifs.empty()) {
            for (; words >> word;) {
                if (word == "w=") words >> places;
                if (word == "nsites=") words >> motifs.back().sites;
            }
        }
    }
    if (places > 0) throw InputError("ends within a motif", file, number);
    return motifs;
}

}  // namespace bigbird::bins
