// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/build/tracks.hpp"

#include <string>

namespace bigbird::cli {

using BuildTracksOptions = FolderOptions<examples::TrackOptions>;

void setup_build_tracks(Program& program) {
    const auto [command, options] = program.add<BuildTracksOptions>(
        "build-tracks", "Peaks, coverage or sequences",
        "Make bins of the genome with their coverage, one number per track.\nfinetune, predict and evaluate "
        "use them like bins with labels.",
        "--signal --reference --bin --count --validation --test --output",
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
              "A sheet with the columns name and path (and group, scale, soft_clip, clip, count, "
              "shift, aggregate, strand_pair), or bigWig, bedGraph or fragments (BED, BEDPE)")
        ->required();
    add_reference_option(command, tracks.references);
    add_value(command, "--bin", "BP", tracks.bin, "Bin size", CLI::PositiveNumber);
    add_choice_option(command, "--count", tracks.reading.counted, examples::counted_choices,
                      "Count a fragment's first and last base, or each of its bases");
    const auto set_shift = [&tracks](const std::string& text) {
        if (!tracks.reading.parse_shift(text))
            throw ConfigError("--shift takes two numbers of bases, such as 4,-5, not '" + text + "'");
    };
    add_parsed(command, "--shift", "BP,BP", set_shift,
               "Offsets added to a fragment's first and last base; 4,-5 for Tn5 fragments that are not yet "
               "shifted",
               "0,0");
    add_bin_region_options(command, tracks.include, tracks.exclude);
    add_hold_out_options(command, tracks.validation, tracks.test,
                         "a bin that overlaps them counts as inside; default: chosen automatically");
    command.add_flag("--skip-invalid", tracks.reading.skip_invalid, skips_mismatches);
    add_output_options(command, options.output, "Example folder to write");
}

}  // namespace bigbird::cli
