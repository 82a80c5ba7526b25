// SPDX-License-Identifier: Apache-2.0
// What the tests of the CUDA kernels between the matrix products compute, emulated and on a GPU.
#pragma once

#include "support/tensors.hpp"

#include "bigbird/attention/cuda/kernels.hpp"
#include "bigbird/model/layers/dropout.hpp"

#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace bigbird::testing {

inline constexpr int norm_samples = 3;
inline constexpr double drop_probability = 0.1, norm_epsilon = 1e-5;

inline at::Tensor draw(at::IntArrayRef shape, std::uint64_t seed, at::ScalarType type) {
    return (random_tensor(shape, seed) * 1.5).to(type).to(at::kDouble);
}

inline attention::cuda::Element element_of(at::ScalarType type) {
    return type == at::kHalf ? attention::cuda::Element::fp16 : attention::cuda::Element::bf16;
}

struct NormInputs {
    at::Tensor x, residual, d_y;  // (norm_samples, rows, columns), double
    at::Tensor weight, bias;      // (columns)
    NormInputs(std::int64_t rows, std::int64_t columns, at::ScalarType type)
        : x(draw({norm_samples, rows, columns}, 1, type)),
          residual(draw({norm_samples, rows, columns}, 2, type)),
          d_y(draw({norm_samples, rows, columns}, 3, type)),
          weight(draw({columns}, 4, type)),
          bias(draw({columns}, 5, type)) {}
};

/// y, d_x, d_residual, d_weight, d_bias, as double on the CPU.
using Results = std::vector<at::Tensor>;

inline Results as_results(std::vector<at::Tensor> tensors) {
    for (at::Tensor& tensor : tensors)
        tensor = tensor.detach().cpu().to(at::kDouble);
    return tensors;
}

/// LibTorch and model::dropout(), in `type` on the CPU.
inline Results norm_by_torch(const NormInputs& inputs, at::ScalarType type) {
    const auto leaf = [&](const at::Tensor& t) { return t.to(type, false, true).requires_grad_(); };
    const at::Tensor x = leaf(inputs.x), residual = leaf(inputs.residual), weight = leaf(inputs.weight),
                     bias = leaf(inputs.bias);
    const at::Tensor dropped =
        model::dropout(x, drop_probability, {7, 11, 40}, {model::DropoutSite::Place::attention_output, 2});
    const at::Tensor y = at::layer_norm(residual + dropped, {x.size(2)}, weight, bias, norm_epsilon);
    y.backward(inputs.d_y.to(type));
    return as_results({y, x.grad(), residual.grad(), weight.grad(), bias.grad()});
}

/// Tensors on a device and the arguments that point to them; results begin as NaN.
struct NormTensors {
    at::Tensor x, residual, d_y, weight, bias, keys;
    at::Tensor sum, y, mean, inverse, d_x, d_sum, d_weight, d_bias, parts;

    NormTensors(const NormInputs& inputs, at::ScalarType type, int part_count, const at::Device& device) {
        const auto low = [&](const at::Tensor& t) { return t.to(device, type).contiguous(); };
        x = low(inputs.x);
        residual = low(inputs.residual);
        d_y = low(inputs.d_y);
        weight = inputs.weight.to(device, at::kFloat);
        bias = inputs.bias.to(device, at::kFloat);
        std::vector<std::int64_t> streams;  // those of model::dropout()
        for (std::uint64_t sample = 0; sample < norm_samples; ++sample) {
            const auto place = static_cast<std::uint64_t>(model::DropoutSite::Place::attention_output);
            streams.push_back(static_cast<std::int64_t>(
                Rng(7).split("dropout").split(11).split(40 + sample).split(place).split(2).key()));
        }
        keys = at::tensor(at::ArrayRef<std::int64_t>(streams), at::kLong).to(device);
        const std::int64_t rows = norm_samples * x.size(1), columns = x.size(2);
        const auto empty = [&](at::IntArrayRef shape, at::ScalarType of) {
            return at::full(shape, std::nan(""), at::TensorOptions(device).dtype(of));
        };
        sum = empty(x.sizes(), type);
        y = empty(x.sizes(), type);
        d_x = empty(x.sizes(), type);
        d_sum = empty(x.sizes(), type);
        mean = empty({rows}, at::kFloat);
        inverse = empty({rows}, at::kFloat);
        d_weight = empty({columns}, at::kFloat);
        d_bias = empty({columns}, at::kFloat);
        parts = empty({part_count, 2, columns}, at::kFloat);
    }

    attention::cuda::NormArguments arguments() const {
        attention::cuda::NormArguments a;
        a.element = element_of(x.scalar_type());
        a.rows = static_cast<std::int32_t>(mean.numel());
        a.columns = static_cast<std::int32_t>(x.size(2));
        a.epsilon = static_cast<float>(norm_epsilon);
        a.dropout = {keys.const_data_ptr<std::int64_t>(), static_cast<std::int32_t>(x.size(1)),
                     static_cast<std::uint32_t>(drop_probability * 0x1p32),
                     static_cast<float>(1 / (1 - drop_probability))};
        a.x = x.const_data_ptr();
        a.residual = residual.const_data_ptr();
        a.weight = weight.const_data_ptr<float>();
        a.bias = bias.const_data_ptr<float>();
        a.sum = sum.mutable_data_ptr();
        a.y = y.mutable_data_ptr();
        a.mean = mean.mutable_data_ptr<float>();
        a.inverse = inverse.mutable_data_ptr<float>();
        a.d_y = d_y.const_data_ptr();
        a.d_x = d_x.mutable_data_ptr();
        a.d_sum = d_sum.mutable_data_ptr();
        a.d_weight = d_weight.mutable_data_ptr<float>();
        a.d_bias = d_bias.mutable_data_ptr<float>();
        a.parts = parts.mutable_data_ptr<float>();
        a.part_count = static_cast<std::int32_t>(parts.size(0));
        return a;
    }
    Results results() const { return as_results({y, d_x, d_sum, d_weight, d_bias}); }
};

