// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/linear_cross_entropy.hpp"

#include "bigbird/model/layers/softmax_loss.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

namespace bigbird::model {

namespace {

constexpr std::int64_t chunk_elements = 1 << 25;

struct Gradients {
    at::Tensor hidden, weight, bias;
};

struct Sums {
    at::Tensor nats, correct;
    at::Tensor row_nats, row_correct;
};

/// One chunk of rows; adds to the sums and, where there are any, to the gradients.
void add_chunk(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
               const at::Tensor& labels, const at::Tensor& weights, std::int64_t begin, std::int64_t rows,
               bool fused, Sums& sums, Gradients& gradients) {
    const at::Tensor x = hidden.narrow(0, begin, rows);
    const at::Tensor logits = at::linear(x, weight, bias);  // (rows, vocab)
    const bool differentiate = gradients.hidden.defined();
    const SoftmaxLoss loss =
        softmax_loss_(logits, labels.narrow(0, begin, rows).contiguous(), differentiate, fused);
    const at::Tensor weight_of = weights.defined() ? weights.narrow(0, begin, rows) : at::Tensor();
    sums.nats += (weight_of.defined() ? loss.nats * weight_of : loss.nats).sum();
    sums.correct += loss.correct.sum();
    sums.row_nats.narrow(0, begin, rows).copy_(loss.nats);
    sums.row_correct.narrow(0, begin, rows).copy_(loss.correct);
    if (!differentiate) return;
    const at::Tensor& slope = logits;  // by now
    if (weight_of.defined()) slope.mul_(weight_of.unsqueeze(1));
    gradients.bias += slope.sum(0, false, gradients.bias.scalar_type());
    gradients.hidden.narrow(0, begin, rows).copy_(at::matmul(slope, weight));
    gradients.weight += at::matmul(slope.t(), x);
}

class ChunkedLoss : public torch::autograd::Function<ChunkedLoss> {
public:
    static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                  const at::Tensor& hidden, const at::Tensor& weight,
                                                  const at::Tensor& bias, const at::Tensor& labels,
                                                  const std::optional<at::Tensor>& weights,
                                                  std::int64_t chunk_rows, bool fused, bool differentiate) {
        const at::TensorOptions options = hidden.options().requires_grad(false);
        const std::int64_t count = hidden.size(0);
        Sums sums{at::zeros({}, options.dtype(at::kFloat)), at::zeros({}, options.dtype(at::kLong)),
                  at::zeros({count}, options.dtype(at::kFloat)),
                  at::zeros({count}, options.dtype(at::kBool))};
        Gradients gradients;
        if (differentiate) gradients = {at::empty_like(hidden), at::zeros_like(weight), at::zeros_like(bias)};
        for (std::int64_t begin = 0; begin < hidden.size(0); begin += chunk_rows) {
            add_chunk(hidden, weight, bias, labels, weights.value_or(at::Tensor()), begin,
                      std::min(chunk_rows, hidden.size(0) - begin), fused, sums, gradients);
        }
        if (differentiate) context->save_for_backward({gradients.hidden, gradients.weight, gradients.bias});
        context->mark_non_differentiable({sums.correct, sums.row_nats, sums.row_correct});
        return {sums.nats, sums.correct, sums.row_nats, sums.row_correct};
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& outputs) {
        const auto saved = context->get_saved_variables();
        const at::Tensor& by = outputs[0];
        return {saved[0] * by, saved[1] * by, saved[2] * by, {}, {}, {}, {}, {}};
    }
};

}  // namespace

LinearCrossEntropy linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight,
                                        const at::Tensor& bias, const at::Tensor& labels,
                                        const at::Tensor& weights, std::int64_t chunk_rows, bool fused) {
    const std::int64_t rows =
        chunk_rows > 0 ? chunk_rows : std::max<std::int64_t>(1, chunk_elements / weight.size(0));
    const bool differentiate =
        at::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
    const auto given = weights.defined() ? std::optional(weights) : std::nullopt;
    const auto out = ChunkedLoss::apply(hidden, weight, bias, labels, given, rows, fused, differentiate);
    return {out[0], out[1], out[2], out[3]};
}

}  // namespace bigbird::model
