// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/variant_sink.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bigbird::outputs {

namespace fs = std::filesystem;

std::vector<fs::path> variant_paths(const OutputSpec& outputs) {
    std::vector<fs::path> paths;
    std::ranges::copy_if(outputs.paths, std::back_inserter(paths), [&](const fs::path& path) {
        return kind_of(path, outputs.stream) == Kind::variants;
    });
    return paths;
}

void prepare_outputs_with_variants(const OutputSpec& outputs) {
    prepare_outputs(outputs);
    for (const fs::path& path : variant_paths(outputs))
        genome::prepare_variant_output(path, outputs.overwrite);
}

VariantSink& adopt_variants(Outputs& outputs, const fs::path& path, Overwrite overwrite,
                            const std::shared_ptr<genome::VariantHeader>& header, int threads) {
    auto sink = std::make_unique<VariantSink>(path, overwrite, header, threads);
    VariantSink& file = *sink;
    const bool bcf = genome::variant_format_of(path) == genome::VariantFormat::bcf;
    outputs.adopt(std::move(sink), path, bcf ? part_of_bcf : part_of_vcf);
    return file;
}

}  // namespace bigbird::outputs
