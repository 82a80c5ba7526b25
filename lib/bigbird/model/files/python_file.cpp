// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/python_file.hpp"

#include "bigbird/core/files.hpp"

#include <array>
#include <ostream>
#include <string>

namespace bigbird::model {

namespace {

/// The Python file's class for a class of transformers, by model_type.
struct DoorClass {
    std::string_view model_type, general, own;
};
constexpr std::array<DoorClass, 10> classes{
    {{"bigbird_dna", "AutoConfig", "BigBirdDnaConfig"},
     {"bigbird_dna", "AutoModel", "BigBirdDnaModel"},
     {"bigbird_dna", "AutoModelForMaskedLM", "BigBirdDnaForMaskedLM"},
     {"bigbird_dna", "AutoModelForPreTraining", "BigBirdDnaForPreTraining"},
     {"bigbird_dna_bins", "AutoConfig", "BigBirdDnaBinsConfig"},
     {"bigbird_dna_bins", "AutoModel", "BigBirdDnaBins"},
     {"bigbird_dna_sequence", "AutoConfig", "BigBirdDnaSequenceConfig"},
     {"bigbird_dna_sequence", "AutoModel", "BigBirdDnaSequence"},
     {"bigbird_dna_baseline", "AutoConfig", "BigBirdDnaBaselineConfig"},
     {"bigbird_dna_baseline", "AutoModel", "BigBirdDnaBaseline"}}};

}  // namespace

void write_config(Json config, const std::filesystem::path& directory) {
    const std::string module(
        std::string_view(python_file).substr(0, std::string_view(python_file).rfind('.')));
    for (const DoorClass& each : classes)
        if (config.value("model_type", "") == each.model_type && !config.contains("published_form"))
            config["auto_map"][std::string(each.general)] = module + "." + std::string(each.own);
    write_json(directory / "config.json", config, Overwrite::allow);
    if (!config.contains("auto_map")) return;
    const bool tokens = config.at("model_type") == "bigbird_dna";
    write_atomically(directory / python_file, Overwrite::allow, [&](std::ostream& out) {
        out << python_of_tokens();
        if (!tokens) out << "\n\n" << python_of_bases();
    });
}

}  // namespace bigbird::model
