// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/motif_files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace bigbird::motifs {

namespace fs = std::filesystem;

namespace {

constexpr double rounding = 0.1001;  // by which a column's shares may differ from 1, as in MEME's own readers
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
    explicit Lines(const fs::path& file) : input_(file) {}

    bool next() {
        if (std::exchange(held_, false)) return !words_.empty();
        follows_blank_ = false;
        for (std::string line; input_.next(line);) {
            words_ = words_of(line);
            if (!words_.empty() && !words_.front().starts_with('#')) return true;
            follows_blank_ |= words_.empty();
        }
        words_.clear();
        return false;
    }
    /// The following next() gives the same line again.
    void hold() { held_ = true; }
    bool follows_blank() const { return follows_blank_; }
    const std::vector<std::string>& words() const { return words_; }
    std::string word(std::size_t index) const { return index < words_.size() ? words_[index] : ""; }
    [[noreturn]] void fail(const std::string& what) const { throw input_.fault(what); }

    double number(const std::string& word) const {
        const auto value = parse_number<double>(word);
        if (!value || !std::isfinite(*value) || *value < 0) fail("'" + word + "' is no count or probability");
        return *value;
    }

private:
    genome::TextInput input_;
    std::vector<std::string> words_;
    bool held_ = false, follows_blank_ = false;
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
    if (std::abs(sum_of(background) - 1) > rounding || std::ranges::find(background, 0.0) != background.end())
        lines.fail("the background's frequencies are above 0 and sum to 1");
    normalise(background, 0, lines);
}

/// Whether a line ends a matrix: another part of the file, or a rule of MEME's text output.
bool ends_matrix(const std::string& word) {
    return word == "MOTIF" || word == "URL" || word == "letter-probability" || word.starts_with("--") ||
           word.starts_with("**");
}

void read_column(const Lines& lines, Motif& motif) {
    if (lines.words().size() != letters.size()) lines.fail("is no line of four letters' probabilities");
    const std::size_t position = motif.shares.size();
    Shares& column = motif.shares.emplace_back();
    for (std::size_t letter = 0; letter < letters.size(); ++letter)
        column[letter] = lines.number(lines.word(letter));
    if (const double sum = normalise(column, position, lines); std::abs(sum - 1) > rounding)
        lines.fail(fmt::format("the four letters' probabilities sum to {:.4g}, not to 1", sum));
}

/// Reads the matrix of a line "letter-probability matrix:", whose keys are optional. Its rows end at a blank
/// line, or after w= rows.
void read_matrix(Lines& lines, Motif& motif) {
    if (value_of(lines, "alength=").value_or("4") != "4")
        lines.fail("the matrix has no four letters, and motifs of DNA (ACGT) are needed");
    const auto given = value_of(lines, "w=");
    const std::int64_t width = given ? std::llround(lines.number(*given)) : 0;
    motif.sites = std::llround(lines.number(value_of(lines, "nsites=").value_or("0")));
    while (lines.next()) {
        const bool complete = std::ssize(motif.shares) >= std::max<std::int64_t>(width, 1);
        const bool is_other = given && lines.words().size() != letters.size();
        if (ends_matrix(lines.word(0)) || (complete && (lines.follows_blank() || is_other))) {
            lines.hold();
            break;
        }
        read_column(lines, motif);
    }
    if (motif.shares.empty()) lines.fail("the motif '" + motif.id + "' has a matrix without rows");
    if (given && width != std::ssize(motif.shares))
        lines.fail(
            fmt::format("the matrix of the motif '{}' has another number of rows, {}, than w= says, {}",
                        motif.id, motif.shares.size(), width));
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
            const Shares before = set.background;
            read_background(lines, set.background);
            if (!set.motifs.empty() && before != set.background)
                lines.fail("is another background than that of the motifs before it: give a file for each");
        } else if (first == "MOTIF") {
            if (lines.word(1).empty()) lines.fail("a motif without a name");
            const std::string name = lines.word(2);  // MEME's text output goes on with "width = 10"
            set.motifs.push_back({.id = lines.word(1), .name = name.starts_with("width") ? "" : name});
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
        constexpr std::string_view consensus = "ACGTRYSWKMBDHVN";
        if (lines.word(0).find_first_not_of(consensus, 1) == std::string::npos &&
            parse_number<double>(lines.word(2)))
            lines.fail(
                "is a motif of HOMER, with a line for each position: give MEME's or JASPAR's format, as "
                "universalmotif in R writes it");
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

/// Throws for two motifs of one id and name, which no table can distinguish; warns of two of one id.
MotifSet distinct(MotifSet set, const fs::path& file) {
    std::map<std::string, std::set<std::string>> names;  // by id
    std::set<std::string> repeated;
    for (const Motif& motif : set.motifs) {
        if (names.contains(motif.id)) repeated.insert(motif.id);
        if (!names[motif.id].insert(motif.name).second) {
            throw InputError("has two motifs with the id '" + shortened(motif.id) + "' and the name '" +
                                 shortened(motif.name) + "': rename or delete one",
                             file);
        }
    }
    if (!repeated.empty())
        log_warning("{}: only their names distinguish motifs of the same id, {}", file.string(),
                    listed(repeated));
    return set;
}

}  // namespace

MotifSet read_motifs(const fs::path& file) {
    Lines lines(file);
    if (!lines.next()) throw InputError("holds no motif", file);
    if (lines.word(0).starts_with('>')) return distinct(read_jaspar(lines), file);
    const bool is_report = lines.word(0).starts_with("***");  // of MEME and STREME, which name it below
    while (is_report && (lines.word(0) != "MEME" || lines.word(1) != "version") && lines.next()) {
    }
    if (lines.word(0) != "MEME")
        lines.fail(
            "is no motif file: it begins neither with 'MEME version' nor '>'; MEME's transfac2meme and "
            "its like convert other formats");
    return distinct(read_meme(lines), file);
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
