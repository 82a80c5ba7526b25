// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/predict/predict_forecast.hpp"
#include "bigbird/task_models/specs/predict_spec.hpp"

#include <cstdint>

namespace bigbird::task_models {

struct PredictReport {
    std::int64_t rows = 0, scored = 0, truncated = 0;
    std::int64_t not_numbers = 0;  ///< of those scored: a score is no number, for the weights overflow
    double seconds = 0;
};

/// Writes one row for each row that comes in, in order, in memory that does not grow with their number. A
/// promoter row's window lies about its TSS base (rows::tss_of: the first base, on the minus strand the
/// last), a chromatin row's about its middle. Outputs appear when all rows are written. Throws InputError,
/// ConfigError, DeviceError, WriteError, Stopped.
PredictReport predict(const PredictSpec& spec);

/// What predict() would take, told from all rows and some of their scores, which are computed for about
/// `seconds_of_trial`; writes none of the outputs. Throws as predict() does.
PredictForecast forecast_predict(const PredictSpec& spec, double seconds_of_trial = 3);

}  // namespace bigbird::task_models
