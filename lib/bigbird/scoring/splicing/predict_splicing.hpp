// SPDX-License-Identifier: Apache-2.0
// predict-variants with a splice network. Outputs appear only when they are complete. Memory does not grow
// with the number of records. Each function throws InputError, ConfigError, WriteError, Stopped.
#pragma once

#include "bigbird/scoring/splicing/splice_scorer.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace bigbird::splicing {

struct SpliceReport {
    std::int64_t records = 0, alleles = 0, scored = 0;            ///< scored alleles have an effect per gene
    std::array<std::int64_t, splice_statuses.size()> statuses{};  ///< alleles, by SpliceStatus
    std::int64_t repeats = 0;  ///< records with an insertion that repeats the bases beside it
};

/// Writes VCF or BCF with all records of the input in order: INFO SpliceAI, one entry for each alternative
/// allele (outer) and gene (inner) that has scores, of Pangolin's networks INFO Pangolin; with `--write
/// status` also why alleles have none. And tables, a row for each record, allele and gene.
SpliceReport predict_splicing(const tasks::VariantSpec& spec);
/// The same by a model that is open.
SpliceReport predict_splicing(const tasks::VariantSpec& spec, const SpliceModel& model);

/// "3 of 5 alleles scored; no_gene 1, mnv 1".
std::string describe(const SpliceReport& report);

struct SpliceForecast {
    std::int64_t alleles = 0, pairs = 0, tried = 0;  ///< alleles, alleles in genes, and those tried
    double seconds = 0;                              ///< of all, by what those tried took
    std::int64_t memory = 0;                         ///< bytes; peak of this process
};

/// What a trial, or a job, is made of.
struct SpliceEffort {
    std::int64_t passes = 0, pairs = 0;  ///< over the reference; alleles in genes
    double seconds = 0;
};
/// The seconds of `job`, from those that a pass and an allele take in two trials; if the trials have the same
/// alleles per pass, from those of an allele in the second one.
double seconds_of_job(const SpliceEffort& job, const SpliceEffort& few, const SpliceEffort& many);

/// Scores runs of adjacent records from all over the file for about `seconds_of_trial`. Writes nothing.
SpliceForecast forecast_splicing(const tasks::VariantSpec& spec, double seconds_of_trial = 3);
SpliceForecast forecast_splicing(const tasks::VariantSpec& spec, const SpliceModel& model,
                                 double seconds_of_trial = 3);
/// Text for people, one fact per line.
std::string describe(const SpliceForecast& forecast);

}  // namespace bigbird::splicing
