// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/splice_scorer.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/scoring/splicing/splice_codes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <tuple>
#include <utility>

namespace bigbird::splicing {

using genome::Interval;
using rows::SpliceGene;

namespace {

bool has_small_letters(const std::string& text) {
    return std::ranges::any_of(
        text, [](char letter) { return letter >= 'a' && letter <= 'z'; });
}

/// Sites of the gene relative to a position.
std::vector<std::int64_t> relative(std::vector<std::int64_t> sites, std::int64_t position) {
    for (std::int64_t& site : sites)
        site -= position;
    return sites;
}

/// The first of the nearest to 0.
std::int64_t nearest_of(const std::vector<std::int64_t>& sites) {
    return *std::ranges::min_element(
        sites, {}, [](std::int64_t site) { return std::abs(site); });
}

void require_numbers(std::span<const float> values) {
    if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return;
    throw InputError("the network gives probabilities that are no numbers: its weights are damaged");
}

/// Whether an insertion repeats the bases behind or before it.
bool repeats_neighbours(const genome::Variant& variant, const std::string& alt, const std::string& contig,
                        const genome::ReferenceGenome& reference) {
    if (variant.ref.size() != 1 || alt.size() < 2) return false;
    std::string inserted = alt.substr(1);
    genome::normalise(inserted);
    const std::int64_t size = std::ssize(inserted), at = variant.position + 1;
    return reference.fetch({contig, at, at + size}) == inserted ||
           (at >= size && reference.fetch({contig, at - size, at}) == inserted);
}

}  // namespace

/// An allele in a gene whose effect is to be computed.
struct SpliceScorer::Job {
    const genome::Variant* variant;
    const std::string* alt;
    GeneEffect* result;
    Reach reach, tile;
};

SpliceScorer::SpliceScorer(const SpliceModel& model, const genome::ReferenceGenome& reference,
                           const rows::SpliceGenes& genes, const SpliceOptions& options)
    : model_(model), reference_(reference), genes_(genes), options_(options) {}

std::int64_t SpliceScorer::tile_size() const {
    constexpr std::int64_t least = 64;
    return std::max(least, model_.context() / 5);
}

/// The bases whose outputs are read for a record's alleles.
SpliceScorer::Reach SpliceScorer::reach_of(const genome::Variant& variant) const {
    const std::int64_t last =
        variant.position + (by_program() && !is_pangolin() ? 1 : std::ssize(variant.ref));
    // A deletion of the program reads no further than a substitution, but its REF may reach further.
    return {variant.position - options_.distance, last + options_.distance};
}

SpliceScorer::Reach SpliceScorer::tile_of(const genome::Variant& variant, const SpliceGene& gene) const {
    constexpr std::int64_t spare = 64,
                           step = 1024;  // bases of REF that a tile has room for, and of longer ones
    const std::int64_t first = variant.position / tile_size() * tile_size(), refs = std::ssize(variant.ref);
    const std::int64_t end = std::min(first + tile_size(), gene.end) + options_.distance + spare;
    // The program's deletions may take bases from behind their windows.
    const std::int64_t needed =
        std::max(reach_of(variant).end, variant.position + refs + 1 - model_.context() / 2);
    const std::int64_t longer = needed > end ? (needed - end + step - 1) / step * step : 0;
    return {std::max(first, gene.begin) - options_.distance, end + longer};
}

SpliceStatus SpliceScorer::status_of(const genome::Variant& variant, const genome::Contig& contig) const {
    const Interval where{contig.name, variant.position, variant.position + std::ssize(variant.ref)};
    std::string ref = variant.ref;
    genome::normalise(ref);
    if (where.end > contig.length || reference_.fetch(where) != ref) return SpliceStatus::ref_mismatch;
    if (by_program() && has_small_letters(variant.ref)) return SpliceStatus::lower_case;
    const auto [begin, end] = reach_of(variant);
    const std::int64_t side = model_.context() / 2;
    if (begin < side || end + side > contig.length) return SpliceStatus::near_end;
    const std::int64_t longest = by_program() ? 2 * options_.distance : longest_ref;
    return std::ssize(variant.ref) > longest ? SpliceStatus::too_long : SpliceStatus::ok;
}

SpliceStatus SpliceScorer::status_of_alt(const genome::Variant& variant, const std::string& alt) const {
    constexpr const char* letters = "ACGTUNRYSWKMBDHVacgtunryswkmbdhv";
    if (alt.empty() || alt.find_first_not_of(letters) != std::string::npos) return SpliceStatus::symbolic;
    const bool several = variant.ref.size() > 1 && alt.size() > 1;
    return several && by_program() && !is_pangolin() ? SpliceStatus::mnv : SpliceStatus::ok;
}

void SpliceScorer::prepare(SpliceRecord& record) const {
    const genome::Variant& variant = record.variant;
    record.alleles.clear();
    for (const std::string& alt : variant.alts)
        record.alleles.push_back({alt});
    if (variant.alts.empty()) record.alleles.push_back({".", SpliceStatus::no_alt});
    if (variant.alts.empty()) return;
    const auto set_all = [&](SpliceStatus status) {
        for (SpliceAllele& allele : record.alleles)
            allele.status = status;
    };
    const auto index = reference_.find(variant.contig);
    if (!index) return set_all(SpliceStatus::no_contig);
    const std::vector<std::size_t> genes = genes_.at(*index, variant.position);
    if (genes.empty()) return set_all(SpliceStatus::no_gene);
    const genome::Contig& contig = reference_.contigs()[*index];
    set_all(status_of(variant, contig));
    for (SpliceAllele& allele : record.alleles) {
        for (const std::size_t gene : genes)
            allele.genes.push_back({gene});
        if (allele.status != SpliceStatus::ok) continue;
        allele.status = status_of_alt(variant, allele.alt);
        if (allele.status == SpliceStatus::ok)
            record.repeats |= repeats_neighbours(variant, allele.alt, contig.name, reference_);
    }
}

std::vector<SpliceScorer::Job> SpliceScorer::jobs_of(std::span<SpliceRecord> records) const {
    std::vector<Job> jobs;
    for (SpliceRecord& record : records)
        for (SpliceAllele& allele : record.alleles)
            for (GeneEffect& effect : allele.genes)
                if (allele.status == SpliceStatus::ok)
                    jobs.push_back({&record.variant, &allele.alt, &effect, reach_of(record.variant),
                                    tile_of(record.variant, genes_.genes()[effect.gene])});
    std::ranges::stable_sort(jobs, {}, [](const Job& job) {
        return std::tuple(job.result->gene, job.tile, job.variant->position);
    });
    return jobs;
}

std::vector<std::span<const SpliceScorer::Job>> SpliceScorer::stretches_of(const std::vector<Job>& jobs) {
    std::vector<std::span<const Job>> stretches;
    for (auto first = jobs.begin(), last = first; first != jobs.end(); first = last) {
        while (last != jobs.end() && last - first < most_jobs && last->result->gene == first->result->gene &&
               last->tile == first->tile)
            ++last;
        stretches.emplace_back(first, last);
    }
    return stretches;
}

std::int64_t SpliceScorer::passes_of(std::span<SpliceRecord> records) const {
    return std::ssize(stretches_of(jobs_of(records)));
}

void SpliceScorer::score(std::span<SpliceRecord> records, int threads,
                         const std::function<void(std::int64_t)>& progress) {
    constexpr int most_tiles_at_once = 8;  // of 4.3 kB for each base
    const std::vector<Job> jobs = jobs_of(records);
    const auto stretches = stretches_of(jobs);
    const int at_once =
        std::clamp(static_cast<int>(stretches.size()), 1, std::min(threads, most_tiles_at_once));
    std::mutex mutex;
    std::int64_t done = 0;
    parallel_for(std::ssize(stretches), at_once, [&](std::int64_t i) {
        stop_if_asked();
        const auto stretch = stretches[static_cast<std::size_t>(i)];
        score_stretch(stretch, threads / at_once);
        const std::scoped_lock lock(mutex);
        done += std::ssize(stretch);
        if (progress) progress(done);
    });
}

/// The bases of a place on the gene's strand. The program has N outside a transcript, Pangolin has not.
std::vector<std::uint8_t> SpliceScorer::codes_of(const SpliceGene& gene, const Interval& where) const {
    std::vector<std::uint8_t> codes = codes_of_text(reference_.fetch(where));
    for (std::int64_t i = 0; !is_pangolin() && i < std::ssize(codes); ++i)
        if (where.begin + i < gene.begin || where.begin + i >= gene.end)
            codes[static_cast<std::size_t>(i)] = code_of_n;
    if (gene.reverse()) reverse_codes(codes);
    return codes;
}

void SpliceScorer::score_stretch(std::span<const Job> jobs, int threads) {
    const SpliceGene& gene = genes_.genes()[jobs.front().result->gene];
    const std::int64_t side = model_.context() / 2;
    const Interval where{reference_.contigs()[*reference_.find(gene.contig)].name,
                         jobs.front().tile.begin - side, jobs.front().tile.end + side};
    std::vector<networks::SpliceEdit> edits;
    std::vector<std::size_t> of_ref;  // edits, by job: alleles of one window share its reference
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        auto [none, edit] = edits_of(jobs[i], where);
        const bool shared = i > 0 && jobs[i].reach == jobs[i - 1].reach;
        of_ref.push_back(shared ? of_ref.back() : edits.size());
        if (!shared) edits.push_back(std::move(none));
        edits.push_back(std::move(edit));
    }
    const auto outputs = model_.edited(codes_of(gene, where), edits, threads);
    std::size_t next = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        next = std::max(next, of_ref[i]) + 1;
        set_effect(jobs[i], outputs[of_ref[i]], outputs[next]);
    }
}

