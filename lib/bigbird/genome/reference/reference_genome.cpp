// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/reference_genome.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <algorithm>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace bigbird::genome {

namespace {

/// Splits NAME=FASTA.
std::pair<std::string, std::filesystem::path> split_name(const std::filesystem::path& reference) {
    const std::string text = reference.string();
    const std::size_t sign = text.find('=');
    std::error_code ignored;
    if (sign == std::string::npos || sign == 0 || text.find('/') < sign ||
        std::filesystem::exists(reference, ignored))
        return {"", reference};
    return {text.substr(0, sign), text.substr(sign + 1)};
}

template <typename Open>
std::vector<detail::FastaFile> open_all(std::span<const std::filesystem::path> references, const Open& open) {
    BIGBIRD_EXPECTS(!references.empty(), "a reference is made of at least one file");
    std::vector<detail::FastaFile> files;
    for (const std::filesystem::path& reference : references) {
        const auto [name, path] = split_name(reference);
        detail::FastaFile& file = files.emplace_back(open(path));
        for (detail::FastaEntry& contig : file.contigs)
            if (!name.empty()) contig.name.insert(0, name + "#");
    }
    return files;
}

}  // namespace

ReferenceGenome::ReferenceGenome(std::vector<detail::FastaFile> files, Repeated repeated)
    : files_(std::move(files)) {
    std::unordered_map<std::string, Place> seen;
    std::unordered_map<std::string, std::int64_t> records;  // records per name, where names repeat
    std::int64_t renamed = 0;
    for (std::size_t file = 0; file < files_.size(); ++file) {
        const std::vector<detail::FastaEntry> contigs = std::exchange(files_[file].contigs, {});
        for (std::size_t i = 0; i < contigs.size(); ++i) {
            const std::string& name = contigs[i].name;
            Contig contig{name, contigs[i].length};
            const Place here{file, i, contigs[i].line};
            if (!is_utf8(name)) {
                throw InputError(std::string("has a contig whose name is ") + not_utf8, files_[file].path,
                                 here.line);
            }
            for (auto [earlier, fresh] = seen.emplace(name, here); !fresh;
                 fresh = seen.emplace(contig.name, here).second) {
                if (repeated == Repeated::refuse) refuse_twice(name, earlier->second, here);
                contig.name = name + "#" + std::to_string(1 + ++records[name]);
            }
            renamed += contig.name != name ? 1 : 0;
            contigs_.push_back(std::move(contig));
            places_.push_back(here);
        }
    }
    if (renamed > 0) {
        log_info("{}: {} with the name of an earlier one; the second is called NAME#2",
                 files_.front().path.string(), counted(renamed, "record"));
    }
    names_ = ContigNames(contigs_);
}

std::string ReferenceGenome::fetch(const Interval& where) const {
    BIGBIRD_EXPECTS(where.begin <= where.end, "an interval ends before it begins: " + to_string(where));
    const auto contig = find(where.contig);
    if (!contig) throw InputError("contig '" + where.contig + "' is not in the reference");
    const std::int64_t length = contigs_[*contig].length;
    const std::int64_t begin = std::clamp<std::int64_t>(where.begin, 0, length);
    const std::int64_t end = std::clamp<std::int64_t>(where.end, 0, length);
    std::string bases = files_[places_[*contig].file].fetch(places_[*contig].index, begin, end);
    if (where.begin < 0)
        bases.insert(0, static_cast<std::size_t>(std::min<std::int64_t>(0, where.end) - where.begin), 'N');
    bases.resize(static_cast<std::size_t>(where.size()), 'N');
    return bases;
}

void ReferenceGenome::refuse_twice(const std::string& name, const Place& first, const Place& second) const {
    const std::filesystem::path& file = files_[first.file].path;
    std::string what = "contig '" + name + "' occurs twice, first in " + file.string() +
                       (first.line > 0 ? ":" + std::to_string(first.line) : "") +
                       ": each name may stand for one sequence";
    if (first.file != second.file) {
        what += "; where each file is a genome of its own, name them, as in --reference one=" +
                file.filename().string() + ", and contigs are called one#" + name;
    }
    throw InputError(what, files_[second.file].path, second.line);
}

std::unique_ptr<ReferenceGenome> open_references(std::span<const std::filesystem::path> fastas,
                                                 LetterCase letter_case) {
    return std::make_unique<ReferenceGenome>(open_all(
        fastas, [letter_case](
                    const std::filesystem::path& fasta) { return detail::open_fasta(fasta, letter_case); }));
}

std::unique_ptr<ReferenceGenome> open_contig_lengths(std::span<const std::filesystem::path> references) {
    return std::make_unique<ReferenceGenome>(open_all(references, detail::open_lengths));
}

std::unique_ptr<ReferenceGenome> open_records(const std::filesystem::path& fasta) {
    const auto open = [](const std::filesystem::path& path) {
        return detail::open_fasta(path, LetterCase::upper);
    };
    return std::make_unique<ReferenceGenome>(open_all({&fasta, 1}, open), Repeated::number);
}

std::filesystem::path fasta_of(const std::filesystem::path& reference) {
    return split_name(reference).second;
}

std::unique_ptr<ReferenceGenome> open_reference(const std::filesystem::path& fasta) {
    return open_references({&fasta, 1});
}

std::unique_ptr<ReferenceGenome> in_memory_genome(std::vector<std::pair<std::string, std::string>> contigs,
                                                  LetterCase letter_case) {
    return std::make_unique<ReferenceGenome>(
        std::vector{detail::fasta_in_memory(std::move(contigs), letter_case)});
}

}  // namespace bigbird::genome
