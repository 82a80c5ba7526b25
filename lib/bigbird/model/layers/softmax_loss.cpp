// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/softmax_loss.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

namespace bigbird::model {

namespace {

namespace cuda = attention::cuda;

bool is_16_bit(at::ScalarType type) {
    return type == at::kBFloat16 || type == at::kHalf;
}

SoftmaxLoss empty_loss(const at::Tensor& logits) {
    const at::TensorOptions options = logits.options().requires_grad(false);
    return {at::empty({logits.size(0)}, options.dtype(at::kFloat)),
            at::empty({logits.size(0)}, options.dtype(at::kInt))};
}

bool has_cuda_kernel(const at::Tensor& logits) {
    return cuda::kernels_serve(logits.is_cuda()) && is_16_bit(logits.scalar_type()) &&
           logits.size(1) % 8 == 0;
}

SoftmaxLoss by_cuda_kernel(const at::Tensor& logits, const at::Tensor& labels, bool differentiate) {
    const SoftmaxLoss loss = empty_loss(logits);
    cuda::SoftmaxArguments a;
    a.element = logits.scalar_type() == at::kHalf ? cuda::Element::fp16 : cuda::Element::bf16;
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

}  // namespace bigbird::model
