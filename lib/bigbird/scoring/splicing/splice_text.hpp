// SPDX-License-Identifier: Apache-2.0
// INFO fields and tables of splice scores.
#pragma once

#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/splice_genes.hpp"
#include "bigbird/scoring/splicing/splice_scorer.hpp"

#include <string>
#include <vector>

namespace bigbird::splicing {

/// What the header says of a run.
struct SpliceRun {
    bool pangolin = false, writes_status = false;
    SpliceOptions options;
    std::string family, weights_sha256, annotation_sha256;

    /// "SpliceAI" or "Pangolin".
    std::string info_name() const { return pangolin ? "Pangolin" : "SpliceAI"; }
    std::string status_name() const { return info_name() + "_STATUS"; }
    rows::Provenance provenance() const;
};

/// The lines that a VCF's header gets.
std::vector<std::string> header_lines(const SpliceRun& run);

/// The value of INFO: entries separated by commas; "" if there is none.
std::string info_of(const SpliceRecord& record, const std::vector<rows::SpliceGene>& genes);
/// "A|ok,<DEL>|symbolic".
std::string statuses_of(const SpliceRecord& record);

/// The columns of a table, and its rows' fields and values (none if an allele has no scores). `gene`: null if
/// the allele is in none. The fields are views.
outputs::TableSchema schema_of(const SpliceRun& run);
std::vector<rows::Field> fields_of(const SpliceRecord& record, const SpliceAllele& allele,
                                   const rows::SpliceGene* gene);
std::vector<float> values_of(const SpliceAllele& allele, const GeneEffect& effect);

}  // namespace bigbird::splicing
