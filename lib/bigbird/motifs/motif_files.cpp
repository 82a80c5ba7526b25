// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/motif_files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <ostream>
#include <sstream>
#include <string_view>

namespace bigbird::motifs {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view letters = "ACGT";
constexpr std::int64_t assumed_sites = 100;  // number of sites for written counts, if it is unknown

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

/// The lines of a file that are not empty, as words, with their numbers for errors.
class Lines {
public:
    explicit Lines(const fs::path& file) : file_(file), text_(read_whole_file(file)) {}

    bool next() {
        for (std::string line; std::getline(text_, line);) {
            ++number_;
            words_ = words_of(line);
            if (!words_.empty() && !words_.front().starts_with('#')) return true;
        }
        words_.clear();
        return false;
    }
    const std::vector<std::string>& words() const { return words_; }
    std::string word(std::size_t index) const { return index < words_.size() ? words_[index] : ""; }
    [[noreturn]] void fail(const std::string& what) const { throw InputError(what, file_, number_); }

    double number(const std::string& word) const {
        const auto value = parse_number<double>(word);
        if (!value || !std::isfinite(*value) || *value < 0) fail("'" + word + "' is no count or probability");
        return *value;
    }

private:
    fs::path file_;
    std::istringstream text_;
    std::int64_t number_ = 0;
    std::vector<std::string> words_;
};

double sum_of(const Shares& column) {
    return std::accumulate(column.begin(), column.end(), 0.0);
}

/// Converts counts to shares. Returns the sum of the column's counts.
double normalise(Shares& column, std::size_t position, const Lines& lines) {
    const double sum = sum_of(column);
    if (!(sum > 0)) lines.fail(fmt::format("position {} of the motif has no counts", position + 1));
    for (double& share : column)
        share /= sum;
    return sum;
}

// ---- MEME

/// The value after "alength=", with or without a blank between.
std::optional<std::string> value_of(const Lines& lines, const std::string& name) {
    const auto& words = lines.words();
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == name) return lines.word(i + 1);
        if (words[i].starts_with(name)) return words[i].substr(name.size());
    }
    return std::nullopt;
}

void read_alphabet(const Lines& lines) {
    const std::string alphabet = lines.word(0) == "ALPHABET=" ? lines.word(1) : lines.word(0).substr(9);
    if (alphabet != letters)
        lines.fail("the alphabet is '" + alphabet + "', and motifs of DNA (ACGT) are needed");
}

void read_background(Lines& lines, Shares& background) {
    for (std::size_t found = 0; found < letters.size();) {
        if (!lines.next()) lines.fail("ends within the background's letter frequencies");
        for (std::size_t i = 0; i < lines.words().size() && found < letters.size(); i += 2, ++found) {
            if (lines.word(i) != std::string(1, letters[found]))
                lines.fail("the background has frequencies of A C G T in this order");
            background[found] = lines.number(lines.word(i + 1));
        }
    }
    if (std::abs(sum_of(background) - 1) > 0.01 || std::ranges::find(background, 0.0) != background.end())
        lines.fail("the background's frequencies are above 0 and sum to 1");
    normalise(background, 0, lines);
}

void read_matrix(Lines& lines, Motif& motif) {
    if (value_of(lines, "alength=").value_or("4") != "4")
        lines.fail("the matrix has no four letters, and motifs of DNA (ACGT) are needed");
    const auto width = parse_number<std::int64_t>(value_of(lines, "w=").value_or(""));
    if (!width || *width < 1) lines.fail("the matrix has no w= that says its columns, 1 at least");
    const std::string sites = value_of(lines, "nsites=").value_or("0");
    motif.sites = std::llround(lines.number(sites));
    for (std::int64_t i = 0; i < *width; ++i) {
        if (!lines.next()) lines.fail("ends within a motif");
        if (lines.words().size() != letters.size()) lines.fail("is no line of four letters' probabilities");
        Shares& column = motif.shares.emplace_back();
        for (std::size_t letter = 0; letter < letters.size(); ++letter)
            column[letter] = lines.number(lines.word(letter));
        if (const double sum = normalise(column, static_cast<std::size_t>(i), lines);
            std::abs(sum - 1) > 0.01)
            lines.fail(fmt::format("the four letters' probabilities sum to {:.4g}, not to 1", sum));
    }
}

MotifSet read_meme(Lines& lines) {
    MotifSet set;
    while (lines.next()) {
        const std::string first = lines.word(0);
        if (first.starts_with("ALPHABET=")) {
            read_alphabet(lines);
        } else if (first == "ALPHABET") {
            if (lines.word(1) != "\"DNA\"") lines.fail("motifs of DNA (ALPHABET= ACGT) are needed");
            while (lines.next() && lines.word(0) != "END") {
            }
        } else if (first == "Background") {
            read_background(lines, set.background);
        } else if (first == "MOTIF") {
            if (lines.word(1).empty()) lines.fail("a motif without a name");
            set.motifs.push_back({.id = lines.word(1), .name = lines.word(2)});
        } else if (first == "letter-probability") {
            if (set.motifs.empty()) lines.fail("a matrix without a MOTIF line before it");
            if (!set.motifs.back().shares.empty()) lines.fail("a motif has two matrices");
            read_matrix(lines, set.motifs.back());
        }
    }
    if (set.motifs.empty()) lines.fail("holds no motif");
    for (const Motif& motif : set.motifs)
        if (motif.shares.empty()) lines.fail("the motif '" + motif.id + "' has no letter-probability matrix");
    return set;
}

