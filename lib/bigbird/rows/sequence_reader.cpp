// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/sequence_reader.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>

namespace bigbird::rows {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
constexpr std::string_view read_as_n = "NX-.*", ambiguity_codes = "RYSWKMBDHV";

char upper(char letter) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

bool holds_bases_only(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(
               text, [](char letter) { return normalised_base(letter) != 'N' || upper(letter) == 'N'; });
}

/// Whether a text can be a sequence, k-mers or a missing one, rather than the name of a column of sequences.
bool may_be_sequence(std::string_view text) {
    const auto is = [&](std::string_view word) { return std::ranges::equal(text, word, {}, upper); };
    return !is("DNA") && !is("RNA") &&  // each of their letters is a code of IUPAC
           std::ranges::all_of(text, [](char letter) {
               const char code = upper(letter);
               return normalised_base(letter) != 'N' || code == ' ' ||
                      read_as_n.find(code) != std::string_view::npos ||
                      ambiguity_codes.find(code) != std::string_view::npos;
           });
}

}  // namespace

SequenceReader::SequenceReader(std::filesystem::path path, SequenceColumns columns)
    : input_(std::move(path)), columns_(std::move(columns)), id_at_(none) {
    do {
        if (!input_.next(line_)) throw InputError("holds no sequences", input_.path());
    } while (line_.empty() || line_.starts_with("##"));
    waiting_ = true;
    fasta_ = line_.starts_with('>');
    if (!fasta_) read_first_line();
}

InputError SequenceReader::fault(const std::string& what, std::int64_t line) const {
    return {what, input_.path(), line > 0 ? line : input_.line_number()};
}

InputError SequenceReader::missing(const std::string& column) const {
    if (line_.starts_with('@') && !header_ && !tabs_)
        return fault("is FASTQ, by its '@'; write FASTA: sed -n '1~4s/^@/>/p;2~4p' FILE");
    const auto separator = line_.find_first_of(";| ");
    if (count_ == 1 && separator != std::string::npos) {
        if (line_.find_first_not_of("ACGTUNacgtun ") == std::string::npos)
            return fault(genome::fault_of_gaps(line_));
        return fault("has one column, " + listed(fields_) +
                     ": columns are separated by commas or tabs, not by '" + line_.substr(separator, 1) +
                     "'");
    }
    for (const std::string_view field : fields_) {
        if (!columns_.header.value_or(true) ||
            !std::ranges::equal(genome::without_outer_blanks(field), column, {}, upper, upper))
            continue;
        const std::string option = column == columns_.sequence ? "--sequence-column "
                                   : column == "label"         ? "--label-column "
                                                               : "";
        return fault("has no column '" + column + "', but '" + std::string(field) + "'; did you mean " +
                     option + "'" + std::string(field) + "'?");
    }
    if (!header_) {
        return fault("has no header that names a column '" + column + "'; its first line holds " +
                     listed(fields_) +
                     "; --sequence-column and --label-column name the columns or, without a header, "
                     "their numbers, from 1");
    }
    const std::string remedy = column == "sequence" ? "; --sequence-column names that of the sequences"
                               : column == "label"
                                   ? "; --label-column names that of the labels, --target says what they are"
                               : column == "id" ? "; call that of the ids 'id'"
                                                : "";
    return fault("has no column '" + column + "'; its columns are " + listed(fields_) + remedy);
}

void SequenceReader::split() {
    auto cut = split_quoted(line_, tabs_ ? '\t' : ',');
    if (!cut) throw fault("has a quote that does not end on the line");
    fields_ = std::move(*cut);
}

bool SequenceReader::names(const std::string& column) const {
    return !column.empty() && std::ranges::count(fields_, column) > 0;
}

std::optional<std::size_t> SequenceReader::position_of(const std::string& column) const {
    const auto number = parse_number<std::size_t>(column);
    return number && *number > 0 && *number <= count_ ? std::optional(*number - 1) : std::nullopt;
}

bool SequenceReader::begins_with_header() const {
    const auto position = position_of(columns_.sequence);
    return named_ || (position && !may_be_sequence(fields_[*position]));
}

void SequenceReader::read_first_line() {
    tabs_ = line_.find('\t') != std::string::npos;
    const std::string unsplit = line_;  // split() removes its quotes
    split();
    count_ = fields_.size();
    if (fields_.front().starts_with('#')) fields_.front().remove_prefix(1);
    std::vector<std::string> wanted = columns_.values;
    wanted.insert(wanted.end(), {columns_.sequence, columns_.id});
    named_ = columns_.header.value_or(true) && std::ranges::any_of(wanted, [&](const std::string& column) {
                 return names(column) && !position_of(column);
             });
    header_ = columns_.header.value_or(begins_with_header());
    const auto find = [&](const std::string& column) {
        if (!header_ || !names(column)) return position_of(column).value_or(none);
        if (std::ranges::count(fields_, column) > 1)
            throw fault("has two columns '" + column + "': rename one");
        return static_cast<std::size_t>(std::ranges::find(fields_, column) - fields_.begin());
    };
    sequence_at_ = find(columns_.sequence);
    if (sequence_at_ == none && !header_ && columns_.sequence == "sequence") {
        const auto found = std::ranges::find_if(fields_, holds_bases_only);
        if (found != fields_.end()) sequence_at_ = static_cast<std::size_t>(found - fields_.begin());
    }
    if (sequence_at_ == none && !columns_.sequence.empty()) throw missing(columns_.sequence);
    for (const std::string& name : columns_.values) {
        values_at_.push_back(find(name));
        if (values_at_.back() != none) continue;
        if (header_ || name != "label" || count_ != 2) throw missing(name);
        values_at_.back() = 1 - sequence_at_;
    }
    id_at_ = find(columns_.id);
    if (id_at_ == none && columns_.sequence.empty()) throw missing(columns_.id);
    waiting_ = !header_;
    if (waiting_) line_ = unsplit;
}

