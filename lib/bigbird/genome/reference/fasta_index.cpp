// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/fasta_index.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/reference/base_kernels.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

namespace bigbird::genome::detail {

namespace {

constexpr const char* without_header =
    "does not begin with a header: a FASTA file begins with '>' and the name of a contig";

/// Whether all bytes are visible ASCII. Without branches, so that it becomes vector code.
bool is_plain(std::string_view text) {
    unsigned char worst = 0;
    for (const char letter : text)
        worst |= static_cast<unsigned char>(static_cast<unsigned char>(letter - '!') > '~' - '!');
    return worst == 0;
}

bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r';
}

}  // namespace

FastaScanner::FastaScanner(std::filesystem::path path, bool keep) : path_(std::move(path)), keep_(keep) {}

void FastaScanner::refuse(const std::string& what) const {
    throw InputError(what, path_, line_);
}

void FastaScanner::feed(std::string_view text) {
    if (position_ == 0 && text.starts_with(byte_order_mark)) {
        text.remove_prefix(byte_order_mark.size());
        position_ = line_begin_ = std::ssize(byte_order_mark);
    }
    while (!text.empty()) {
        if (const std::size_t bytes = take_regular_lines(text)) {
            text.remove_prefix(bytes);
            continue;
        }
        const void* const found = std::memchr(text.data(), '\n', text.size());
        if (found == nullptr) {
            take(text);
            return;
        }
        const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
        if (length > 0) take(text.substr(0, length));
        position_ += 1;
        end_line(1);
        text.remove_prefix(length + 1);
    }
}

/// Processes the lines at the start of `text` that are as long as the previous ones, in vector code. Returns
/// their number of bytes.
std::size_t FastaScanner::take_regular_lines(std::string_view text) {
    const FastaEntry* const entry = entries_.empty() ? nullptr : &entries_.back();
    if (position_ != line_begin_ || entry == nullptr || entry->length == 0 || closed_) return 0;
    const auto line_bases = static_cast<std::size_t>(entry->line_bases);
    const auto line_bytes = static_cast<std::size_t>(entry->line_bytes);
    const std::size_t lines =
        count_regular_lines(text.data(), line_bases, line_bytes, text.size() / line_bytes);
    for (std::size_t line = 0; keep_ && line < lines; ++line)
        bases_.back().append(text.substr(line * line_bytes, line_bases));
    const std::size_t bytes = lines * line_bytes;
    entries_.back().length += static_cast<std::int64_t>(lines * line_bases);
    position_ += static_cast<std::int64_t>(bytes);
    line_begin_ = position_;
    line_ += static_cast<std::int64_t>(lines);
    return bytes;
}

void FastaScanner::take(std::string_view piece) {
    if (position_ == line_begin_) in_header_ = piece.front() == '>';
    if (in_header_)
        header_.append(piece);
    else
        take_sequence(piece);
    position_ += std::ssize(piece);
}

void FastaScanner::take_sequence(std::string_view piece) {
    const bool blank_before = carriage_return_;
    carriage_return_ = piece.back() == '\r';
    std::string_view letters = piece;
    letters.remove_suffix(carriage_return_ ? 1 : 0);
    const std::string_view inner = without_outer_blanks(letters);
    if (keep_ && !bases_.empty()) bases_.back().append(inner);
    gap_ = gap_ || (lettered_ && (blank_before || (!letters.empty() && is_blank(letters.front()))));
    const bool joins = !inner.empty() && (gap_ || std::ranges::any_of(inner, is_blank));
    lettered_ = lettered_ || !inner.empty();
    gap_ = gap_ || (lettered_ && !letters.empty() && is_blank(letters.back()));
    if (!blank_before && is_plain(letters) && !joins) return;
    const auto odd = std::find_if(letters.begin(), letters.end(), [](char c) {
        return !is_blank(c) && !is_plain({&c, 1});
    });
    if (odd != letters.end()) {
        refuse("holds a byte that is no text (value " + std::to_string(static_cast<unsigned char>(*odd)) +
               "): a FASTA file is needed");
    }
    if (joins) refuse(entries_.empty() ? without_header : fault_of_gaps(letters));
    if (!entries_.empty()) entries_.back().even = false;
}

void FastaScanner::end_line(std::int64_t newline_bytes) {
    if (in_header_) {
        end_header();
    } else {
        const std::int64_t bytes = position_ - line_begin_;
        end_sequence_line(bytes - newline_bytes - (carriage_return_ ? 1 : 0), bytes);
    }
    line_ += 1;
    line_begin_ = position_;
    in_header_ = carriage_return_ = lettered_ = gap_ = false;
}

void FastaScanner::end_header() {
    const std::string_view text = std::string_view(header_).substr(1);
    if (text.find('\r') < text.size() - 1) {
        refuse(
            "a header with a carriage return in it: are the lines of an old Mac's? Write them anew by tr "
            "'\\r' '\\n'");
    }
    const std::string_view name = text.substr(0, text.find_first_of(" \t\r"));
    if (name.empty()) refuse("a header without a name: '>' is followed by the contig's name");
    if (!entries_.empty()) entries_.back().end = line_begin_;
    entries_.push_back({.name = std::string(name), .offset = position_, .line = line_});
    if (keep_) {
        if (!bases_.empty()) bases_.back().shrink_to_fit();
        bases_.emplace_back();
    }
    header_.clear();
    closed_ = false;
}

