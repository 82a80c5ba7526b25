// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/bigbird.hpp"

#include <cmath>

namespace bigbird::model {

namespace {

/// Row by row, each from its own stream: the same values for any number of threads.
at::Tensor normal_matrix(at::IntArrayRef shape, double deviation, const Rng& stream) {
    at::Tensor values = at::empty(shape, at::kFloat);
    float* data = values.mutable_data_ptr<float>();
    const std::int64_t columns = shape[1];
    at::parallel_for(0, shape[0], 64, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            Rng rng = stream.split(static_cast<std::uint64_t>(row));
            for (std::int64_t column = 0; column < columns; ++column)
                data[row * columns + column] = static_cast<float>(deviation * rng.normal());
        }
    });
    return values;
}

constexpr double neighbour_deviation = 0.3;

/// Weights of a convolution, (hidden, 1, width): each position itself, and a little of its neighbors.
at::Tensor nearly_identity(at::IntArrayRef shape, const Rng& stream) {
    at::Tensor values = normal_matrix({shape[0], shape[2]}, neighbour_deviation, stream);
    values.select(1, shape[2] / 2).fill_(1);
    return values.unsqueeze(1);
}

double deviation_of(const std::string& name, const at::Tensor& parameter, const BigBirdConfig& config) {
    const bool fan_in = config.form.initialization == Initialization::fan_in;
    return fan_in && !name.ends_with("_embeddings.weight")
               ? 1 / std::sqrt(static_cast<double>(parameter.size(1)))
               : config.initializer_range;
}

}  // namespace

void initialise(torch::nn::Module& module, const BigBirdConfig& config, std::uint64_t seed,
                const std::string& prefix) {
    const at::NoGradGuard no_gradient;
    const Rng stream = Rng(seed).split("initialise");
    for (auto& item : module.named_parameters()) {
        const std::string& name = item.key();
        at::Tensor& parameter = item.value();
        if (!name.starts_with(prefix)) continue;
        if (parameter.dim() == 3) {
            parameter.copy_(nearly_identity(parameter.sizes(), stream.split(name)));
            continue;
        }
        if (parameter.dim() != 2) {
            parameter.fill_(name.ends_with("LayerNorm.weight") ? 1.0 : 0.0);
            continue;
        }
        parameter.copy_(
            normal_matrix(parameter.sizes(), deviation_of(name, parameter, config), stream.split(name)));
        if (name.ends_with("word_embeddings.weight") ||
            (config.longformer && name.ends_with("position_embeddings.weight")))
            parameter.select(0, config.pad_token_id).zero_();
    }
}

}  // namespace bigbird::model
