// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/variant_spec.hpp"

#include <cstdint>

namespace bigbird::task_models {

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
