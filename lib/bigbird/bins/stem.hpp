// SPDX-License-Identifier: Apache-2.0
// From bases to positions: convolutions, each followed by learned pooling.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace bigbird::bins {

// The first stage: from bases to the first positions.

/// Codes (A C G T: 0 to 3; N and all else: 4), (batch, length) uint8, to (batch, length, 4) float32, all 0
/// for N. A tensor with three dimensions is returned unchanged.
at::Tensor base_channels(const at::Tensor& bases);

struct FirstStage {
    at::Tensor weight, bias;  ///< (channels, 4, width), (channels)
    at::Tensor sharpness;     ///< (channels)
    std::int64_t pool = 1;    ///< bases of a position
    bool both_strands = false;
    std::int64_t motif_filters = 0;
    std::int64_t bin = 0;  ///< bases, a multiple of pool
    at::Tensor table{};    ///< first_table() where the caller keeps it
};
/// The form in which a CPU takes the weight.
at::Tensor first_table(const FirstStage& stage);

struct StemOutput {
    at::Tensor positions;  ///< (batch, length / bases of a position, channels)
    /// (batch, length / bin, motif_filters): the maximum of each of the first filters in a bin, on either
    /// strand if both are read, before gelu; undefined without motif_filters.
    at::Tensor sites;
};

/// Convolves the bases, (batch, length) uint8 codes or (batch, length, 4) floats, on one strand or both, and
/// pools gelu of the filters' values (layers.hpp). Differentiable; where several bases of a bin share
/// the maximum, a site's gradient is split evenly between them. On a CPU, float32 uses our own kernels
/// (cpu/stem_kernels.hpp), which keep only the bases for the backward pass and give the same bits for any
/// number of windows and threads. A GPU uses first_stage_in_parts(). Floats have gradients, too, and are
/// computed by first_stage_reference() on a CPU.
StemOutput first_stage(const at::Tensor& bases, const FirstStage& stage);

/// first_stage_reference() with at most `most` values of the filters in memory (at least those of a bin): 256
/// MB in float32. The backward pass computes each part again.
StemOutput first_stage_in_parts(const at::Tensor& bases, const FirstStage& stage,
                                std::int64_t most = 1 << 26);

/// Whether a window's reverse complement gives first_stage() on a CPU the same values back to front, to the
/// last bit.
bool is_mirrored(const FirstStage& stage);

/// The same by LibTorch's operations: any device, readable, slow.
StemOutput first_stage_reference(const at::Tensor& bases, const FirstStage& stage);

// The other stages, before pooling.

struct LaterStage {
    at::Tensor norm, norm_bias;  ///< (in), LayerNorm's
    double epsilon = 0;
    at::Tensor weight, bias;  ///< (out, in, width), (out)
    at::Tensor filters{};     ///< later_filters() where the caller keeps them
};
/// The form in which a CPU takes the weight; undefined for other widths than its kernel's.
at::Tensor later_filters(const LaterStage& stage);

/// n + convolution(gelu(n)), n the LayerNorm of x; without "n +" where channels change. (batch, length, in)
/// -> (batch, length, out); gelu by the tanh formula. Differentiable. On a CPU, float32 filters of width 5
/// with channels in full vectors use our own kernels (cpu/stem_kernels.hpp). These keep only x for the
/// backward pass and give the same bits for any number of windows and threads.
at::Tensor later_stage(const at::Tensor& x, const LaterStage& stage);

/// The same by LibTorch's operations: any device, type and shape, readable, slow.
at::Tensor later_stage_reference(const at::Tensor& x, const LaterStage& stage);

/// The first stage is gelu(convolution), pooled; with both_strands, over the results of a filter and of its
/// reverse complement. The others are x + convolution(gelu(x)), pooled, x the LayerNorm of the input (without
/// "x +" where channels change).
/// Thread-safe in evaluation mode.
class StemImpl : public torch::nn::Module {
public:
    explicit StemImpl(const BinsConfig& config);
    /// Forgets what evaluation mode keeps of the weights.
    void train(bool on = true) override;
    /// bases: (batch, length) uint8 codes or (batch, length, 4) floats, length a multiple of the bin.
    StemOutput forward(const at::Tensor& bases) const { return forward(bases, first_.bin); }
    /// forward() with bins of another size.
    StemOutput forward(const at::Tensor& bases, std::int64_t bin) const;
    /// The first stage of forward(). On a CPU, the reverse complement of the window before is not computed
    /// again.
    StemOutput first(const at::Tensor& bases, std::int64_t bin) const;
    /// Stage `i` > 0 of (batch, length, channels): before pooling, and pooled.
    at::Tensor convolved(std::size_t i, const at::Tensor& x) const;
    at::Tensor pooled(std::size_t i, const at::Tensor& x) const;
    /// (channels, 4, width) of the first stage.
    at::Tensor first_filters() const { return first_.weight; }

private:
    struct Later {
        LaterStage convolution;
        at::Tensor sharpness;  // (channels)
        std::int64_t pool;
    };

    /// What is made of a stage's weight, and the sum of its parameters' versions then.
    struct Kept {
        at::Tensor value;
        std::uint32_t version = 0;
    };
    /// The window whose first stage a thread computed last.
    struct Window {
        at::Tensor bases;
        std::int64_t bin = 0;
        StemOutput output;
    };
    template <typename Make>
    at::Tensor kept(std::size_t stage, std::initializer_list<at::Tensor> parameters, const Make& make) const;

    /// Replaces the calling thread's last window, and returns the one before.
    Window own_last(Window next) const;

    FirstStage first_;  // its bin is the default
    std::vector<Later> later_;
    mutable std::mutex mutex_;                        // of what follows
    mutable std::vector<Kept> kept_;                  // of each stage
    mutable std::map<std::thread::id, Window> last_;  // of each thread
};
TORCH_MODULE(Stem);

}  // namespace bigbird::bins
