// SPDX-License-Identifier: Apache-2.0
#include "commands/predict_variants.hpp"

#include "options/option_groups.hpp"

namespace bigbird::cli {

void setup_predict_variants(Program& program, Runner<PredictVariantsOptions> run) {
    auto options = std::make_shared<PredictVariantsOptions>();
    CLI::App& command =
        program.add<PredictVariantsOptions>("predict-variants", "Variants",
                                            "Score variants: what a chromatin or promoter model says of both "
                                            "alleles' windows or, without training "
                                            "for a task, how likely a pretrained model finds each allele. "
                                            "One row out for each alternative allele, in order.",
                                            options, std::move(run));
    command
        .add_option(
            "--model", options->models,
            "Chromatin or promoter model (several: the mean of their scores), or one pretrained model")
        ->required()
        ->type_name("DIR");
    add_reference_option(command, options->references);
    command
        .add_option("--variants", options->variants,
                    "VCF (plain, gzip, bgzip) or BCF, or '-' for standard input")
        ->required()
        ->type_name("VCF");
    command
        .add_option(
            "--tss", options->tss,
            "With a promoter model: a variant is scored in the window of the nearest of these TSSs whose "
            "window holds it, on its strand")
        ->type_name("BED");
    add_labels_option(command, options->labels);
    command
        .add_option("--write", options->write,
                    "Of each label: scores of both alleles, alt - ref, and the difference of their log odds")
        ->type_name("LIST");
    command.add_option("--window", options->window, "Bases about a variant that a pretrained model sees")
        ->check(CLI::PositiveNumber)
        ->type_name("BP");
    add_reverse_complement_option(command, options->reverse_complement);
    command.get_option("--reverse-complement")
        ->description(
            "Score windows as they come, the mean of both strands, or their reverse complement alone; "
            "default: average, of a promoter model none");
    command.add_flag("--strict", options->strict,
                     "End at the first row that cannot be scored (REF is not the reference's base, symbolic "
                     "allele …) instead of marking it");
    add_min_score_option(command, options->min_score);
    add_score_outputs(command, options->outputs, options->force);
    add_device_option(command, options->device);
    add_threads_option(command, options->threads);
    add_batch_tokens_option(command, options->batch_tokens);
    add_computing_options(command, options->dtype, options->attention);
}

}  // namespace bigbird::cli
