// SPDX-License-Identifier: Apache-2.0
// synthetic_genome BASES FASTA... > OUT
// A genome as large as asked for, for measurements where none is at hand: windows of real sequence, drawn
// from either strand; three tenths of them as they are, the others mutated (up to 25 % substitutions, an
// eighth as many insertions and deletions), in contigs of 100 Mb that begin with a run of N. The same
// arguments give the same bytes.
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using bigbird::Rng;

constexpr std::int64_t contig_length = 100'000'000, gap_length = 10'000;
constexpr std::size_t line_length = 60;
constexpr std::int64_t shortest = 2'000, longest = 50'000;
constexpr double most_substitutions = 0.25, share_untouched = 0.3;

std::string read_sequence(const std::vector<std::filesystem::path>& files) {
    std::string sequence;
    const auto genome = bigbird::genome::open_references(files);
    for (const auto& contig : genome->contigs()) {
        std::string dna = genome->fetch({contig.name, 0, contig.length});
        dna.erase(std::remove(dna.begin(), dna.end(), 'N'), dna.end());
        sequence += dna;
    }
    return sequence;
}

// Appends `window` with mutations, which lie apart as chance has it.
void append_mutated(const std::string& window, double rate, Rng& rng, std::string& out) {
    const double all = rate * 9 / 8;
    std::size_t place = 0;
    while (place < window.size()) {
        const double gap = all > 0 ? std::log(1 - rng.uniform()) / std::log(1 - all) : longest;
        const std::size_t end = std::min(window.size(), place + static_cast<std::size_t>(std::min(gap, 1e9)));
        out.append(window, place, end - place);
        if (end < window.size()) {
            const std::int64_t fate = rng.between(0, 17);
            if (fate != 0)  // 0: the base is lost
                out += "ACGT"[rng.between(0, 3)];
            if (fate == 1)  // one is gained
                out += window[end];
        }
        place = end + 1;
    }
}

class FastaWriter {
public:
    // True while the contig has room.
    bool write(const std::string& dna, std::int64_t room) {
        for (std::size_t i = 0; i < dna.size() && written_ < room; ++i, ++written_) {
            line_ += dna[i];
            if (line_.size() == line_length) end_line();
        }
        return written_ < room;
    }
    void begin_contig(int number) {
        if (!line_.empty()) end_line();
        std::printf(">%d\n", number);
        written_ = 0;
        write(std::string(static_cast<std::size_t>(gap_length), 'N'), gap_length);
    }
    std::int64_t written() const { return written_; }
    void end_line() {
        line_ += '\n';
        std::fwrite(line_.data(), 1, line_.size(), stdout);
        line_.clear();
    }

private:
    std::string line_;
    std::int64_t written_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: synthetic_genome BASES FASTA... > OUT\n");
        return 2;
    }
    const std::string real = read_sequence({argv + 2, argv + argc});
    const Rng seed = Rng(0).split("synthetic genome");
    FastaWriter writer;
    std::string mutated;
    int number = 0;
    for (std::int64_t left = std::atoll(argv[1]); left > 0; left -= writer.written()) {
        const std::int64_t room = std::min(left, contig_length);
        Rng rng = seed.split(static_cast<std::uint64_t>(++number));
        for (writer.begin_contig(number); writer.written() < room;) {
            const std::int64_t length = rng.between(shortest, longest);
            const auto begin =
                static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(real.size()) - length));
            std::string window = real.substr(begin, static_cast<std::size_t>(length));
            window = rng.between(0, 1) == 0 ? window : bigbird::genome::reverse_complement(window);
            const double share = rng.uniform();
            mutated.clear();
            append_mutated(window, share < share_untouched ? 0 : share * share * most_substitutions, rng,
                           mutated);
            writer.write(mutated, room);
        }
    }
    writer.end_line();
    return std::fflush(stdout) == 0 ? 0 : 74;
}
