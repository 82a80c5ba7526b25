// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/detail/fasta_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/genome/sequence.hpp"
#include "bigbird/genome/text_input.hpp"

#include <algorithm>

namespace bigbird::genome::detail {

namespace {

[[noreturn]] void refuse_empty(const std::filesystem::path& path) {
    throw InputError("holds no sequence: a FASTA file begins with '>' and the name of a contig", path);
}

/// All sequence in memory, a byte a base: for what cannot be read by position.
class HeldFasta : public FastaFile {
public:
    struct Held {
        FastaContig head;
        std::string bases;
    };

    HeldFasta(std::filesystem::path path, std::vector<Held> contigs)
        : path_(std::move(path)), contigs_(std::move(contigs)) {
        for (Held& held : contigs_) {
            normalise(held.bases);
            held.head.contig.length = static_cast<std::int64_t>(held.bases.size());
        }
    }

    const std::filesystem::path& path() const override { return path_; }

    std::vector<FastaContig> contigs() const override {
        std::vector<FastaContig> result;
        for (const Held& held : contigs_) {
            result.push_back(held.head);
        }
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

std::unique_ptr<FastaFile> read_into_memory(const std::filesystem::path& path) {
    ByteStream stream(path);
    FastaScanner scanner(path, true);
    std::string buffer(std::size_t{1} << 20, '\0');
    std::int64_t lines = 0;
    while (const std::size_t count = stream.read(buffer.data(), buffer.size(), lines)) {
        const std::string_view piece(buffer.data(), count);
        scanner.feed(piece);
        lines += std::count(piece.begin(), piece.end(), '\n');
    }
    std::vector<FastaEntry> entries = scanner.finish();
    if (entries.empty()) {
        refuse_empty(path);
    }
    std::vector<std::string> bases = scanner.take_bases();
    std::vector<HeldFasta::Held> contigs;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        contigs.push_back({{{std::move(entries[i].name), 0}, entries[i].line}, std::move(bases[i])});
    }
    return std::make_unique<HeldFasta>(path, std::move(contigs));
}

/// Read by position through an index.
class IndexedFasta : public FastaFile {
public:
    IndexedFasta(std::filesystem::path path, std::unique_ptr<RandomBytes> text)
        : path_(std::move(path)), text_(std::move(text)), entries_(read_index()), held_(entries_.size()) {
        if (entries_.empty()) {
            refuse_empty(path_);
        }
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!entries_[i].even) {
                hold(i);
            }
        }
    }

    const std::filesystem::path& path() const override { return path_; }

    std::vector<FastaContig> contigs() const override {
        std::vector<FastaContig> result;
        for (const FastaEntry& entry : entries_) {
            result.push_back({{entry.name, entry.length}, entry.line});
        }
        return result;
    }

    std::string fetch(std::size_t contig, std::int64_t begin, std::int64_t end) const override {
        if (begin >= end) {
            return {};
        }
        const FastaEntry& entry = entries_[contig];
        if (!entry.even) {
            return held_[contig].substr(static_cast<std::size_t>(begin),
                                        static_cast<std::size_t>(end - begin));
        }
        const auto position = [&](std::int64_t base) {
            return entry.offset + base / entry.line_bases * entry.line_bytes + base % entry.line_bases;
        };
        const std::int64_t first = position(begin);
        std::string bases(static_cast<std::size_t>(position(end - 1) + 1 - first), '\0');
        text_->read(first, static_cast<std::int64_t>(bases.size()), bases.data());
        close_up(bases, entry, begin % entry.line_bases, end - begin);
        normalise(bases);
        return bases;
    }

private:
    std::vector<FastaEntry> read_index() const {
        std::filesystem::path index = path_;
        index += ".fai";
        if (is_fresh_index(index, path_)) {
            return read_fai(index, *text_);
        }
        FastaScanner scanner(path_);
        text_->scan([&](std::string_view piece) { scanner.feed(piece); });
        return scanner.finish();
    }

    /// Moves lines together over their line ends. `column` is the first base's in its line.
    static void close_up(std::string& text, const FastaEntry& entry, std::int64_t column,
                         std::int64_t bases) {
        std::int64_t from = std::min(entry.line_bases - column, bases), to = from;
        const std::int64_t gap = entry.line_bytes - entry.line_bases;
        while (to < bases) {
            from += gap;
            const std::int64_t count = std::min(entry.line_bases, bases - to);
            std::copy_n(text.begin() + from, count, text.begin() + to);
            from += count;
            to += count;
        }
        text.resize(static_cast<std::size_t>(bases));
    }

    /// Uneven lines: positions cannot be computed, so the contig's bases are kept.
    void hold(std::size_t contig) {
        FastaEntry& entry = entries_[contig];
        std::string& bases = held_[contig];
        bases.resize(static_cast<std::size_t>(entry.end - entry.offset));
        text_->read(entry.offset, entry.end - entry.offset, bases.data());
        bases.erase(std::remove_if(bases.begin(), bases.end(), [](char c) { return c <= ' '; }), bases.end());
        normalise(bases);
        entry.length = static_cast<std::int64_t>(bases.size());
    }

    std::filesystem::path path_;
    std::unique_ptr<RandomBytes> text_;
    std::vector<FastaEntry> entries_;
    std::vector<std::string> held_;
};

}  // namespace

std::unique_ptr<FastaFile> open_fasta(const std::filesystem::path& path) {
    require_readable(path);
    if (!std::filesystem::is_regular_file(path)) {
        return read_into_memory(path);
    }
    switch (compression_of(path)) {
        case Compression::none:
            return std::make_unique<IndexedFasta>(path, open_plain(path));
        case Compression::bgzip:
            return std::make_unique<IndexedFasta>(path, open_bgzip(path));
        case Compression::gzip:
            break;
    }
    return read_into_memory(path);
}

std::unique_ptr<FastaFile> fasta_in_memory(std::vector<std::pair<std::string, std::string>> contigs) {
    std::vector<HeldFasta::Held> held;
    for (auto& [name, bases] : contigs) {
        held.push_back({{{std::move(name), 0}, 0}, std::move(bases)});
    }
    return std::make_unique<HeldFasta>("memory", std::move(held));
}

}  // namespace bigbird::genome::detail
