// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/files/calibration_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr int format_version = 1;

/// How calibration.json tells a link function.
struct Method {
    const char *text, *rows;
};
constexpr Method method_of(LinkFunction link) {
    if (link == LinkFunction::softmax) {
        return {"probabilities = softmax(logits / temperature + biases)", "bases_of_validation"};
    }
    return {"probability = 1 / (1 + exp(-(logit / temperature + bias of the label)))", "rows_of_validation"};
}

/// Files without a method are of the logistic function.
void require_method(const Json& json, LinkFunction link, const fs::path& file) {
    const std::string wanted = method_of(link).text,
                      found = json.value("method", method_of(LinkFunction::logistic).text);
    if (found == wanted) return;
    throw InputError("was fitted for another kind of model: '" + found + "', not '" + wanted + "'", file);
}

evaluation::Calibration calibration_from(const Json& json) {
    evaluation::Calibration calibration{.temperature = json.at("temperature").get<double>(),
                                        .biases = json.at("biases").get<std::vector<double>>()};
    const bool finite =
        std::ranges::all_of(calibration.biases, [](double bias) { return std::isfinite(bias); });
    if (!finite || !std::isfinite(calibration.temperature) || calibration.temperature <= 0) {
        throw ConfigError("temperature must be above 0, and every bias a number");
    }
    return calibration;
}

}  // namespace

void write_calibration(const FittedCalibration& fitted, const fs::path& directory) {
    const evaluation::CalibrationFit& fit = fitted.fit;
    const Method method = method_of(fitted.link);
    write_json(directory / calibration_file,
               {{"format", format_version},
                {"method", method.text},
                {method.rows, fitted.rows},
                {"cross_entropy_before", fit.loss_before},
                {"cross_entropy_after", fit.loss_after},
                {"temperature", fit.calibration.temperature},
                {"biases", fit.calibration.biases}},
               Overwrite::allow);
}

std::optional<evaluation::Calibration> read_calibration(const fs::path& directory, std::size_t labels,
                                                        LinkFunction link) {
    const fs::path file = directory / calibration_file;
    if (!is_there(file)) return std::nullopt;
    const Json json = read_json(file);
    try {
        if (json.at("format") != format_version) {
            throw InputError("was written by another bigbird-dna", file);
        }
        require_method(json, link, file);
        evaluation::Calibration calibration = calibration_from(json);
        if (calibration.biases.size() != labels) {
            throw InputError("has " + std::to_string(calibration.biases.size()) +
                                 " biases, but the model has " + std::to_string(labels) + " labels",
                             file);
        }
        return calibration;
    } catch (const Json::exception&) {
        throw InputError(
            "is damaged: a value is missing or of another kind; fit the model again, or remove the "
            "file to have scores that are not calibrated",
            file);
    } catch (const ConfigError& damage) {
        throw InputError("is damaged: " + std::string(damage.what()), file);
    }
}

}  // namespace bigbird::task_models