struct GeluInputs {
    at::Tensor x, bias, d_y;  // (rows, columns), (columns), double
    GeluInputs(std::int64_t rows, std::int64_t columns, at::ScalarType type)
        : x(draw({rows, columns}, 1, type)),
          bias(draw({columns}, 2, type)),
          d_y(draw({rows, columns}, 3, type)) {}
};

/// y, d_x, d_bias.
inline Results gelu_by_torch(const GeluInputs& inputs, at::ScalarType type) {
    const at::Tensor x = inputs.x.to(type, false, true).requires_grad_(),
                     bias = inputs.bias.to(type, false, true).requires_grad_();
    const at::Tensor y = at::gelu(x + bias, "tanh");
    y.backward(inputs.d_y.to(type));
    return as_results({y, x.grad(), bias.grad()});
}

struct GeluTensors {
    at::Tensor x, bias, d_y, y, d_x, d_bias, parts;

    GeluTensors(const GeluInputs& inputs, at::ScalarType type, int part_count, const at::Device& device)
        : x(inputs.x.to(device, type)),
          bias(inputs.bias.to(device, at::kFloat)),
          d_y(inputs.d_y.to(device, type)),
          y(at::full_like(x, std::nan(""))),
          d_x(at::full_like(x, std::nan(""))),
          d_bias(at::full_like(bias, std::nan(""))),
          parts(at::full({part_count, x.size(1)}, std::nan(""), bias.options())) {}

    attention::cuda::GeluArguments arguments() const {
        attention::cuda::GeluArguments a;
        a.element = element_of(x.scalar_type());
        a.rows = static_cast<std::int32_t>(x.size(0));
        a.columns = static_cast<std::int32_t>(x.size(1));
        a.x = x.const_data_ptr();
        a.bias = bias.const_data_ptr<float>();
        a.y = y.mutable_data_ptr();
        a.d_y = d_y.const_data_ptr();
        a.d_x = d_x.mutable_data_ptr();
        a.d_bias = d_bias.mutable_data_ptr<float>();
        a.parts = parts.mutable_data_ptr<float>();
        a.part_count = static_cast<std::int32_t>(parts.size(0));
        return a;
    }
    Results results() const { return as_results({y, d_x, d_bias}); }
};

/// Rows of logits that `type` holds exactly. The label's logit is the greatest, alone (row 0) or before its
/// equal (1), behind its equal (2), or any (3 and up); row 3 has logits of -infinity.
struct LossInputs {
    at::Tensor logits, labels;  // (rows, classes) double; (rows)
    LossInputs(std::int64_t rows, std::int64_t classes, at::ScalarType type)
        : logits(draw({rows, classes}, 1, type) * 2),
          labels(at::arange(rows, at::kLong).mul(7).add(classes / 2).remainder(classes)) {
        const std::int64_t last = classes - 1;
        for (const auto& [row, label, equal] :
             {std::array<std::int64_t, 3>{0, last, last}, {1, 0, last}, {2, last, last / 2}}) {
            labels[row] = label;
            logits[row][label] = logits[row][equal] = 40;
        }
        labels[3] = last;
        logits[3].slice(0, 0, classes / 2) = -std::numeric_limits<double>::infinity();
    }
};

/// nats, the gradient; and `correct`, behind them.
inline Results loss_by_torch(const LossInputs& inputs, at::ScalarType type) {
    const at::Tensor logits = inputs.logits.to(type, false, true).requires_grad_();
    const at::Tensor nats = at::cross_entropy_loss(logits, inputs.labels, {}, at::Reduction::None);
    nats.sum().backward();
    return as_results({nats, logits.grad(), inputs.logits.argmax(1).eq(inputs.labels)});
}

struct LossTensors {
    at::Tensor logits, labels, nats, correct;

    LossTensors(const LossInputs& inputs, at::ScalarType type, const at::Device& device)
        : logits(inputs.logits.to(device, type, false, true)),
          labels(inputs.labels.to(device)),
          nats(at::full({labels.size(0)}, std::nan(""), at::TensorOptions(device).dtype(at::kFloat))),
          correct(at::full({labels.size(0)}, -1, at::TensorOptions(device).dtype(at::kInt))) {}

    attention::cuda::SoftmaxArguments arguments(bool differentiate) const {
        attention::cuda::SoftmaxArguments a;
        a.element = element_of(logits.scalar_type());
        a.rows = static_cast<std::int32_t>(logits.size(0));
        a.columns = static_cast<std::int32_t>(logits.size(1));
        a.logits = logits.mutable_data_ptr();
        a.labels = labels.const_data_ptr<std::int64_t>();
        a.nats = nats.mutable_data_ptr<float>();
        a.correct = correct.mutable_data_ptr<std::int32_t>();
        a.differentiate = differentiate ? 1 : 0;
        return a;
    }
    Results results() const { return as_results({nats, logits, correct}); }
};

/// The rule for low precision, in every result: at most twice the error of the same maths by LibTorch in that
/// type, thrice for gradients. The first is no gradient.
inline bool as_near_as_torch(const Results& found, const Results& exact, const Results& by_torch) {
    bool near = true;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double unavoidable = 1e-4 * exact[i].abs().max().item<double>();
        near = near && difference(found[i], exact[i]) <=
                           (i == 0 ? 2 : 3) * difference(by_torch[i], exact[i]) + unavoidable;
    }
    return near;
}

}  // namespace bigbird::testing
