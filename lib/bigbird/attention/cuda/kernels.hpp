// SPDX-License-Identifier: Apache-2.0
// The interface of the library of CUDA kernels (bigbird-cuda.so), in plain C without LibTorch. Every call
// uses the current device and the caller's stream (a cudaStream_t). Calls neither allocate nor wait, so CUDA
// graphs can capture them. Only the first call for Hopper makes the driver map a page of the process
// (WaitReports). All pointers are to device memory.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define BIGBIRD_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define BIGBIRD_HOST_DEVICE inline
#endif

// Arguments of the CUDA attention kernels: plain data, no LibTorch. Host and device read the same structs.

namespace bigbird::attention::cuda {

/// Tokens of a tile: the unit in which kernels load, multiply and skip.
inline constexpr int tile_tokens = 64;

/// How tokens are divided into tiles. Blocks of at least tile_tokens are cut into separate tiles, the last of
/// which may be short. Smaller blocks share a tile, as many as fit.
struct Tiling {
    std::int32_t length = 0, block = 0;  ///< tokens
    std::int32_t tiles = 0;
    std::int32_t span = 0;  ///< tokens of `tiles_per_span` tiles
    std::int32_t tiles_per_span = 1;
    std::int32_t blocks_per_tile = 1;  ///< more than 1: blocks smaller than half a tile
};

/// The first token of a tile, and how many it has.
BIGBIRD_HOST_DEVICE int first_token_of(const Tiling& tiling, int tile) {
    return tile / tiling.tiles_per_span * tiling.span + tile % tiling.tiles_per_span * tile_tokens;
}
BIGBIRD_HOST_DEVICE int count_tokens(const Tiling& tiling, int tile) {
    const int left_in_span = tiling.span - tile % tiling.tiles_per_span * tile_tokens;
    const int left = tiling.length - first_token_of(tiling, tile);
    const int count = left < left_in_span ? left : left_in_span;
    return count < tile_tokens ? count : tile_tokens;
}

/// A tile of the other side (key or query) that a unit processes. bias[i]: index in the bias table of its
/// blocks_per_tile^2 biases (query block by key block) for the unit's i-th tile, -1 if that tile does not
/// attend it. place: 128 * its first token + its tokens.
struct Entry {
    std::int32_t tile = 0, bias[2] = {-1, -1}, place = 0;
};
inline constexpr int place_factor = 128;

/// The work of one thread block: one or two tiles of a head against a list of entries. slot -1: the list is
/// complete and the result is written; else it is a part of a longer list and goes to the workspace.
struct Unit {
    std::int32_t head = 0, tile[2] = {-1, -1}, first = 0, count = 0, slot[2] = {-1, -1}, reserved = 0;
};

/// A tile whose list was cut: the parts are in slots first .. first + count - 1.
struct Sum {
    std::int32_t head = 0, tile = 0, first = 0, count = 0;
};

/// Units of all heads, head by head, long lists first. The fields after `slots` are only for
/// KernelSet::hopper: TeamLists (schedule.hpp) of all samples' units.
struct UnitList {
    const Unit* units = nullptr;
    const Entry* entries = nullptr;
    const Sum* sums = nullptr;
    std::int32_t unit_count = 0, sum_count = 0, slots = 0, team_count = 0;
    const std::int32_t *team_first = nullptr, *team_units = nullptr;
};
/// Teams of a thread block of a persistent grid: of query units and of key units.
inline constexpr int query_teams = 2, key_teams = 3;

/// A (samples, heads, length, head_dim) tensor of 16-bit numbers: last dimension contiguous, strides in
/// elements, positive and multiples of 8, data aligned to 16 bytes.
struct TensorView {
    void* data = nullptr;
    std::int64_t sample_stride = 0, head_stride = 0, row_stride = 0;
};

enum class Element : std::int32_t { bf16, fp16 };

/// general: compute capability 8.0 and up (mma.sync); hopper: only 9.0 (wgmma).
enum class KernelSet : std::int32_t { general, hopper };

/// What the backward pass computes: dq, dk and dv; only dq; or only dk and dv.
enum class Gradients : std::int32_t { all, of_queries, of_keys };

struct Arguments {
    Element element = Element::bf16;
    KernelSet kernels = KernelSet::general;
    std::int32_t samples = 0, heads = 0, head_dim = 0;
    std::int32_t zero_padded_queries = 1;  ///< as in transformers' block-sparse attention
    Tiling tiling;
    const std::uint8_t* key_mask = nullptr;  ///< (samples, length), 0 = padding
    const float* biases = nullptr;           ///< log2 of multiplicities, -infinity where not attended
    UnitList queries;                        ///< units of query tiles: forward and dq
    UnitList keys;                           ///< units of key tiles: dk and dv
    TensorView q, k, v, out;
    float* lse = nullptr;          ///< (samples, heads, tiles, tile_tokens): log2 of the sum of the weights
    float* workspace = nullptr;    ///< workspace_floats(), aligned to 16 bytes
    TensorView d_out, dq, dk, dv;  ///< backward only
    float* delta = nullptr;        ///< like lse; backward only
    Gradients gradients = Gradients::all;
};

// Arguments of the CUDA kernels between the matrix products. Tensors of 16-bit numbers and parameters are
// contiguous and aligned to 16 bytes; columns are a multiple of 8.

/// The same dropout as model::dropout() on the CPU. Element i of a sample is dropped if 32 bits of the value
/// i / 2 of SplitMix64's stream keys[sample] are below `below`. Otherwise it is multiplied by `scale`.
struct Dropout {
    const std::int64_t* keys = nullptr;  ///< one per sample; null: no dropout
    std::int32_t rows_per_sample = 1;
    std::uint32_t below = 0;  ///< probability * 2^32
    float scale = 1;          ///< 1 / (1 - probability)
};

/// Rows made of three tables of floats: words[ids[row]] * word_scale + token_types[types[row]] +
/// positions[row % length], the last of which is 0 from position_count on.
struct Gather {
    const std::int64_t *ids = nullptr, *types = nullptr;  ///< (rows); no ids: nothing is gathered
    const float *words = nullptr, *token_types = nullptr, *positions = nullptr;
    std::int32_t length = 1, position_count = 0;
    float word_scale = 1;
};

/// y = LayerNorm(residual + dropout(x)) over rows of at most largest_norm columns.
inline constexpr int largest_norm = 1024;
struct NormArguments {
    Element element = Element::bf16;
    std::int32_t rows = 0, columns = 0;
    float epsilon = 1e-12F;
    Dropout dropout;
    Gather gather;                                   ///< if it has ids, replaces x
    const void *x = nullptr, *residual = nullptr;    ///< (rows, columns); no residual: null
    const float *weight = nullptr, *bias = nullptr;  ///< (columns)
    void* y = nullptr;                               ///< (rows, columns)
    // For the backward pass; all null without one.
    void* sum = nullptr;                        ///< (rows, columns): residual + dropout(x)
    float *mean = nullptr, *inverse = nullptr;  ///< (rows): of the sum, and 1 / its standard deviation
    // Only for backward.
    const void* d_y = nullptr;
    void *d_x = nullptr, *d_sum = nullptr;  ///< d_sum is the residual's gradient, too
    float *d_weight = nullptr, *d_bias = nullptr;
    float* parts = nullptr;  ///< (part_count, 2, columns), workspace
    std::int32_t part_count = 0;
};

/// y = gelu(x + bias), by the tanh formula.
struct GeluArguments {
    Element element = Element::bf16;
    std::int32_t rows = 0, columns = 0;
    const void* x = nullptr;      ///< (rows, columns)
    const float* bias = nullptr;  ///< (columns)
    void* y = nullptr;
    // Only for backward.
    const void* d_y = nullptr;
    void* d_x = nullptr;
    float *d_bias = nullptr, *parts = nullptr;  ///< parts: (part_count, columns), workspace
    std::int32_t part_count = 0;
};

/// The loss of rows of logits. Overwrites logits with its gradient: softmax(logits), minus 1 at the label.
struct SoftmaxArguments {
    Element element = Element::bf16;
    std::int32_t rows = 0, columns = 0;
    void* logits = nullptr;                ///< (rows, columns)
    const std::int64_t* labels = nullptr;  ///< (rows), each in [0, columns)
    float* nats = nullptr;                 ///< (rows): -ln softmax(logits)[label]
    std::int32_t* correct = nullptr;  ///< (rows): 1 where the label's logit is the first greatest, else 0
    std::int32_t differentiate = 1;   ///< 0: logits stay as they are
};
/// Warps of a thread block that takes a row, and its bytes of shared memory: three numbers per warp.
inline constexpr int softmax_warps = 16, softmax_shared = softmax_warps * 3 * static_cast<int>(sizeof(float));

/// Warps of a thread block that adds up parts, and its bytes of shared memory.
inline constexpr int sum_warps = 16, sum_shared = sum_warps * 32 * static_cast<int>(sizeof(float));

/// Bytes of shared memory of a norm's backward pass.
BIGBIRD_HOST_DEVICE constexpr int norm_backward_shared(int columns) {
    return 4 * 2 * columns * static_cast<int>(sizeof(float));  // four warps, weight and bias
}
/// Number of thread blocks that together cover a row for gelu: 128 threads of eight columns each.
BIGBIRD_HOST_DEVICE constexpr int gelu_strips(int columns) {
    return (columns + 8 * 128 - 1) / (8 * 128);
}

/// Results are cudaError_t, 0 for success.
struct KernelTable {
    int version = 0;
    const char* (*error_text)(int error) = nullptr;
    bool (*supports)(KernelSet kernels, int head_dim) = nullptr;
    /// Whether the current device can run them.
    bool (*runs)(KernelSet kernels) = nullptr;
    /// Thread blocks of a persistent grid: one for each multiprocessor of a device.
    int (*persistent_blocks)(int device) = nullptr;
    /// Writes out and lse; needs q, k, v, key_mask, biases, queries, workspace (forward_workspace()).
    int (*forward)(const Arguments& arguments, void* stream) = nullptr;
    /// Writes delta and the tensors that `gradients` names. Needs dq, dk and dv and a workspace of
    /// backward_workspace().
    int (*backward)(const Arguments& arguments, void* stream) = nullptr;
    /// As described at their arguments. Columns: a multiple of 8, at most largest_norm for norms.
    int (*norm_forward)(const NormArguments& arguments, void* stream) = nullptr;
    int (*norm_backward)(const NormArguments& arguments, void* stream) = nullptr;
    int (*gelu_forward)(const GeluArguments& arguments, void* stream) = nullptr;
    int (*gelu_backward)(const GeluArguments& arguments, void* stream) = nullptr;
    int (*softmax_gradient)(const SoftmaxArguments& arguments, void* stream) = nullptr;
    /// For tests: a kernel for compute capability 9.0 that waits forever, and is ended after some seconds.
    /// It leaves a CUDA error that the process cannot clear.
    int (*hang)(void* stream) = nullptr;
};

/// Raised when Arguments or KernelTable change.
inline constexpr int kernel_table_version = 5;

}  // namespace bigbird::attention::cuda

/// The kernels of the library.
extern "C" const bigbird::attention::cuda::KernelTable* bigbird_cuda_kernels();
/// The names of the GPU architectures for which the library has code.
extern "C" const char* bigbird_cuda_architectures();
