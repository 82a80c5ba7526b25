// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/examples/build/tracks.hpp"

#include <string>

namespace bigbird::cli {

using BuildTracksOptions = FolderOptions<examples::TrackOptions>;

void setup_build_tracks(Program& program) {
    const auto [command, options] = program.add<BuildTracksOptions>(
        "build-tracks", "Peaks, coverage or sequences",
        "Make bins of the genome with their coverage, one number per track.\nfinetune, predict and evaluate "
        "use them like bins with labels.",
        "--signal --reference --assay --bin --validation --test --output",
        {{"ATAC fragment ends in bins of 50 bases on two yeast chromosomes, one of them held out",
          "--signal ../test_data/tracks/yeast.bedpe.gz --reference ../test_data/genome/yeast.fa.gz --include "
          "I VI --validation VI --bin 50 --output yeast-tracks"},
         {"Fragments and a bigWig, with the scales that a sheet names",
          "--signal ../test_data/tracks/tracks.tsv --reference ../test_data/genome/yeast.fa.gz --include I "
          "VI --validation VI --output two-tracks"}},
        folder_of(examples::build_tracks), [](CLI::App&, BuildTracksOptions& given) {
            given.spec.chooses_hold_outs = given.spec.validation.empty() && given.spec.test.empty();
        });
    examples::TrackOptions& tracks = options.spec;
    tracks.bin = 128;
    add_value(command, "--signal", "SHEET|FILE", tracks.signals,
              "A sheet with the columns name and path (and group, assay, min_mapq, keep_duplicates, scale, "
              "soft_clip, clip, count, shift, aggregate, strand_pair), or reads (BAM, CRAM, tagAlign), "
              "fragments (BED, BEDPE), bigWig or bedGraph")
        ->required();
    add_reference_option(command, tracks.references);
    add_value(command, "--bin", "BP", tracks.bin, "Bin size", CLI::PositiveNumber);
    add_read_options(command, tracks.reading);
    CLI::Option* peaks =
        add_value(command, "--peaks", "BED", tracks.peaks,
                  "Keep only bins in windows around the summits of these peaks (narrowPeak or BED)");
    add_value(command, "--window", "BP", tracks.peak_window,
              "Width of the window around each summit, in bases", CLI::PositiveNumber)
        ->needs(peaks);
    add_negatives_option(command, tracks.negatives,
                         "Also keep windows without a peak but with the same GC content; gc:RATIO keeps "
                         "RATIO such windows per peak")
        ->needs(peaks);
    add_seed_option(command, tracks.seed);
    add_bin_region_options(command, tracks.include, tracks.exclude);
    add_hold_out_options(command, tracks.validation, tracks.test,
                         "bins that overlap this sequence are held out; default: chosen automatically");
    command.add_flag("--skip-invalid", tracks.reading.skip_invalid, skips_mismatches);
    add_own_threads_option(command, tracks.reading.threads);
    add_output_options(command, options.output, "Example folder to write");
}

}  // namespace bigbird::cli
