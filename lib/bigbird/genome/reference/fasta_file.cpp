// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/fasta_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/base_kernels.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <algorithm>

namespace bigbird::genome::detail {

namespace {

bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_gap(char c) {
    return c == '-' || c == '.' || c == '*';
}

std::string show(char c) {
    const auto value = static_cast<unsigned char>(c);
    return value > ' ' && value <= '~' ? std::string("'") + c + "'"
                                       : "a byte of value " + std::to_string(value);
}

}  // namespace

void OtherLetters::look(std::string_view contig, std::int64_t begin, std::string_view text) {
    std::int64_t base = begin;
    for (const char c : text) {
        if (c == '\n' || c == '\r') continue;
        ++base;  // from 1
        if (is_nucleotide_code(c) || is_gap(c)) continue;
        const std::string where =
            "contig '" + std::string(contig) + "' holds " + show(c) + " at base " + std::to_string(base);
        if (!is_letter(c)) {
            throw InputError(where +
                                 ", which is no letter of a sequence: see whether the file is whole, and "
                                 "whether a .fai beside it is its own",
                             path_);
        }
        if (!said_.exchange(true)) {
            log_warning("{}: {}, which stands for no nucleotide: such letters are read as N", path_.string(),
                        where);
        }
    }
}

void OtherLetters::check_and_normalise(std::string_view contig, std::string& bases) {
    const std::string& before = bases;
    std::string normalised(before.size(), 'N');
    if (!normalise_letters(before.data(), before.size(), normalised.data(), letter_case_))
        look(contig, 0, before);
    bases = std::move(normalised);
}

namespace {

[[noreturn]] void refuse_empty(const std::filesystem::path& path) {
    throw InputError("holds no sequence: a FASTA file begins with '>' and the name of a contig", path);
}

/// All sequence in memory, one byte per base: for files that cannot be read by position.
class HeldFasta : public FastaFile {
public:
    struct Held {
        FastaContig head;
        std::string bases;
    };

    HeldFasta(std::filesystem::path path, std::vector<Held> contigs, LetterCase letter_case)
        : path_(std::move(path)), contigs_(std::move(contigs)) {
        OtherLetters others(path_, letter_case);
        for (Held& held : contigs_) {
            const std::string_view name = held.head.contig.name;
            others.check_and_normalise(name, held.bases);
            held.head.contig.length = static_cast<std::int64_t>(held.bases.size());
        }
    }

    const std::filesystem::path& path() const override { return path_; }

    std::vector<FastaContig> contigs() const override {
        std::vector<FastaContig> result;
        for (const Held& held : contigs_)
            result.push_back(held.head);
        return result;
    }

    std::string fetch(std::size_t contig, std::int64_t begin, std::int64_t end) const override {
        return contigs_[contig].bases.substr(static_cast<std::size_t>(begin),
                                             static_cast<std::size_t>(end - begin));
    }

private:
    std::filesystem::path path_;
    std::vector<Held> contigs_;
};

std::unique_ptr<FastaFile> read_into_memory(const std::filesystem::path& path, LetterCase letter_case) {
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
    std::vector<FastaEntry> entries = scanner.finish();
    if (entries.empty()) refuse_empty(path);
    std::vector<std::string> bases = scanner.take_bases();
    std::vector<HeldFasta::Held> contigs;
    for (std::size_t i = 0; i < entries.size(); ++i)
        contigs.push_back({{{std::move(entries[i].name), 0}, entries[i].line}, std::move(bases[i])});
    return std::make_unique<HeldFasta>(path, std::move(contigs), letter_case);
}

/// A file that is read by position, through an index.
class IndexedFasta : public FastaFile {
public:
    IndexedFasta(std::filesystem::path path, std::unique_ptr<RandomBytes> text, LetterCase letter_case)
        : path_(std::move(path)),
          text_(std::move(text)),
          entries_(read_index()),
          held_(entries_.size()),
          letter_case_(letter_case),
          others_(path_, letter_case) {
        if (entries_.empty()) refuse_empty(path_);
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (!entries_[i].even) hold(i);
    }

    const std::filesystem::path& path() const override { return path_; }

    std::vector<FastaContig> contigs() const override {
        std::vector<FastaContig> result;
        for (const FastaEntry& entry : entries_)
            result.push_back({{entry.name, entry.length}, entry.line});
        return result;
    }

    std::string fetch(std::size_t contig, std::int64_t begin, std::int64_t end) const override {
        if (begin >= end) return {};
        const FastaEntry& entry = entries_[contig];
        if (!entry.even) {
            return held_[contig].substr(static_cast<std::size_t>(begin),
                                        static_cast<std::size_t>(end - begin));
        }
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
    std::vector<FastaEntry> read_index() const {
        std::filesystem::path index = path_;
        index += ".fai";
        if (is_fresh_index(index, path_)) return read_fai(index, *text_);
        FastaScanner scanner(path_);
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
        others_.check_and_normalise(entry.name, bases);
        entry.length = static_cast<std::int64_t>(bases.size());
    }

    std::filesystem::path path_;
    std::unique_ptr<RandomBytes> text_;
    std::vector<FastaEntry> entries_;
    std::vector<std::string> held_;
    LetterCase letter_case_;
    mutable OtherLetters others_;
};

}  // namespace

std::unique_ptr<FastaFile> open_fasta(const std::filesystem::path& path, LetterCase letter_case) {
    require_readable(path);
    if (!std::filesystem::is_regular_file(path)) return read_into_memory(path, letter_case);
    switch (compression_of(path)) {
        case Compression::none:
            return std::make_unique<IndexedFasta>(path, open_plain(path), letter_case);
        case Compression::bgzip:
            return std::make_unique<IndexedFasta>(path, open_bgzip(path), letter_case);
        case Compression::gzip:
            break;
    }
    return read_into_memory(path, letter_case);
}

std::unique_ptr<FastaFile> fasta_in_memory(std::vector<std::pair<std::string, std::string>> contigs,
                                           LetterCase letter_case) {
    std::vector<HeldFasta::Held> held;
    held.reserve(contigs.size());
    for (std::pair<std::string, std::string>& contig : contigs)
        held.push_back({{{std::move(contig.first), 0}, 0}, std::move(contig.second)});
    return std::make_unique<HeldFasta>("memory", std::move(held), letter_case);
}

}  // namespace bigbird::genome::detail
