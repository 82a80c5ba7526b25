// SPDX-License-Identifier: Apache-2.0
// The CPU kernels of the backend `fused`: online softmax over the lists of blocks, forward and backward, one
// set of kernels per instruction set. They know no LibTorch; fused_attention.cpp feeds them.
#pragma once

#include "bigbird/attention/pattern/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::attention {

/// A (batch, heads, length, head_dim) tensor whose last dimension is contiguous; strides in elements.
struct FusedTensor {
    void* data = nullptr;
    std::int64_t sample_stride = 0, head_stride = 0, row_stride = 0;
};

/// One attention over a batch. A *group* is a head of a sample, 0 .. samples * heads - 1, sample by sample.
struct FusedProblem {
    bool bf16 = false;  ///< type of all tensors but lse: bfloat16 or float
    std::int64_t samples = 0, heads = 0, blocks = 0, block = 0, head_dim = 0;
    const std::vector<BlockLayout>* layouts = nullptr;  ///< one per head
    const bool* key_mask = nullptr;                     ///< (samples, length), true = real
    bool zero_padded_queries = true;                    ///< as in transformers' block-sparse attention
    const float* slopes = nullptr;                      ///< of ALiBi, one per head; null: none
    FusedTensor q, k, v, out;
    float* lse = nullptr;           ///< (samples * heads, length): log2 of the sum of 2^(score * log2 e)
    FusedTensor d_out, dq, dk, dv;  ///< backward only

    std::int64_t groups() const { return samples * heads; }
    std::int64_t length() const { return blocks * block; }
    const BlockLayout& layout(std::int64_t group) const {
        return (*layouts)[static_cast<std::size_t>(group % heads)];
    }
};

/// Query blocks by key block: the transposed lists of one head.
struct KeyRows {
    std::vector<std::int32_t> offsets, rows, entries;  ///< entries index into the layout's columns
};
KeyRows transpose(const BlockLayout& layout, std::int64_t blocks);

/// The kernels of one instruction set. Stateless and thread-safe. Every call writes only the named results.
/// They are bit-identical for any thread, and for a backward pass by groups or by blocks.
class FusedKernel {
public:
    virtual ~FusedKernel() = default;
    virtual std::string name() const = 0;
    /// Blocks and head_dim are padded to multiples of this.
    virtual int step() const = 0;
    /// Bytes of a group's keys and values (forward), or of all operands (backward), in the kernel's form.
    virtual std::size_t packed_bytes(const FusedProblem& problem, bool backward) const = 0;
    /// Bytes of scratch memory a thread needs.
    virtual std::size_t scratch_bytes(const FusedProblem& problem, bool backward) const = 0;
    /// All memory handed in is aligned to 64 bytes.
    virtual void pack(const FusedProblem& problem, std::int64_t group, bool backward, std::byte* packed,
                      std::byte* scratch) const = 0;
    /// Writes out and lse of one query block.
    virtual void forward_row(const FusedProblem& problem, std::int64_t group, std::int64_t row,
                             const std::byte* packed, std::byte* scratch) const = 0;
    /// Writes dq, dk and dv of a group.
    virtual void backward_group(const FusedProblem& problem, std::int64_t group, const std::byte* packed,
                                std::byte* scratch) const = 0;
    /// The same in parts: dq of a query block, dk and dv of a key block.
    virtual void backward_row(const FusedProblem& problem, std::int64_t group, std::int64_t row,
                              const std::byte* packed, std::byte* scratch) const = 0;
    virtual void backward_column(const FusedProblem& problem, std::int64_t group, std::int64_t column,
                                 const KeyRows& rows, const std::byte* packed, std::byte* scratch) const = 0;
};

/// The kernels that this processor can run for tensors of a type, the fastest first; empty if there is
/// none (no AVX2).
const std::vector<const FusedKernel*>& fused_kernels(bool bf16);

// Element by element on the CPU, vectorized for the processor at hand; LibTorch's tanh GELU takes longer than
// the matrix product before it (docs/development/measurements.md). No LibTorch here.

/// The loss of one row of logits.
struct RowLoss {
    float nats;       ///< -ln softmax(logits)[label]
    bool is_correct;  ///< the label's logit is the greatest, or the first of equal ones
};

struct ElementwiseKernels {
    /// y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))); y may be x. float, or bfloat16 where `bf16`.
    void (*gelu_tanh)(const void* x, void* y, std::int64_t count, bool bf16);
    /// dx = dy * gelu_tanh'(x).
    void (*gelu_tanh_backward)(const void* dy, const void* x, void* dx, std::int64_t count, bool bf16);
    /// The loss of `count` logits; where `differentiate`, they become its gradient: softmax(logits), less 1
    /// at the label, which is in [0, count).
    RowLoss (*softmax_gradient)(void* logits, std::int64_t count, std::int64_t label, bool differentiate,
                                bool bf16);
};

/// nullptr where the processor has no AVX2.
const ElementwiseKernels* elementwise_kernels();

// One maker per instruction set, each in its own file compiled for it. Call one only where the processor has
// the set (fused_dispatch.cpp). nullptr where the compiler cannot target it.

struct CpuKernels {
    const FusedKernel* fused = nullptr;
    const ElementwiseKernels* elementwise = nullptr;
};
CpuKernels cpu_kernels_avx2();
CpuKernels cpu_kernels_avx512();
const FusedKernel* fused_kernel_avx512_bf16();  ///< bfloat16 tensors only
const FusedKernel* fused_kernel_amx();          ///< bfloat16 tensors only

}  // namespace bigbird::attention
