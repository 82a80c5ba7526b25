// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/drawing_spec.hpp"

namespace bigbird::corpus {

BuildSpec DrawingSpec::on(const genome::ReferenceGenome& genome, std::uint64_t seed) const {
    BuildSpec spec = build;
    spec.documents.seed = seed;
    spec.validate();
    if (!include.empty()) spec.include = genome::read_region_set(genome, include, "--include");
    if (!exclude.empty()) spec.exclude = genome::read_region_set(genome, exclude, "--exclude");
    return spec;
}

}  // namespace bigbird::corpus