void FastaScanner::end_sequence_line(std::int64_t bases, std::int64_t bytes) {
    if (entries_.empty()) {
        if (bases > 0) refuse(without_header);
        return;
    }
    FastaEntry& entry = entries_.back();
    if (bases == 0) {
        closed_ = closed_ || entry.length > 0;
        return;
    }
    if (entry.length == 0) {
        entry.offset = line_begin_;
        entry.line_bases = bases;
        entry.line_bytes = bytes;
    } else if (closed_ || bases > entry.line_bases) {
        entry.even = false;
    }
    closed_ = closed_ || bases < entry.line_bases || bytes != entry.line_bytes;
    entry.length += bases;
}

std::vector<FastaEntry> FastaScanner::finish() {
    if (position_ > line_begin_) end_line(0);
    if (!entries_.empty()) entries_.back().end = position_;
    return std::move(entries_);
}

// --------------------------------------------------------------------------------------------------------------------------------------
// .fai

namespace {

std::optional<FastaEntry> parse_fai_line(std::string_view line) {
    FastaEntry entry;
    std::size_t tab = line.find('\t');
    entry.name = line.substr(0, tab);
    for (std::int64_t* const field : {&entry.length, &entry.offset, &entry.line_bases, &entry.line_bytes}) {
        if (tab == std::string_view::npos) return std::nullopt;
        line.remove_prefix(tab + 1);
        tab = line.find('\t');
        *field = parse_number<std::int64_t>(line.substr(0, tab)).value_or(-1);
        if (*field < 0) return std::nullopt;
    }
    const bool sound = !entry.name.empty() && (entry.length == 0 || entry.line_bases > 0) &&
                       entry.line_bytes >= entry.line_bases;
    return sound ? std::optional(std::move(entry)) : std::nullopt;
}

/// The position after the last base; nullopt if no file is that long.
std::optional<std::int64_t> end_of_bases(const FastaEntry& entry) {
    if (entry.length == 0) return entry.offset;
    const std::int64_t last = entry.length - 1;
    std::int64_t end = 0;
    const bool overflows = __builtin_mul_overflow(last / entry.line_bases, entry.line_bytes, &end) ||
                           __builtin_add_overflow(end, entry.offset, &end) ||
                           __builtin_add_overflow(end, last % entry.line_bases + 1, &end);
    return overflows ? std::nullopt : std::optional(end);
}

std::string read_text(const RandomBytes& text, std::int64_t begin, std::int64_t end) {
    std::string result(static_cast<std::size_t>(end - begin), '\0');
    text.read(begin, end - begin, result.data());
    return result;
}

/// Whether the text between two contigs is line ends and one header of the given name; at the end of the file
/// only line ends.
bool is_header_between(std::string_view between, std::string_view name) {
    const std::size_t start = between.find_first_not_of("\r\n");
    if (start == std::string_view::npos) return name.empty();
    std::string_view header = between.substr(start);
    if (!header.starts_with('>') || !header.substr(1).starts_with(name) || name.empty()) return false;
    const std::size_t line_end = header.find('\n');
    const char after = header.size() > name.size() + 1 ? header[name.size() + 1] : '\n';
    return (is_blank(after) || after == '\n') &&
           (line_end == std::string_view::npos ||
            header.find_first_not_of("\r\n", line_end) == std::string_view::npos);
}

/// Lines of more bytes than this are not accepted as headers.
constexpr std::int64_t longest_header = std::int64_t{1} << 20;

}  // namespace

std::vector<FastaEntry> read_fai(const std::filesystem::path& index, const RandomBytes& text) {
    constexpr std::string_view remedy = "delete it, or make it anew with samtools faidx";
    std::vector<FastaEntry> entries;
    TextInput lines(index);
    std::string line;
    std::int64_t before = 0;  // end of the previous contig's bases
    while (lines.next(line)) {
        auto entry = parse_fai_line(line);
        if (!entry) {
            throw InputError("is no line of a FASTA index: " + std::string(remedy), index,
                             lines.line_number());
        }
        const std::optional<std::int64_t> end = end_of_bases(*entry);
        const bool fits = end && entry->offset >= before && entry->offset - before <= longest_header &&
                          *end <= text.size() &&
                          is_header_between(read_text(text, before, entry->offset), entry->name);
        if (!fits) {
            throw InputError(
                "contig '" + entry->name + "' does not stand where this index says: " + std::string(remedy),
                index, lines.line_number());
        }
        if (!entries.empty()) entries.back().end = entry->offset;
        before = *end;
        entries.push_back(std::move(*entry));
    }
    const bool whole =
        text.size() - before <= longest_header && is_header_between(read_text(text, before, text.size()), {});
    if (!whole) {
        throw InputError("ends before its FASTA file does: " + std::string(remedy), index,
                         lines.line_number());
    }
    if (!entries.empty()) entries.back().end = text.size();
    return entries;
}

}  // namespace bigbird::genome::detail
