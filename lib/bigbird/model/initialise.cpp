// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/bigbird.hpp"

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
            for (std::int64_t column = 0; column < columns; ++column) {
                data[row * columns + column] = static_cast<float>(deviation * rng.normal());
            }
        }
    });
    return values;
}

}  // namespace

void initialise(torch::nn::Module& module, const BigBirdConfig& config, std::uint64_t seed,
                const std::string& prefix) {
    const at::NoGradGuard no_gradient;
    const Rng stream = Rng(seed).split("initialise");
    for (auto& item : module.named_parameters()) {
        const std::string& name = item.key();
        at::Tensor& parameter = item.value();
        if (!name.starts_with(prefix)) {
            continue;
        }
        if (parameter.dim() != 2) {
            parameter.fill_(name.ends_with("LayerNorm.weight") ? 1.0 : 0.0);
            continue;
        }
        parameter.copy_(normal_matrix(parameter.sizes(), config.initializer_range, stream.split(name)));
        if (name.ends_with("word_embeddings.weight")) {
            parameter.select(0, config.pad_token_id).zero_();
        }
    }
}

}  // namespace bigbird::model
