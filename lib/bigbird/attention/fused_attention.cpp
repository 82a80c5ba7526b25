// SPDX-License-Identifier: Apache-2.0
// LibTorch's side of the kernels of fused_kernel.hpp: checks, memory, threads and autograd. A thread takes
// the next query block of any head of any sample as soon as it is free.
#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>

namespace bigbird::attention {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor bytes(std::size_t count) {
    return at::empty({static_cast<std::int64_t>(count)}, at::kByte);
}

std::byte* memory_of(const at::Tensor& tensor) {
    return reinterpret_cast<std::byte*>(tensor.mutable_data_ptr<std::uint8_t>());
}

FusedTensor describe(const at::Tensor& x) {
    return {x.data_ptr(), x.stride(0), x.stride(1), x.stride(2)};
}

/// Returns the tensor itself if its last dimension is contiguous, as the kernels require, else a copy.
at::Tensor readable(const at::Tensor& x) {
    return x.stride(3) == 1 ? x.detach() : x.detach().contiguous();
}

/// Calls body(task, scratch) for every task, on all threads; a thread keeps its scratch memory. Only the
/// calling thread makes tensors.
template <typename Body>
void for_tasks(std::int64_t tasks, std::size_t scratch_bytes, Body&& body) {
    constexpr std::size_t page = 4096;  // threads share no page
    const std::size_t stride = (scratch_bytes + page - 1) / page * page;
    const auto threads = std::min<std::int64_t>(at::get_num_threads(), tasks);
    const at::Tensor scratch = bytes(stride * static_cast<std::size_t>(threads));
    std::byte* const memory = memory_of(scratch);
    std::atomic<std::int64_t> next{0};
    at::parallel_for(0, threads, 1, [&](std::int64_t thread, std::int64_t) {
        std::byte* const mine = memory + static_cast<std::size_t>(thread) * stride;
        for (std::int64_t task = next++; task < tasks; task = next++)
            body(task, mine);
    });
}

FusedProblem problem_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& key_mask, const LayerLayout& layout) {
    FusedProblem problem;
    problem.bf16 = q.scalar_type() == at::kBFloat16;
    problem.samples = q.size(0);
    problem.heads = q.size(1);
    problem.blocks = layout.blocks;
    problem.block = layout.block_size;
    problem.head_dim = q.size(3);
    problem.layouts = layout.layouts.get();
    problem.key_mask = key_mask.const_data_ptr<bool>();
    problem.zero_padded_queries = !layout.full;
    if (!layout.slopes.empty()) problem.slopes = layout.slopes.data();
    problem.q = describe(q);
    problem.k = describe(k);
    problem.v = describe(v);
    return problem;
}

/// The operands of all groups in the kernel's form.
class PackedGroups {
public:
    PackedGroups(const FusedKernel& kernel, const FusedProblem& problem, bool backward)
        : bytes_(kernel.packed_bytes(problem, backward)),
          packed_(bytes(bytes_ * static_cast<std::size_t>(problem.groups()))) {
        for_tasks(
            problem.groups(), kernel.scratch_bytes(problem, backward),
            [&](std::int64_t group, std::byte* scratch) {
                kernel.pack(problem, group, backward, of(group), scratch);
            });
    }
    std::byte* of(std::int64_t group) const {
        return memory_of(packed_) + static_cast<std::size_t>(group) * bytes_;
    }

private:
    std::size_t bytes_;
    at::Tensor packed_;
};

void forward(const FusedKernel& kernel, const FusedProblem& problem) {
    const PackedGroups packed(kernel, problem, false);
    for_tasks(problem.groups() * problem.blocks, kernel.scratch_bytes(problem, false),
              [&](std::int64_t task, std::byte* scratch) {
                  const std::int64_t group = task / problem.blocks;
                  kernel.forward_row(problem, group, task % problem.blocks, packed.of(group), scratch);
              });
}

/// Each task is a head of a sample, so that every pair of blocks is computed once.
void backward_by_groups(const FusedKernel& kernel, const FusedProblem& problem) {
    const std::size_t packed_bytes = kernel.packed_bytes(problem, true),
                      scratch_bytes = kernel.scratch_bytes(problem, true);
    for_tasks(problem.groups(), packed_bytes + scratch_bytes, [&](std::int64_t group, std::byte* memory) {
        kernel.pack(problem, group, true, memory, memory + packed_bytes);
        kernel.backward_group(problem, group, memory, memory + packed_bytes);
    });
}