void SequenceReader::tell_header() const {
    if (fasta_ || named_ || columns_.header) return;
    log_info("{}: the first line is taken as {}", path().string(),
             header_ ? "a header; --header no makes it a row" : "a row; --header yes makes it a header");
}

void SequenceReader::append_letters(std::string& sequence, std::string_view text) const {
    const std::string_view letters = genome::without_outer_blanks(text);
    if (letters.find_first_of(" \t\r") != std::string_view::npos) throw fault(genome::fault_of_gaps(letters));
    sequence += letters;
}

std::optional<SequenceRecord> SequenceReader::next() {
    std::optional<SequenceRecord> record = fasta_ ? next_of_fasta() : next_of_table();
    if (!record) return record;
    ++records_;
    const bool wanted = fasta_ || !columns_.sequence.empty();
    if (!wanted && record->id.empty()) throw fault("has no id", record->line);
    if (record->id.empty()) record->id = std::to_string(records_);
    if (wanted && record->sequence.empty()) throw fault("has an empty sequence", record->line);
    if (wanted && is_missing(record->sequence)) {
        throw fault("has '" + record->sequence + "', a missing value, for a sequence: delete such records",
                    record->line);
    }
    if (record->id.find('\t') != std::string::npos) throw fault("has an id with a tab", record->line);
    return record;
}

std::optional<SequenceRecord> SequenceReader::next_of_fasta() {
    if (!waiting_) return std::nullopt;
    const std::string_view header = std::string_view(line_).substr(1);
    SequenceRecord record{.id = std::string(header.substr(0, header.find_first_of(" \t"))),
                          .line = input_.line_number()};
    while ((waiting_ = input_.next(line_)) && !line_.starts_with('>'))
        append_letters(record.sequence, line_);
    return record;
}

std::optional<SequenceRecord> SequenceReader::next_of_table() {
    while (!waiting_ && input_.next(line_))
        waiting_ = !line_.empty();
    if (!waiting_) return std::nullopt;
    waiting_ = false;
    split();
    if (fields_.size() != count_) {
        throw fault("has " + counted(fields_.size(), "column") + " where the first line has " +
                    std::to_string(count_) +
                    (header_ && fields_.size() == count_ + 1
                         ? "; R writes names of rows unless row.names = FALSE"
                         : ""));
    }
    SequenceRecord record{.line = input_.line_number()};
    if (sequence_at_ != none) append_letters(record.sequence, fields_[sequence_at_]);
    if (id_at_ != none) record.id = fields_[id_at_];
    for (const std::size_t at : values_at_)
        record.values.emplace_back(fields_[at]);
    return record;
}

std::int64_t LetterCounts::total() const {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void LetterCounts::add(const LetterCounts& other) {
    for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] += other.counts[i];
}

std::string LetterCounts::complaint() const {
    if (others() == 0) return {};
    return std::to_string(others()) + " of " + std::to_string(total()) +
           " letters stand for no nucleotide, the first '" + first_other + "' in line " +
           std::to_string(other_line) + (is_protein() ? ": are these proteins?" : "; they are read as N");
}

void normalise(SequenceRecord& record, LetterCounts& counts, const std::filesystem::path& path) {
    for (std::size_t i = 0; i < record.sequence.size(); ++i) {
        char& letter = record.sequence[i];
        const char base = normalised_base(letter);
        const char code = upper(letter);
        std::size_t kind = 6;  // of LetterCounts::names
        if (base != 'N') {
            kind = std::string_view("ACGT").find(base);
        } else if (read_as_n.find(code) != std::string_view::npos) {
            kind = 4;
        } else if (ambiguity_codes.find(code) != std::string_view::npos) {
            kind = 5;
        } else if (code < 'A' || code > 'Z') {
            throw InputError("holds the character '" + std::string(1, letter) + "' at base " +
                                 std::to_string(i + 1) + " of its sequence, which is no letter",
                             path, record.line);
        }
        if (++counts.counts[kind] == 1 && kind == 6) {
            counts.first_other = letter;
            counts.other_line = record.line;
        }
        letter = base;
    }
}

}  // namespace bigbird::rows
