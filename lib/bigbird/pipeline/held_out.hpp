// SPDX-License-Identifier: Apache-2.0
// What train's held-out bins can say of a model of peaks.
#pragma once

#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/examples/examples.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bigbird::tasks {

/// Warns, by name, of labels without a bin in validation or test; finetune warns of those without one in
/// train. Throws InputError, with the bins of each split, if no bin of train or of test has a label.
void check_positives(const examples::ExampleSet& set, const std::filesystem::path& folder);

/// The --min-positives of an evaluation: `wanted`, or 1 where no label has as many bins in test.
std::int64_t fewest_positives(const examples::ExampleSet& set, std::int64_t wanted);

/// "12 positive bins in test: …", how far figures of so few can be trusted; nullopt for 50 or more, of the
/// label with the most.
std::optional<std::string> few_positives_text(const evaluation::EvaluationReport& report);

}  // namespace bigbird::tasks
