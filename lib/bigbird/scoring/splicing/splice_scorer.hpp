// SPDX-License-Identifier: Apache-2.0
// Records of variants in, effects of their alleles on genes out.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/rows/splice_genes.hpp"
#include "bigbird/scoring/splicing/effects.hpp"
#include "bigbird/scoring/splicing/splice_model.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace bigbird::splicing {

/// Why an allele has no scores; the first that applies.
enum class SpliceStatus : std::uint8_t {
    no_alt,        ///< ALT is "."
    no_contig,     ///< the reference has no such contig
    no_gene,       ///< POS is in no gene
    ref_mismatch,  ///< the reference differs from REF
    lower_case,    ///< REF has small letters, which the program compares with large ones
    near_end,      ///< the window reaches past an end of the contig
    too_long,      ///< REF is longer than the program reads, or than 10,000 bases
    symbolic,      ///< ALT is not sequence
    mnv,           ///< both alleles have several bases, which the program does not score
    ok,
};
inline constexpr Choices<SpliceStatus, 10> splice_statuses{{{SpliceStatus::no_alt, "no_alt"},
                                                            {SpliceStatus::no_contig, "no_contig"},
                                                            {SpliceStatus::no_gene, "no_gene"},
                                                            {SpliceStatus::ref_mismatch, "ref_mismatch"},
                                                            {SpliceStatus::lower_case, "lower_case"},
                                                            {SpliceStatus::near_end, "near_end"},
                                                            {SpliceStatus::too_long, "too_long"},
                                                            {SpliceStatus::symbolic, "symbolic"},
                                                            {SpliceStatus::mnv, "mnv"},
                                                            {SpliceStatus::ok, "ok"}}};

/// An allele in a gene.
struct GeneEffect {
    std::size_t gene = 0;  ///< index in the annotation
    std::variant<SpliceEffect, PangolinEffect> effect{};
};

struct SpliceAllele {
    std::string alt;  ///< "." of a record without ALT
    SpliceStatus status = SpliceStatus::ok;
    std::vector<GeneEffect> genes{};  ///< whose transcript has POS; effects only if the status is ok
};

struct SpliceRecord {
    genome::Variant variant;
    std::int64_t segment = 0;  ///< of a job in parts (core/parts)
    std::vector<SpliceAllele> alleles{};
    bool repeats = false;  ///< an insertion that repeats the bases beside it
};

/// Settings of the scores.
struct SpliceOptions {
    tasks::SpliceMode mode = tasks::SpliceMode::spliceai;
    std::int64_t distance = 50;
    bool mask = false;
};

/// Scores records. Alleles in one tile of a gene share the reference's pass. Tiles are those of a fixed grid,
/// so that the other records change no bit of a score. Not thread-safe.
class SpliceScorer {
public:
    /// All must outlive the scorer.
    SpliceScorer(const SpliceModel& model, const genome::ReferenceGenome& reference,
                 const rows::SpliceGenes& genes, const SpliceOptions& options);

    /// Sets the alleles of records, with their statuses, without scores. Thread-safe.
    void prepare(SpliceRecord& record) const;
    /// Sets the effects of prepared records. `progress` is called with the number of alleles in genes that
    /// are done. Throws InputError if the network gives no numbers; Stopped.
    void score(std::span<SpliceRecord> records, int threads,
               const std::function<void(std::int64_t)>& progress = {});

    /// Passes over the reference that score() makes for prepared records.
    std::int64_t passes_of(std::span<SpliceRecord> records) const;

    /// Largest number of bases of a REF in the mode `exact`.
    static constexpr std::int64_t longest_ref = 10'000;
    /// Alleles that share a pass.
    static constexpr std::int64_t most_jobs = 256;
    /// Bases of a tile; its pass reads half of the context more on each side.
    std::int64_t tile_size() const;

private:
    struct Job;
    /// Bases around the alleles of jobs, whose outputs are read.
    struct Reach {
        std::int64_t begin = 0, end = 0;
        auto operator<=>(const Reach&) const = default;
    };
    bool is_pangolin() const { return model_.channels() != 3; }
    bool by_program() const { return options_.mode == tasks::SpliceMode::spliceai; }
    SpliceStatus status_of(const genome::Variant& variant, const genome::Contig& contig) const;
    SpliceStatus status_of_alt(const genome::Variant& variant, const std::string& alt) const;
    Reach reach_of(const genome::Variant& variant) const;
    /// The bases whose outputs a pass for a variant in a gene gives.
    Reach tile_of(const genome::Variant& variant, const rows::SpliceGene& gene) const;
    std::vector<std::uint8_t> codes_of(const rows::SpliceGene& gene, const genome::Interval& where) const;
    /// By gene, tile and position.
    std::vector<Job> jobs_of(std::span<SpliceRecord> records) const;
    /// Jobs that share a pass.
    static std::vector<std::span<const Job>> stretches_of(const std::vector<Job>& jobs);
    void score_stretch(std::span<const Job> jobs, int threads);
    std::array<networks::SpliceEdit, 2> edits_of(const Job& job, const genome::Interval& where) const;
    void set_effect(const Job& job, std::vector<float> ref, std::vector<float> alt) const;

    const SpliceModel& model_;
    const genome::ReferenceGenome& reference_;
    const rows::SpliceGenes& genes_;
    SpliceOptions options_;
};

}  // namespace bigbird::splicing