// ---- JASPAR

/// "A [ 1 2 3 ]" or "1 2 3": the numbers.
std::vector<double> read_row(const Lines& lines, std::size_t letter) {
    std::string text;
    for (const std::string& word : lines.words())
        text += word + ' ';
    if (std::isalpha(static_cast<unsigned char>(text.front())) != 0) {
        if (text.front() != letters[letter])
            lines.fail(std::string("the row of '") + letters[letter] +
                       "' is expected: A C G T in this order");
        text.erase(0, 1);
    }
    std::ranges::replace_if(
        text, [](char c) { return c == '[' || c == ']' || c == '|' || c == ':'; }, ' ');
    std::vector<double> row;
    for (const std::string& word : words_of(text))
        row.push_back(lines.number(word));
    if (row.empty()) lines.fail("the motif has no columns");
    return row;
}

MotifSet read_jaspar(Lines& lines) {
    MotifSet set;
    do {
        if (!lines.word(0).starts_with('>')) lines.fail("a line '>ID NAME' is expected before each matrix");
        Motif& motif = set.motifs.emplace_back(Motif{.id = lines.word(0).substr(1), .name = lines.word(1)});
        if (motif.id.empty()) lines.fail("a motif without a name");
        for (std::size_t letter = 0; letter < letters.size(); ++letter) {
            if (!lines.next()) lines.fail("ends within a motif");
            const std::vector<double> row = read_row(lines, letter);
            if (letter == 0) motif.shares.resize(row.size());
            if (row.size() != motif.shares.size())
                lines.fail(fmt::format("the row has {} columns, and those before it {}", row.size(),
                                       motif.shares.size()));
            for (std::size_t i = 0; i < row.size(); ++i)
                motif.shares[i][letter] = row[i];
        }
        double sites = 0;
        for (std::size_t i = 0; i < motif.shares.size(); ++i)
            sites = std::max(sites, normalise(motif.shares[i], i, lines));
        motif.sites = sites < 1.5 ? 0 : std::llround(sites);  // shares have no number of sites
    } while (lines.next());
    return set;
}

void write_meme(std::ostream& out, const MotifSet& set) {
    const Shares& of = set.background;
    out << "MEME version 4\n\nALPHABET= ACGT\n\nstrands: + -\n\nBackground letter frequencies\n"
        << fmt::format("A {:.4f} C {:.4f} G {:.4f} T {:.4f}\n", of[0], of[1], of[2], of[3]);
    for (const Motif& motif : set.motifs) {
        out << "\nMOTIF " << motif.id << (motif.name.empty() ? "" : " " + motif.name) << '\n'
            << fmt::format("letter-probability matrix: alength= 4 w= {}", motif.shares.size())
            << (motif.sites > 0 ? fmt::format(" nsites= {}\n", motif.sites) : "\n");
        for (const Shares& column : motif.shares) {
            for (const double share : column)
                out << fmt::format(" {:.6f}", share);
            out << '\n';
        }
    }
}

void write_jaspar(std::ostream& out, const MotifSet& set) {
    for (const Motif& motif : set.motifs) {
        out << '>' << motif.id << '\t' << motif.name << '\n';
        const double sites = static_cast<double>(motif.sites > 0 ? motif.sites : assumed_sites);
        for (std::size_t letter = 0; letter < letters.size(); ++letter) {
            out << letters[letter] << " [";
            for (const Shares& column : motif.shares)
                out << fmt::format(" {:.6g}", column[letter] * sites);
            out << " ]\n";
        }
    }
}

}  // namespace

MotifSet read_motifs(const fs::path& file) {
    Lines lines(file);
    if (!lines.next()) throw InputError("holds no motif", file);
    if (lines.word(0).starts_with('>')) return read_jaspar(lines);
    if (lines.word(0) != "MEME")
        lines.fail("is no motif file: it begins neither with 'MEME version' nor '>'");
    return read_meme(lines);
}

void write_motifs(const fs::path& file, const MotifSet& set, Overwrite overwrite) {
    write_atomically(
        file, overwrite,
        [&](std::ostream& out) {
            file.extension() == ".jaspar" ? write_jaspar(out, set) : write_meme(out, set);
        });
}

Motif reverse_complement(Motif motif) {
    motif.shares = other_strand(std::move(motif.shares));
    return motif;
}

}  // namespace bigbird::motifs
