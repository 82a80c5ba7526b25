// SPDX-License-Identifier: Apache-2.0
// Scores as files, the format told by the name's ending:
//   .tsv .tsv.gz .tsv.bgz   score table (bgzip), also "-"
//   .long.tsv[.gz]          a line for each row and label above a score
//   .npy                    matrix with side tables .rows.tsv and .labels.tsv
//   .h5 .hdf5               HDF5
//   .bedgraph[.gz] .bdg     one label along the genome; also .bedGraph
//   .bw .bigwig             the same as bigWig; also .bigWig
// A track holds one label; for several its name holds {label}, in whose place the label's id comes.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/layout.hpp"
#include "bigbird/outputs/track_sink.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::outputs {

struct OutputSpec {
    std::vector<std::filesystem::path> paths{};
    Overwrite overwrite = Overwrite::refuse;
    std::optional<double> min_score{};  ///< of .long.tsv, which needs it
    Overlap overlap = Overlap::mean;    ///< of tracks
    bool tracks = true;                 ///< false: rows are no places of the genome
};

/// Call it before the work starts. Throws ConfigError: an ending that is none of the above, a name given
/// twice, .long.tsv without min_score, a track where there are none, an output that exists or cannot be made.
void prepare_outputs(const OutputSpec& spec);

/// All outputs of one run, each with all rows. Not thread-safe.
class Outputs {
public:
    /// `track_columns` are those of layout.columns that tracks are made of; `contigs` those of the genome,
    /// for tracks. Throws ConfigError where several tracks would have one name.
    Outputs(const OutputSpec& spec, const Layout& layout, std::span<const std::size_t> track_columns,
            std::span<const genome::Contig> contigs, int threads);

    void write(std::span<const rows::Field> head, std::span<const float> values);
    /// Puts all in place. Throws WriteError.
    void commit();

private:
    std::vector<std::unique_ptr<Sink>> sinks_;
};

}  // namespace bigbird::outputs
