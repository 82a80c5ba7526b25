// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/outputs/outputs.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"
#include "bigbird/task_models/specs/strands.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::task_models {

/// What of a label's scores is written.
enum class Quantity : std::uint8_t { ref, alt, difference, log_odds };
/// As columns have it: "ref", "alt", "difference", "log_odds".
std::string_view to_string(Quantity quantity);
/// "ref", "alt", "difference", "log-odds", separated by commas, each once. Throws ConfigError.
std::vector<Quantity> parse_quantities(std::string_view words);

/// What predict-variants is asked for.
struct VariantSpec : ComputeSpec {
    std::vector<std::filesystem::path> models;  ///< chromatin or promoter models, or one pretrained model
    std::filesystem::path tss;                  ///< of promoter models: whose windows are scored (BED)
    std::filesystem::path variants;             ///< VCF or BCF, "-": standard input
    std::vector<std::filesystem::path> references;
    std::string labels;                                      ///< LabelTable::select; "": all
    std::string quantities = "ref,alt,difference,log-odds";  ///< parse_quantities
    std::int64_t window = 2000;      ///< bases that a pretrained model sees; a task model has its own
    std::optional<Strands> strands;  ///< none: average; of a promoter model none, since a TSS has its strand
    bool strict = false;             ///< end at the first row that cannot be scored
    outputs::OutputSpec outputs{.tracks = false};

    /// Throws ConfigError where `quantities` cannot be parsed.
    void validate() const;
};
/// The values of --reverse-complement, which may be left out.
inline constexpr Choices<std::optional<Strands>, 3> variant_strand_choices{
    {{Strands::none, "none"}, {Strands::average, "average"}, {Strands::only, "only"}}};

}  // namespace bigbird::task_models
