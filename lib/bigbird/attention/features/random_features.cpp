// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/features/random_features.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

namespace bigbird::attention {

namespace {

using Row = std::span<double>;

void fill_normal(Row row, Rng stream) {
    for (double& value : row)
        value = stream.normal();
}

double length_of(Row row) {
    return std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
}

void scale(Row row, double factor) {
    for (double& value : row)
        value *= factor;
}

/// Makes groups of at most `width` rows orthonormal. Runs twice, because the first pass leaves rounding
/// errors.
void gram_schmidt(Row rows, std::size_t width) {
    for (std::size_t begin = 0; begin < rows.size(); begin += width) {
        const Row row = rows.subspan(begin, width);
        for (int pass = 0; pass < 2; ++pass) {
            for (std::size_t before = 0; before < begin; before += width) {
                const Row unit = rows.subspan(before, width);
                const double along = std::inner_product(row.begin(), row.end(), unit.begin(), 0.0);
                for (std::size_t i = 0; i < row.size(); ++i)
                    row[i] -= along * unit[i];
            }
        }
        scale(row, 1 / length_of(row));
    }
}

/// Makes each group of rows orthogonal. Each row gets the length of a Gaussian row.
void orthogonalise(Row rows, std::size_t width, const Rng& lengths) {
    for (std::size_t begin = 0; begin < rows.size(); begin += width * width)
        gram_schmidt(rows.subspan(begin, std::min(width * width, rows.size() - begin)), width);
    std::vector<double> gaussian(width);
    for (std::size_t row = 0; row < rows.size() / width; ++row) {
        fill_normal(gaussian, lengths.split(row));
        scale(rows.subspan(row * width, width), length_of(gaussian));
    }
}

void require(bool condition, const std::string& message) {
    if (!condition) throw ConfigError("performer: " + message);
}

}  // namespace

void FeatureSpec::validate() const {
    require(features >= 1 && features <= (1 << 16),
            "features must be between 1 and 65536, not " + std::to_string(features));
    require(redraw_every >= 0, "redraw_every must not be negative: " + std::to_string(redraw_every));
    require(redraw >= 0, "redraw must not be negative: " + std::to_string(redraw));
}

std::vector<double> draw_features(const FeatureSpec& spec, int layer, std::int64_t head_dim) {
    const Rng stream = Rng(spec.seed)
                           .split("random-features")
                           .split(static_cast<std::uint64_t>(layer))
                           .split(static_cast<std::uint64_t>(spec.redraw));
    const auto rows = static_cast<std::size_t>(spec.features), width = static_cast<std::size_t>(head_dim);
    std::vector<double> drawn(rows * width);
    for (std::size_t row = 0; row < rows; ++row)
        fill_normal(Row(drawn).subspan(row * width, width), stream.split(row));
    if (spec.orthogonal) orthogonalise(drawn, width, stream.split("lengths"));
    return drawn;
}

}  // namespace bigbird::attention
