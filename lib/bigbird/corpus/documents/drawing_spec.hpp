// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/corpus/documents/document_builder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::corpus {

/// How documents are drawn from a genome, while the genome is not open yet.
struct DrawingSpec {
    BuildSpec build{};                              ///< but for include and exclude
    std::vector<std::string> include{}, exclude{};  ///< contigs, regions, BED files

    /// The whole specification on a genome. Throws InputError, ConfigError.
    BuildSpec on(const genome::ReferenceGenome& genome, std::uint64_t seed) const;
};

}  // namespace bigbird::corpus
