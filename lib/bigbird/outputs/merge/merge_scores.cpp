// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/merge_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/outputs/merge/mergers.hpp"

namespace bigbird::outputs {
namespace fs = std::filesystem;

void merge_scores(std::span<const Part> parts, const fs::path& output, Overwrite overwrite, int threads) {
    const PartRecord& first = parts.front().record;
    const std::optional<Kind> kind = kind_of(output);
    if (!kind || to_string(*kind) != first.kind || output == "-") {
        throw ConfigError(output.string() + ": the parts are of the format " + first.kind +
                          "; the output's name must end as theirs do, such as " +
                          parts.front().path.filename().string());
    }
    const Merge merge{.parts = parts,
                      .order = order_of(parts),
                      .run = score_run_from_json(first.run, part_record_path(parts.front().path)),
                      .output = output,
                      .overwrite = overwrite,
                      .threads = threads};
    switch (*kind) {
        case Kind::table:
        case Kind::csv:
        case Kind::long_table: {
            std::vector<fs::path> inputs;
            for (const Part& part : parts)
                inputs.push_back(part.path);
            return merge_lines(merge, inputs, output)->commit();
        }
        case Kind::npy:
            return merge_npy(merge);
        case Kind::hdf5:
            return merge_hdf5(merge);
        case Kind::bedgraph:
        case Kind::bigwig:
            return merge_tracks(merge, *kind);
    }
}

}  // namespace bigbird::outputs