/// The unchanged window of an allele in a gene, and the edited one, on the stretch `where` of its strand.
std::array<networks::SpliceEdit, 2> SpliceScorer::edits_of(const Job& job, const Interval& where) const {
    const std::int64_t position = job.variant->position, removed = std::ssize(job.variant->ref);
    const std::int64_t grown = std::ssize(*job.alt) - removed, outputs = where.size() - model_.context();
    const std::int64_t begin = job.reach.begin - where.begin - model_.context() / 2;
    const std::int64_t end = begin + job.reach.end - job.reach.begin;
    networks::SpliceEdit none{.at = position - where.begin, .begin = begin, .end = end};
    networks::SpliceEdit edit{.at = none.at,
                              .removed = removed,
                              .inserted = codes_of_text(*job.alt),
                              .begin = begin,
                              .end = end + grown};
    if (genes_.genes()[job.result->gene].reverse()) {
        none.at = edit.at = where.end - position - removed;
        reverse_codes(edit.inserted);
        none.begin = outputs - end;
        none.end = outputs - begin;
        edit.begin = outputs - end;  // both grow by `grown`
        edit.end = outputs + grown - begin;
    }
    return {std::move(none), std::move(edit)};
}

void SpliceScorer::set_effect(const Job& job, std::vector<float> ref, std::vector<float> alt) const {
    const SpliceGene& gene = genes_.genes()[job.result->gene];
    for (std::vector<float>* values : {&ref, &alt}) {
        require_numbers(*values);
        if (gene.reverse()) reverse_positions(*values, model_.channels());
    }
    const std::int64_t position = job.variant->position;
    const AlleleWindow window{ref, alt, options_.distance, std::ssize(job.variant->ref),
                              std::ssize(*job.alt)};
    const std::vector<std::int64_t> boundaries = relative(gene.boundaries(), position);
    if (is_pangolin()) {
        job.result->effect =
            pangolin_effect(window, model_.channels(), options_.mask ? &boundaries : nullptr);
    } else if (by_program()) {
        job.result->effect =
            program_effect(window, options_.mask ? std::optional(nearest_of(boundaries)) : std::nullopt);
    } else {
        const KnownSites sites{relative(gene.acceptors(), position), relative(gene.donors(), position)};
        job.result->effect = exact_effect(window, options_.mask ? &sites : nullptr);
    }
}

}  // namespace bigbird::splicing
