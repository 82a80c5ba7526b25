// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/fasta_file.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/reference/base_kernels.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <iterator>
#include <memory>
#include <string_view>

namespace bigbird::genome::detail {

namespace {

std::string show(char c) {
    const auto value = static_cast<unsigned char>(c);
    return value > ' ' && value <= '~' ? std::string("'") + c + "'"
                                       : "a byte of value " + std::to_string(value);
}

/// Handles characters of a FASTA file that are not nucleotide codes: letters (and gaps: - . *) are read as N,
/// with one warning per file; any other character is an error. Thread-safe.
class OtherLetters {
public:
    OtherLetters(std::filesystem::path path, LetterCase letter_case)
        : path_(std::move(path)), letter_case_(letter_case) {}

    /// Checks `text`, in which the vector code found other characters: bases of a contig from 0-based `begin`
    /// on, with line ends. Throws InputError at a byte that is neither letter nor gap.
    void look(std::string_view contig, std::int64_t begin, std::string_view text) {
        std::int64_t base = begin;
        for (const char c : text) {
            if (c == '\n' || c == '\r') continue;
            ++base;  // from 1
            if (is_nucleotide_code(c) || std::string_view("-.*").find(c) != std::string_view::npos) continue;
            const std::string where =
                "contig '" + std::string(contig) + "' holds " + show(c) + " at base " + std::to_string(base);
            if (c == ' ' || c == '\t') {
                const auto at = static_cast<std::size_t>(&c - text.data());
                const std::string_view line = text.substr(text.rfind('\n', at) + 1);  // npos + 1 is 0
                throw InputError(
                    "contig '" + std::string(contig) + "' " + fault_of_gaps(line.substr(0, line.find('\n'))),
                    path_);
            }
            if (std::isalpha(static_cast<unsigned char>(c)) == 0) {
                throw InputError(where +
                                     ", which is no letter of a sequence: is the file complete, and does the "
                                     ".fai beside it belong to it?",
                                 path_);
            }
            if (!said_.exchange(true)) {
                log_warning("{}: {}, which stands for no nucleotide: such letters are read as N",
                            path_.string(), where);
            }
        }
    }

