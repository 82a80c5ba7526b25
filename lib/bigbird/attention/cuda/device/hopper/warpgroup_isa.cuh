// SPDX-License-Identifier: Apache-2.0
// The Isa of warpgroup_tiles.hpp on a GPU of compute capability 9.0 (code for 9.0a).
#pragma once

#include "bigbird/attention/cuda/device/hopper/warpgroup_tiles.hpp"
#include "bigbird/attention/cuda/device/ptx_isa.cuh"

namespace bigbird::attention::cuda {

// The 32 registers of eight accumulators, in operand order.
#define BIGBIRD_ACCUMULATORS(sum)                                                                      \
    "+f"(sum[0].x[0]), "+f"(sum[0].x[1]), "+f"(sum[0].x[2]), "+f"(sum[0].x[3]), "+f"(sum[1].x[0]),     \
        "+f"(sum[1].x[1]), "+f"(sum[1].x[2]), "+f"(sum[1].x[3]), "+f"(sum[2].x[0]), "+f"(sum[2].x[1]), \
        "+f"(sum[2].x[2]), "+f"(sum[2].x[3]), "+f"(sum[3].x[0]), "+f"(sum[3].x[1]), "+f"(sum[3].x[2]), \
        "+f"(sum[3].x[3]), "+f"(sum[4].x[0]), "+f"(sum[4].x[1]), "+f"(sum[4].x[2]), "+f"(sum[4].x[3]), \
        "+f"(sum[5].x[0]), "+f"(sum[5].x[1]), "+f"(sum[5].x[2]), "+f"(sum[5].x[3]), "+f"(sum[6].x[0]), \
        "+f"(sum[6].x[1]), "+f"(sum[6].x[2]), "+f"(sum[6].x[3]), "+f"(sum[7].x[0]), "+f"(sum[7].x[1]), \
        "+f"(sum[7].x[2]), "+f"(sum[7].x[3])
#define BIGBIRD_ACCUMULATOR_NAMES                                                                      \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, " \
    "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define BIGBIRD_WGMMA_TILES(type)                                                                 \
    asm volatile(                                                                                 \
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"                                              \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " " BIGBIRD_ACCUMULATOR_NAMES \
        ", %32, %33, p, 1, 1, 0, %35;\n}\n"                                                       \
        : BIGBIRD_ACCUMULATORS(sum)                                                               \
        : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(TransposedB)))
#define BIGBIRD_WGMMA_REGISTERS(type)                                                             \
    asm volatile(                                                                                 \
        "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"                                              \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " " BIGBIRD_ACCUMULATOR_NAMES \
        ", {%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}\n"                                         \
        : BIGBIRD_ACCUMULATORS(sum)                                                               \
        : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "l"(b), "r"(static_cast<int>(add)), \
          "n"(static_cast<int>(TransposedB)))

struct WarpgroupIsa : PtxIsa {
    __device__ __forceinline__ std::uint64_t describe(const void* tile) const {
        return tile_descriptor(shared_address(tile));
    }
    /// Orders what was written to `registers`, all that the next products read and write, before those.
    template <typename... Registers>
    __device__ __forceinline__ void warpgroup_fence(Registers&... registers) const {
        (hold(registers), ...);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    }
    __device__ __forceinline__ void warpgroup_commit() const {
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    }
    /// Waits for all products of the group. `registers` are what they read and write: until then they are
    /// neither read, nor moved, nor used for something else.
    template <typename... Registers>
    __device__ __forceinline__ void warpgroup_wait(Registers&... registers) const {
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        (hold(registers), ...);
    }
    /// sum (64 x 64) = or += a b; a (64 x 16) and b (16 x 64) by their descriptors.
    template <typename Scalar, bool TransposedB>
    __device__ __forceinline__ void warpgroup_multiply(Accumulator (&sum)[8], std::uint64_t a,
                                                       std::uint64_t b, bool add) const {
        if constexpr (std::is_same_v<Scalar, Bf16>) {
            BIGBIRD_WGMMA_TILES("bf16");
        } else {
            BIGBIRD_WGMMA_TILES("f16");
        }
    }
    /// The same product, with a's 16 rows of each warp in registers.
    template <typename Scalar, bool TransposedB>
    __device__ __forceinline__ void warpgroup_multiply(Accumulator (&sum)[8], const Fragment& a,
                                                       std::uint64_t b, bool add) const {
        if constexpr (std::is_same_v<Scalar, Bf16>) {
            BIGBIRD_WGMMA_REGISTERS("bf16");
        } else {
            BIGBIRD_WGMMA_REGISTERS("f16");
        }
    }

private:
    // The compiler knows nothing of the time between issue and wait; it keeps the order of volatile
    // statements.
    __device__ __forceinline__ static void hold(Accumulator (&sum)[8]) {
        BIGBIRD_UNROLL
        for (int i = 0; i < 32; ++i)
            asm volatile("" : "+f"(sum[i / 4].x[i % 4])::"memory");
    }
    __device__ __forceinline__ static void hold(Fragment (&operands)[4]) {
        BIGBIRD_UNROLL
        for (int i = 0; i < 16; ++i)
            asm volatile("" : "+r"(operands[i / 4].x[i % 4])::"memory");
    }
};

#undef BIGBIRD_WGMMA_REGISTERS
#undef BIGBIRD_WGMMA_TILES
#undef BIGBIRD_ACCUMULATOR_NAMES
#undef BIGBIRD_ACCUMULATORS

}  // namespace bigbird::attention::cuda
