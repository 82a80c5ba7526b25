// SPDX-License-Identifier: Apache-2.0
// How documents are drawn from a genome (appendix F.1), for every command that draws them.
#pragma once

#include "bigbird/corpus/documents/document_builder.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace bigbird::cli {

struct DocumentOptions {
    corpus::BuildSpec spec;                     ///< but for include and exclude, which need the genome
    std::vector<std::string> include, exclude;  ///< contigs, regions, BED files
};
/// --passes, --sentences, --sentence-length, --start-offset, --include, --exclude, --reverse-complement,
/// --max-n-fraction.
void add_document_options(CLI::App& command, DocumentOptions& options);

/// The whole specification: the options with the BED files put on the genome. Throws InputError, ConfigError.
corpus::BuildSpec build_spec(const DocumentOptions& options, std::uint64_t seed,
                             const genome::ReferenceGenome& genome);

}  // namespace bigbird::cli