    /// Normalizes a complete contig without line ends, and checks it as look() does.
    std::string normalised(std::string_view contig, std::string_view bases) {
        std::string result(bases.size(), 'N');
        if (!normalise_letters(bases.data(), bases.size(), result.data(), letter_case_))
            look(contig, 0, bases);
        return result;
    }

private:
    std::filesystem::path path_;
    LetterCase letter_case_;
    std::atomic<bool> said_{false};
};

std::string part_of(const std::string& bases, std::int64_t begin, std::int64_t end) {
    return bases.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

[[noreturn]] void refuse_empty(const std::filesystem::path& path) {
    throw InputError("holds no sequence: a FASTA file begins with '>' and the name of a contig", path);
}

/// All sequence in memory, one byte per base: for files that cannot be read by position.
FastaFile hold(const std::filesystem::path& path, std::vector<FastaEntry> contigs,
               std::vector<std::string> bases, LetterCase letter_case) {
    OtherLetters others(path, letter_case);
    for (std::size_t i = 0; i < contigs.size(); ++i) {
        bases[i] = others.normalised(contigs[i].name, bases[i]);
        contigs[i].length = std::ssize(bases[i]);
    }
    const auto fetch = [bases = std::make_shared<std::vector<std::string>>(std::move(bases))](
                           std::size_t contig, std::int64_t begin, std::int64_t end) {
        return part_of((*bases)[contig], begin, end);
    };
    return {path, std::move(contigs), fetch};
}

FastaFile read_into_memory(const std::filesystem::path& path, LetterCase letter_case) {
    ByteStream stream(path);
    FastaScanner scanner(path, true);
    std::string buffer(std::size_t{1} << 20, '\0');
    std::int64_t lines = 0;
    while (const std::size_t count = stream.read(buffer.data(), buffer.size(), lines)) {
        const std::string_view piece(buffer.data(), count);
        try {
            scanner.feed(piece);
        } catch (const InputError&) {
            while (stream.read(buffer.data(), buffer.size(), 0) > 0) {  // a damaged file is reported as such
            }
            throw;
        }
        lines += std::count(piece.begin(), piece.end(), '\n');
    }
    std::vector<FastaEntry> contigs = scanner.finish();
    if (contigs.empty()) refuse_empty(path);
    return hold(path, std::move(contigs), scanner.take_bases(), letter_case);
}

/// A file that is read by position, through an index.
class IndexedFasta {
public:
    IndexedFasta(const std::filesystem::path& path, std::unique_ptr<RandomBytes> text, LetterCase letter_case)
        : text_(std::move(text)),
          entries_(read_index(path)),
          held_(entries_.size()),
          letter_case_(letter_case),
          others_(path, letter_case) {
        if (entries_.empty()) refuse_empty(path);
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (!entries_[i].even) hold(i);
    }

    const std::vector<FastaEntry>& contigs() const { return entries_; }

    std::string fetch(std::size_t contig, std::int64_t begin, std::int64_t end) const {
        if (begin >= end) return {};
        const FastaEntry& entry = entries_[contig];
        if (!entry.even) return part_of(held_[contig], begin, end);
        const auto position = [&](std::int64_t base) {
            return entry.offset + base / entry.line_bases * entry.line_bytes + base % entry.line_bases;
        };
        std::string bases(static_cast<std::size_t>(end - begin), 'N');
        std::vector<char> text;
        const std::int64_t lines = std::max<std::int64_t>(1, text_->piece() / entry.line_bytes);
        for (std::int64_t at = begin; at < end;) {
            const std::int64_t line_end = (at / entry.line_bases + lines) * entry.line_bases;
            const std::int64_t piece_end = std::min({end, line_end, at + text_->piece()});
            const std::int64_t first = position(at), bytes = position(piece_end - 1) + 1 - first;
            text.resize(static_cast<std::size_t>(bytes));
            text_->read(first, bytes, text.data());
            close_up(entry, at, piece_end, {text.data(), text.size()}, bases.data() + (at - begin));
            at = piece_end;
        }
        return bases;
    }

private:
    std::vector<FastaEntry> read_index(const std::filesystem::path& path) const {
        std::filesystem::path index = path;
        index += ".fai";
        if (is_fresh_index(index, path)) return read_fai(index, *text_);
        FastaScanner scanner(path);
        text_->scan([&](std::string_view piece) { scanner.feed(piece); });
        return scanner.finish();
    }

    /// Normalizes the bases [begin, end), which `text` holds with the line ends between them.
    void close_up(const FastaEntry& entry, std::int64_t begin, std::int64_t end, std::string_view text,
                  char* out) const {
        const auto width = static_cast<std::size_t>(entry.line_bases);
        const auto bytes = static_cast<std::size_t>(entry.line_bytes);
        const auto bases = static_cast<std::size_t>(end - begin),
                   column = static_cast<std::size_t>(begin) % width;
        const std::size_t head = std::min(column == 0 ? 0 : width - column, bases);
        const std::size_t lines = (bases - head) / width, tail = (bases - head) % width;
        const char* from = text.data();
        bool all_codes = normalise_letters(from, head, out, letter_case_);
        from += head > 0 && head < bases ? head + (bytes - width) : 0;
        all_codes = normalise_lines(from, width, bytes, lines, out + head, letter_case_) && all_codes;
        if (tail > 0) {
            from += lines * bytes;
            all_codes = normalise_letters(from, tail, out + (bases - tail), letter_case_) && all_codes;
        }
        if (!all_codes) others_.look(entry.name, begin, text);
    }

    /// For uneven lines, positions cannot be computed, so the contig's bases are kept in memory.
    void hold(std::size_t contig) {
        FastaEntry& entry = entries_[contig];
        std::string& bases = held_[contig];
        bases.resize(static_cast<std::size_t>(entry.end - entry.offset));
        text_->read(entry.offset, entry.end - entry.offset, bases.data());
        bases.erase(std::remove_if(bases.begin(), bases.end(), [](char c) { return c <= ' '; }), bases.end());
        bases = others_.normalised(entry.name, bases);
        entry.length = static_cast<std::int64_t>(bases.size());
    }

    std::unique_ptr<RandomBytes> text_;
    std::vector<FastaEntry> entries_;
    std::vector<std::string> held_;
    LetterCase letter_case_;
    mutable OtherLetters others_;
};

}  // namespace

FastaFile open_fasta(const std::filesystem::path& path, LetterCase letter_case) {
    require_readable(path);
    const Compression compression =
        std::filesystem::is_regular_file(path) ? compression_of(path) : Compression::gzip;
    if (compression == Compression::gzip) return read_into_memory(path, letter_case);
    auto text = open_random(path, compression);
    const auto file = std::make_shared<IndexedFasta>(path, std::move(text), letter_case);
    return {path, file->contigs(), std::bind_front(&IndexedFasta::fetch, file)};
}

namespace {

/// Contig and length, the first two columns of a .fai or chrom.sizes; blanks may replace tabs.
FastaEntry parse_length(std::string_view line, const std::filesystem::path& path, std::int64_t number) {
    const std::size_t gap = line.find_first_of("\t ");
    const std::size_t start = line.find_first_not_of("\t ", gap);
    FastaEntry contig{.name = std::string(line.substr(0, gap)), .length = -1, .line = number};
    if (gap != std::string_view::npos && start != std::string_view::npos) {
        const std::string_view text = line.substr(start, line.find_first_of("\t ", start) - start);
        contig.length = parse_number<std::int64_t>(text).value_or(-1);
    }
    if (contig.name.empty() || contig.length < 0 || contig.length > longest_contig) {
        throw InputError("is no line of contig and length, as a .fai or chrom.sizes file has them", path,
                         number);
    }
    return contig;
}

}  // namespace

FastaFile open_lengths(const std::filesystem::path& path) {
    require_readable(path);
    std::filesystem::path index = path;
    index += ".fai";
    const bool indexed = is_fresh_index(index, path);
    TextInput input(indexed ? index : path);
    std::string line;
    std::vector<FastaEntry> contigs;
    while (input.next(line)) {
        if (!indexed && contigs.empty() && line.starts_with('>')) {
            log_info("{} has no fresh .fai and is read through for its contigs' lengths", path.string());
            return open_fasta(path, LetterCase::upper);
        }
        if (!line.empty() && line.front() != '#')
            contigs.push_back(parse_length(line, input.path(), input.line_number()));
    }
    if (contigs.empty()) throw InputError("holds no contig", path);
    return {path, std::move(contigs), [](std::size_t, std::int64_t, std::int64_t) -> std::string {
                BIGBIRD_EXPECTS(false, "only lengths were asked for, not sequence");
            }};
}

FastaFile fasta_in_memory(std::vector<std::pair<std::string, std::string>> contigs, LetterCase letter_case) {
    std::vector<FastaEntry> heads;
    std::vector<std::string> bases;
    for (auto& [name, sequence] : contigs) {
        heads.push_back({.name = std::move(name)});
        bases.push_back(std::move(sequence));
    }
    return hold("memory", std::move(heads), std::move(bases), letter_case);
}

}  // namespace bigbird::genome::detail
