// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/examples/build/promoters.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace bigbird::cli {

struct BuildPromotersOptions {
    examples::PromoterOptions promoters;
    std::filesystem::path chain;
    std::string window = "-5000:3000", negatives = "random-bases";
    OutputOptions output;
};

namespace {

int run_build_promoters(const BuildPromotersOptions& options) {
    examples::PromoterOptions promoters = options.promoters;
    if (!options.chain.empty()) promoters.chain = options.chain;
    promoters.bounds = rows::parse_window_bounds(options.window);
    promoters.negatives = parse_choice(examples::negative_choices, "--negatives", options.negatives);
    promoters.threads = resolve_threads(promoters.threads);
    options.output.make_folder(
        [&](const std::filesystem::path& folder) { examples::build_promoters(promoters, folder); });
    return 0;
}

}  // namespace

void setup_build_promoters(Program& program) {
    auto options = std::make_shared<BuildPromotersOptions>();
    examples::PromoterOptions& promoters = options->promoters;
    promoters.threads = 0;
    CLI::App& command = program.add("build-promoters", "Promoters",
                                    "Make labeled promoter examples from transcription start sites", options,
                                    run_build_promoters);
    add_value(command, "--tss", "BED", promoters.tss,
              "Transcription start sites with strand, such as EPDnew's BED")
        ->required();
    add_reference_option(command, promoters.references);
    add_value(command, "--chain", "FILE", options->chain,
              "Chain file to lift the TSSs over, such as hg38ToHg19.over.chain.gz");
    add_value(command, "--window", "A:B", options->window,
              "Window from A up to (not including) B, relative to the TSS; mirrored on the minus strand");
    add_value(command, "--negatives", "random-bases|permuted|shuffled|genomic", options->negatives,
              "random-bases, permuted: cut a promoter into 20 parts and randomize or permute 12 of "
              "them; shuffled: shuffle a promoter, keeping the number of each dinucleotide; genomic: other "
              "windows of the genome",
              CLI::IsMember({"random-bases", "permuted", "shuffled", "genomic"}));
    add_value(command, "--max-n-fraction", "SHARE", promoters.max_n_fraction, "", CLI::Range(0.0, 1.0));
    add_hold_out_options(command, promoters.validation, promoters.test,
                         "a window counts as inside if its TSS does");
    add_seed_option(command, promoters.seed);
    command.add_flag("--skip-invalid", promoters.skip_invalid, skips_mismatches);
    add_threads_option(command, promoters.threads);
    add_output_options(command, options->output, "Example folder to write");
    set_help(
        command,
        {{"--tss", "--reference", "--chain", "--window", "--validation", "--test", "--output", "--force"},
         {{"Windows around TSSs lifted over from hg38, with one held-out region",
           "bigbird-dna build-promoters --tss ../test_data/promoter/tss.hg38.bed.gz --chain "
           "../test_data/promoter/hg38ToHg19.chr22.chain.gz --reference ../test_data/genome/22.fa.gz "
           "--window -1000:500 --test 22:20500001-22000000 --output my-promoters"},
          {"Windows of 8,000 bases as in the paper, with other windows of the genome as negatives",
           "bigbird-dna build-promoters --tss ../test_data/promoter/tss.hg19.bed --reference "
           "../test_data/genome/22.fa.gz --negatives genomic --output genomic-promoters"}}});
}

}  // namespace bigbird::cli
