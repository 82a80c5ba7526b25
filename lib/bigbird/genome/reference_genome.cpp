// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference_genome.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/genome/contig_names.hpp"
#include "bigbird/genome/detail/fasta_file.hpp"

#include <algorithm>
#include <unordered_map>

namespace bigbird::genome {

namespace {

/// The contigs of all files, one after the other.
class JoinedGenome : public ReferenceGenome {
public:
    explicit JoinedGenome(std::vector<std::unique_ptr<detail::FastaFile>> files)
        : files_(std::move(files)), names_({}) {
        std::unordered_map<std::string, std::string> seen;
        for (std::size_t file = 0; file < files_.size(); ++file) {
            const auto contigs = files_[file]->contigs();
            for (std::size_t i = 0; i < contigs.size(); ++i) {
                const auto [earlier, fresh] =
                    seen.emplace(contigs[i].contig.name, place(file, contigs[i].line));
                if (!fresh) {
                    throw InputError("contig '" + contigs[i].contig.name + "' occurs twice, first in " +
                                         earlier->second + ": each name may stand for one sequence",
                                     files_[file]->path(), contigs[i].line);
                }
                contigs_.push_back(contigs[i].contig);
                places_.push_back({file, i});
            }
        }
        names_ = ContigNames(contigs_);
    }

    std::span<const Contig> contigs() const override { return contigs_; }

    std::optional<std::size_t> find(std::string_view contig) const override { return names_.find(contig); }

    std::string fetch(const Interval& where) const override {
        BIGBIRD_EXPECTS(where.begin <= where.end, "an interval ends before it begins: " + to_string(where));
        const auto contig = find(where.contig);
        if (!contig) {
            throw InputError("contig '" + where.contig + "' is not in the reference");
        }
        const std::int64_t length = contigs_[*contig].length;
        const std::int64_t begin = std::clamp<std::int64_t>(where.begin, 0, length);
        const std::int64_t end = std::clamp<std::int64_t>(where.end, 0, length);
        std::string bases = files_[places_[*contig].file]->fetch(places_[*contig].index, begin, end);
        if (where.begin < 0) {
            bases.insert(0, static_cast<std::size_t>(std::min<std::int64_t>(0, where.end) - where.begin),
                         'N');
        }
        bases.resize(static_cast<std::size_t>(where.size()), 'N');
        return bases;
    }

private:
    struct Place {
        std::size_t file = 0, index = 0;
    };

    std::string place(std::size_t file, std::int64_t line) const {
        return files_[file]->path().string() + (line > 0 ? ":" + std::to_string(line) : "");
    }

    std::vector<std::unique_ptr<detail::FastaFile>> files_;
    std::vector<Contig> contigs_;
    std::vector<Place> places_;
    ContigNames names_;
};

}  // namespace

std::unique_ptr<ReferenceGenome> open_references(std::span<const std::filesystem::path> fastas) {
    BIGBIRD_EXPECTS(!fastas.empty(), "a reference is made of at least one file");
    std::vector<std::unique_ptr<detail::FastaFile>> files;
    for (const std::filesystem::path& fasta : fastas) {
        files.push_back(detail::open_fasta(fasta));
    }
    return std::make_unique<JoinedGenome>(std::move(files));
}

std::unique_ptr<ReferenceGenome> open_reference(const std::filesystem::path& fasta) {
    return open_references({&fasta, 1});
}

std::unique_ptr<ReferenceGenome> in_memory_genome(std::vector<std::pair<std::string, std::string>> contigs) {
    std::vector<std::unique_ptr<detail::FastaFile>> files;
    files.push_back(detail::fasta_in_memory(std::move(contigs)));
    return std::make_unique<JoinedGenome>(std::move(files));
}

}  // namespace bigbird::genome
