// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/linear_cross_entropy.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::model {

namespace {

namespace cuda = attention::cuda;

SoftmaxLoss empty_loss(const at::Tensor& logits) {
    const at::TensorOptions options = logits.options().requires_grad(false);
    return {at::empty({logits.size(0)}, options.dtype(at::kFloat)),
            at::empty({logits.size(0)}, options.dtype(at::kInt))};
}

bool has_cuda_kernel(const at::Tensor& logits) {
    return cuda::kernels_serve(logits.is_cuda()) && attention::is_half(logits.scalar_type()) &&
           logits.size(1) % 8 == 0;
}

SoftmaxLoss by_cuda_kernel(const at::Tensor& logits, const at::Tensor& labels, bool differentiate) {
    const SoftmaxLoss loss = empty_loss(logits);
    cuda::SoftmaxArguments a;
    a.element = attention::element_of(logits.scalar_type());
    a.rows = static_cast<std::int32_t>(logits.size(0));
    a.columns = static_cast<std::int32_t>(logits.size(1));
    a.logits = logits.mutable_data_ptr();
    a.labels = labels.const_data_ptr<std::int64_t>();
    a.nats = loss.nats.mutable_data_ptr<float>();
    a.correct = loss.correct.mutable_data_ptr<std::int32_t>();
    a.differentiate = differentiate ? 1 : 0;
    attention::run_kernels(logits.device(), "the kernel of the loss",
                           [&](void* stream) { return cuda::kernel_library().softmax_gradient(a, stream); });
    return loss;
}

bool has_cpu_kernel(const at::Tensor& logits) {
    const at::ScalarType type = logits.scalar_type();
    return logits.device().is_cpu() && (type == at::kFloat || type == at::kBFloat16) &&
           attention::elementwise_kernels() != nullptr;
}

SoftmaxLoss by_cpu_kernel(const at::Tensor& logits, const at::Tensor& labels, bool differentiate) {
    const SoftmaxLoss loss = empty_loss(logits);
    const std::int64_t classes = logits.size(1);
    const bool bf16 = logits.scalar_type() == at::kBFloat16;
    auto* const data = static_cast<char*>(logits.mutable_data_ptr());
    const auto* const label = labels.const_data_ptr<std::int64_t>();
    auto* const nats = loss.nats.mutable_data_ptr<float>();
    auto* const correct = loss.correct.mutable_data_ptr<std::int32_t>();
    const auto row_bytes = classes * static_cast<std::int64_t>(logits.element_size());
    at::parallel_for(0, logits.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const attention::RowLoss of_row = attention::elementwise_kernels()->softmax_gradient(
                data + row * row_bytes, classes, label[row], differentiate, bf16);
            nats[row] = of_row.nats;
            correct[row] = of_row.is_correct ? 1 : 0;
        }
    });
    return loss;
}

}  // namespace

SoftmaxLoss softmax_loss_(const at::Tensor& logits, const at::Tensor& labels, bool differentiate,
                          bool fused) {
    BIGBIRD_EXPECTS(logits.is_contiguous() && labels.is_contiguous(), "rows lie one behind the other");
    if (fused && has_cuda_kernel(logits)) return by_cuda_kernel(logits, labels, differentiate);
    return has_cpu_kernel(logits) ? by_cpu_kernel(logits, labels, differentiate)
                                  : softmax_loss_by_torch_(logits, labels, differentiate);
}

SoftmaxLoss softmax_loss_by_torch_(const at::Tensor& logits, const at::Tensor& labels, bool differentiate) {
    const at::Tensor wanted = labels.unsqueeze(1);
    const at::Tensor values = logits.to(at::kFloat);            // the logits themselves if they are float
    const at::Tensor total = at::logsumexp(values, {1}, true);  // (rows, 1)
    const SoftmaxLoss loss{(total - values.gather(1, wanted)).squeeze(1),
                           values.argmax(1).eq(labels).to(at::kInt)};
    if (differentiate) {
        values.sub_(total).exp_().scatter_add_(1, wanted, at::full_like(total, -1.0));
        if (!values.is_same(logits)) logits.copy_(values);
    }
    return loss;
}

namespace {

constexpr std::int64_t chunk_elements = 1 << 25;

struct Gradients {
    at::Tensor hidden, weight, bias;
};

/// One chunk of rows; adds to the sums and, where there are any, to the gradients.
void add_chunk(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
               const at::Tensor& labels, const at::Tensor& weights, std::int64_t begin, std::int64_t rows,
               bool fused, LinearCrossEntropy& sums, Gradients& gradients) {
    const at::Tensor x = hidden.narrow(0, begin, rows);
    const at::Tensor logits = at::linear(x, weight, bias);  // (rows, vocab)
    const bool differentiate = gradients.hidden.defined();
    const SoftmaxLoss loss =
        softmax_loss_(logits, labels.narrow(0, begin, rows).contiguous(), differentiate, fused);
    const at::Tensor weight_of = weights.defined() ? weights.narrow(0, begin, rows) : at::Tensor();
    sums.nats += (weight_of.defined() ? loss.nats * weight_of : loss.nats).sum();
    sums.row_nats.narrow(0, begin, rows).copy_(loss.nats);
    sums.row_correct.narrow(0, begin, rows).copy_(loss.correct);
    if (!differentiate) return;
    const at::Tensor& slope = logits;  // by now
    if (weight_of.defined()) slope.mul_(weight_of.unsqueeze(1));
    gradients.bias += slope.sum(0, false, gradients.bias.scalar_type());
    gradients.hidden.narrow(0, begin, rows).copy_(at::matmul(slope, weight));
    gradients.weight += at::matmul(slope.t(), x);
}

}  // namespace

LinearCrossEntropy linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight,
                                        const at::Tensor& bias, const at::Tensor& labels,
                                        const at::Tensor& weights, std::int64_t chunk_rows, bool fused) {
    const std::int64_t rows =
        chunk_rows > 0 ? chunk_rows : std::max<std::int64_t>(1, chunk_elements / weight.size(0));
    const bool differentiate =
        at::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
    const at::NoGradGuard no_gradients;
    const at::TensorOptions floats = hidden.options().dtype(at::kFloat);
    LinearCrossEntropy sums{at::zeros({}, floats), at::zeros({hidden.size(0)}, floats),
                            at::zeros({hidden.size(0)}, floats.dtype(at::kBool))};
    Gradients of;
    if (differentiate) of = {at::empty_like(hidden), at::zeros_like(weight), at::zeros_like(bias)};
    for (std::int64_t begin = 0; begin < hidden.size(0); begin += rows) {
        add_chunk(hidden, weight, bias, labels, weights, begin, std::min(rows, hidden.size(0) - begin), fused,
                  sums, of);
    }
    if (differentiate) {
        set_gradient(
            {sums.nats}, {hidden, weight, bias},
            [of](const Tensors& by) -> Tensors {
                return {of.hidden * by[0], of.weight * by[0], of.bias * by[0]};
            });
    }
    return sums;
}

}  // namespace bigbird::model
