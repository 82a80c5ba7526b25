// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"

#include <cstdint>

namespace bigbird::corpus {

/// What build_documents would make, by contig lengths alone.
struct Forecast {
    BuildCounts counts;  ///< too_much_n is 0: sequence is not looked at, so fewer may be left
    std::int64_t contigs = 0, genome_bases = 0, text_bytes = 0, coordinate_bytes = 0;  ///< uncompressed
};

/// `lengths` may come from open_contig_lengths. Exact but for sentences that are mostly N. Throws ConfigError
/// from spec.validate().
Forecast forecast_documents(const genome::ReferenceGenome& lengths, const BuildSpec& spec, int threads);

/// For people: "key  value" lines, the paper's number beside it.
std::string describe(const Forecast& forecast, const BuildSpec& spec);
/// For programs.
Json to_json(const Forecast& forecast, const BuildSpec& spec);

}  // namespace bigbird::corpus