/// For too few heads and samples to occupy the threads: each pair of blocks is computed twice, once for its
/// query and once for its key.
void backward_by_blocks(const FusedKernel& kernel, const FusedProblem& problem) {
    const PackedGroups packed(kernel, problem, true);
    std::vector<KeyRows> rows;
    for (std::int64_t head = 0; head < problem.heads; ++head)
        rows.push_back(transpose(problem.layout(head), problem.blocks));
    for_tasks(2 * problem.groups() * problem.blocks, kernel.scratch_bytes(problem, true),
              [&](std::int64_t task, std::byte* scratch) {
                  const std::int64_t group = task / 2 / problem.blocks, block = task / 2 % problem.blocks;
                  if (task % 2 == 0)
                      kernel.backward_row(problem, group, block, packed.of(group), scratch);
                  else
                      kernel.backward_column(problem, group, block,
                                             rows[static_cast<std::size_t>(group % problem.heads)],
                                             packed.of(group), scratch);
              });
}

/// Carries data other than tensors from the forward to the backward pass.
struct Holder : torch::CustomClassHolder {
    Holder(LayerLayout held, const FusedKernel* by) : layout(std::move(held)), kernel(by) {}
    LayerLayout layout;
    const FusedKernel* kernel;
};

class FusedAttention : public torch::autograd::Function<FusedAttention> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const at::Tensor& key_mask, const LayerLayout& layout,
                              const FusedKernel* kernel) {
        const at::Tensor queries = readable(q), keys = readable(k), values = readable(v),
                         mask = key_mask.contiguous(), out = empty_result(q);
        const at::Tensor lse = at::empty({q.size(0), q.size(1), q.size(2)}, at::kFloat);
        FusedProblem problem = problem_of(queries, keys, values, mask, layout);
        problem.out = describe(out);
        problem.lse = lse.mutable_data_ptr<float>();
        attention::forward(*kernel, problem);
        context->save_for_backward({q, k, v, mask, out, lse});
        context->saved_data["holder"] =
            c10::IValue::make_capsule(c10::make_intrusive<Holder>(layout, kernel));
        return out;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const variable_list saved = context->get_saved_variables();
        const auto holder =
            c10::static_intrusive_pointer_cast<Holder>(context->saved_data["holder"].toCapsule());
        const at::Tensor q = readable(saved[0]), k = readable(saved[1]), v = readable(saved[2]),
                         out = readable(saved[4]), d_out = readable(gradients[0].to(q.scalar_type()));
        const at::Tensor dq = empty_result(q), dk = empty_result(q), dv = empty_result(q);
        FusedProblem problem = problem_of(q, k, v, saved[3], holder->layout);
        problem.out = describe(out);
        problem.lse = saved[5].mutable_data_ptr<float>();
        problem.d_out = describe(d_out);
        problem.dq = describe(dq);
        problem.dk = describe(dk);
        problem.dv = describe(dv);
        const std::int64_t groups = problem.groups(), threads = at::get_num_threads();
        if (groups % threads == 0 || groups >= 4 * threads)
            backward_by_groups(*holder->kernel, problem);
        else
            backward_by_blocks(*holder->kernel, problem);
        return {dq, dk, dv, at::Tensor(), at::Tensor(), at::Tensor()};
    }
};

}  // namespace

bool can_fuse(const at::Tensor& q) {
    const at::ScalarType type = q.scalar_type();
    return q.device().is_cpu() && (type == at::kFloat || type == at::kBFloat16) &&
           !fused_kernels(type == at::kBFloat16).empty();
}

at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const at::Tensor& key_mask, const LayerLayout& layout, const FusedKernel* kernel) {
    if (!can_fuse(q)) {
        throw ConfigError(
            "the attention backend fused needs float or bfloat16 on a processor with AVX2: choose blocked");
    }
    if (kernel == nullptr) kernel = fused_kernels(q.scalar_type() == at::kBFloat16).front();
    return FusedAttention::apply(q, k, v, key_mask, layout, kernel);
}

}  // namespace bigbird::attention
