// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::outputs {

/// The outputs `paths` of merging the parts of a job of which `first` is one. Rows become any format,
/// variants VCF and BCF. Call it before the parts are read. Throws ConfigError as prepare_outputs(), and for
/// a format that needs other parts. Throws InputError for a damaged record.
OutputSpec merged_outputs(const Part& first, std::vector<std::filesystem::path> paths, Overwrite overwrite);

/// Writes `outputs`, from merged_outputs(), byte for byte as a single run does. Reads each part once, in
/// constant memory but for the rows that tracks keep. Throws InputError if a part holds other rows than its
/// record counts. Throws WriteError, and ConfigError as Outputs.
void merge_scores(std::span<const Part> parts, const OutputSpec& outputs, int threads);

/// The lines that a .h5 of scores of regions or sequences (predict) would have as .tsv; empty for another
/// file's name. A child process reads. Throws InputError if the file is damaged or holds other things.
rows::LineSource hdf5_lines(const std::filesystem::path& path);
/// The same of a .h5, and of a .npy with the tables beside it. A .npy is read from mapped memory.
rows::LineSource score_lines(const std::filesystem::path& path);

// Readers of bigWig and of attributions. A child process reads, since libBigWig and HDF5 can crash on a
// damaged file.

/// The segments of each contig, in the contigs' order; Segment::contig is an index in `contigs`. The file may
/// use another of a contig's usual names (genome::ContigNames); a contig that it lacks has none. Throws
/// InputError as examples::read_bigwig().
std::vector<Segment> read_bigwig(const std::filesystem::path& path, std::span<const genome::Contig> contigs);

/// The mean over the bases of [begin, end) that have a value; nullopt if none has. `segments`: from
/// read_bigwig().
std::optional<double> mean_over(std::span<const Segment> segments, std::size_t contig, std::int64_t begin,
                                std::int64_t end);

/// Contributions of all regions' bases to one label.
struct LabelContributions {
    std::string label;  ///< the file's attribute "label", else the file's name
    std::vector<motifs::Contributions> regions{};
};

/// Reads HDF5 in TF-MoDISco's form, as predict-mutagenesis and attribute write it: raw/seq, one-hot sequence,
/// and shap/seq, scores of A C G T, both (regions, 4, length). A base's contribution is the score of its
/// letter minus the mean of the four, so that effects of substitutions and hypothetical contributions are
/// treated alike. Throws InputError.
LabelContributions read_attributions(const std::filesystem::path& path);

}  // namespace bigbird::outputs
