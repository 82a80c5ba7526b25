// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/examples/build/promoters.hpp"

#include <string>

namespace bigbird::cli {

using BuildPromotersOptions = FolderOptions<examples::PromoterOptions>;

void setup_build_promoters(Program& program) {
    const auto [command, options] = program.add<BuildPromotersOptions>(
        "build-promoters", "Peaks, coverage or sequences",
        "Make labeled promoter examples from transcription start sites",
        "--tss --reference --chain --window --validation --test --output",
        {{"Windows around TSSs lifted over from hg38, with one held-out region",
          "--tss ../test_data/promoter/tss.hg38.bed.gz --chain "
          "../test_data/promoter/hg38ToHg19.chr22.chain.gz --reference ../test_data/genome/22.fa.gz --window "
          "-1000:500 --test 22:20500001-22000000 --output my-promoters"},
         {"Windows of 8,000 bases as in the paper, with other windows of the genome as negatives",
          "--tss ../test_data/promoter/tss.hg19.bed --reference ../test_data/genome/22.fa.gz --negatives "
          "genomic --output genomic-promoters"}},
        folder_of(examples::build_promoters));
    examples::PromoterOptions& promoters = options.spec;
    add_value(
        command, "--tss", "BED|GTF|GFF3", promoters.tss,
        "Transcription start sites: a BED with strand, such as EPDnew's, or the transcripts of a GTF or GFF3")
        ->required();
    add_reference_option(command, promoters.references);
    add_parsed(
        command, "--chain", "FILE", [&promoters](const std::string& text) { promoters.chain = text; },
        "Chain file to lift the TSSs over, such as hg38ToHg19.over.chain.gz");
    const auto set_window = [&promoters](const std::string& text) {
        if (!text.empty()) promoters.bounds = rows::parse_window_bounds(text);
    };
    add_parsed(command, "--window", "A:B", set_window,
               "Window from A up to (not including) B, relative to the TSS; mirrored on the minus strand",
               "-5000:3000");
    add_choice_option(
        command, "--negatives", promoters.negatives, examples::negative_choices,
        "random-bases, permuted: cut a promoter into 20 parts and randomize or permute 12 of them; shuffled: "
        "shuffle a promoter, keeping the number of each dinucleotide; genomic: other windows of the genome");
    add_hold_out_options(command, promoters.validation, promoters.test,
                         "windows whose TSS is in this sequence are held out");
    add_seed_option(command, promoters.seed);
    command.add_flag("--skip-invalid", promoters.skip_invalid, skips_mismatches);
    add_own_threads_option(command, promoters.threads);
    add_output_options(command, options.output, "Example folder to write");
}

}  // namespace bigbird::cli
