// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::outputs {

/// Writes `output` from parts of --shard; the result is identical to the output of a single run. Reads each
/// part once, in constant memory except for tracks, which take about 32 bytes per row. Throws ConfigError if
/// `output` has another format than the parts. Throws InputError if a part holds other rows than its record
/// counts, or numbers of another type or shape, or rows of several parts overlap in a track of means. Throws
/// WriteError.
void merge_scores(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                  int threads);

/// The lines that a .h5 of scores of regions or sequences (predict) would have as .tsv; empty for another
/// file's name. A child process reads. Throws InputError if the file is damaged or holds other things.
rows::LineSource hdf5_lines(const std::filesystem::path& path);

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
