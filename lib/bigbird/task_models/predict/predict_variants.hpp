// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/outputs/outputs.hpp"
#include "bigbird/task_models/predict/predictor.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// What of a label's scores is written.
enum class Quantity : std::uint8_t { ref, alt, difference, log_odds };
/// "ref", "alt", "difference", "log-odds", separated by commas. Throws ConfigError.
std::vector<Quantity> parse_quantities(const std::string& words);

struct VariantSpec {
    std::vector<std::filesystem::path> models;  ///< chromatin or promoter models, or one pretrained model
    std::filesystem::path tss;                  ///< of promoter models: whose windows are scored (BED)
    std::filesystem::path variants;             ///< VCF or BCF, "-": standard input
    std::vector<std::filesystem::path> references;
    std::string labels;  ///< LabelTable::select; "": all
    std::vector<Quantity> quantities{Quantity::ref, Quantity::alt, Quantity::difference, Quantity::log_odds};
    std::int64_t window = 2000;      ///< bases that a pretrained model sees; a task model has its own
    std::optional<Strands> strands;  ///< none: average; of a promoter model none, since a TSS has its strand
    bool strict = false;             ///< end at the first row that cannot be scored
    outputs::OutputSpec outputs;
    std::int64_t batch_tokens = 0;
    std::string device = "auto", dtype = "auto", attention = "automatic";  ///< parse_computing
    int threads = 0;
};

struct VariantReport {
    std::int64_t rows = 0, scored = 0;
    double seconds = 0;
};

/// Writes a row for each alternative allele, in the file's order, with chrom pos (1-based) id ref alt status
/// n_fraction before the scores. Task model: for each label LABEL:ref and LABEL:alt, the probabilities of
/// both windows (VariantRows), LABEL:difference = alt - ref and LABEL:log_odds = ln(alt / (1 - alt)) - ln(ref
/// / (1 - ref)). A promoter model sees the window of the nearest TSS that holds the variant, whose name
/// stands in a column tss behind n_fraction. Pretrained model, without training for a task:
/// log_likelihood_ref, log_likelihood_alt and log_odds, their difference (MaskedScorer). Memory does not grow
/// with the rows. Throws InputError, ConfigError, DeviceError, WriteError, Stopped.
VariantReport predict_variants(const VariantSpec& spec);

}  // namespace bigbird::task_models
