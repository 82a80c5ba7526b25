// SPDX-License-Identifier: Apache-2.0
// The Isa of tiles.hpp on a GPU of compute capability 8.0 and up.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"

#include <type_traits>

namespace bigbird::attention::cuda {

extern __shared__ __align__(1024) unsigned char dynamic_shared[];

struct PtxIsa {
    __device__ __forceinline__ int thread() const { return static_cast<int>(threadIdx.x); }
    __device__ __forceinline__ int lane() const { return static_cast<int>(threadIdx.x) % warp_lanes; }
    __device__ __forceinline__ int block() const { return static_cast<int>(blockIdx.x); }
    __device__ __forceinline__ int blocks() const { return static_cast<int>(gridDim.x); }
    __device__ __forceinline__ std::byte* shared() const {
        return reinterpret_cast<std::byte*>(dynamic_shared);
    }

    __device__ __forceinline__ void sync_block() const { __syncthreads(); }
    __device__ __forceinline__ void sync_warp() const { __syncwarp(); }
    __device__ __forceinline__ float shuffle_xor(float value, int mask) const {
        return __shfl_xor_sync(0xFFFFFFFFU, value, mask);
    }
    __device__ __forceinline__ std::uint32_t ballot(bool value) const {
        return __ballot_sync(0xFFFFFFFFU, value);
    }
    __device__ __forceinline__ float max(float a, float b) const { return fmaxf(a, b); }
    __device__ __forceinline__ float exp2(float x) const {
        float y;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
        return y;
    }
    __device__ __forceinline__ float log2(float x) const { return log2f(x); }
    __device__ __forceinline__ float sqrt(float x) const { return sqrtf(x); }
    /// To within 2 units in the last place; 0 where the divisor is above 2^126.
    __device__ __forceinline__ float divide(float a, float b) const { return __fdividef(a, b); }

    /// Copies 16 bytes to shared memory asynchronously. If not `is_there`, writes zeros and reads nothing.
    __device__ __forceinline__ void copy16(void* to, const void* from, bool is_there) const {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                     "r"(is_there ? 16 : 0)
                     : "memory");
    }
    __device__ __forceinline__ void commit_copies() const {
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    /// Waits for all of this thread's copies.
    __device__ __forceinline__ void wait_copies() const { asm volatile("cp.async.wait_all;" ::: "memory"); }
    /// From shared to global memory, 16 bytes, both aligned.
    __device__ __forceinline__ void store16(void* to, const void* from) const {
        *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
    }

    __device__ __forceinline__ Fragment load_matrices(const void* row) const {
        Fragment f;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f.x[0]), "=r"(f.x[1]), "=r"(f.x[2]), "=r"(f.x[3])
                     : "r"(shared_address(row))
                     : "memory");
        return f;
    }
    __device__ __forceinline__ Fragment load_matrices_transposed(const void* row) const {
        Fragment f;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f.x[0]), "=r"(f.x[1]), "=r"(f.x[2]), "=r"(f.x[3])
                     : "r"(shared_address(row))
                     : "memory");
        return f;
    }

    /// sum += a (16 x 16) times b (16 x 8).
    template <typename Scalar>
    __device__ __forceinline__ void multiply(Accumulator& sum, const Fragment& a, std::uint32_t b0,
                                             std::uint32_t b1) const {
        if constexpr (std::is_same_v<Scalar, Bf16>) {
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                "{%8, %9}, {%0, %1, %2, %3};"
                : "+f"(sum.x[0]), "+f"(sum.x[1]), "+f"(sum.x[2]), "+f"(sum.x[3])
                : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b0), "r"(b1));
        } else {
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                "{%8, %9}, {%0, %1, %2, %3};"
                : "+f"(sum.x[0]), "+f"(sum.x[1]), "+f"(sum.x[2]), "+f"(sum.x[3])
                : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b0), "r"(b1));
        }
    }

    template <typename Scalar>
    __device__ __forceinline__ std::uint32_t pack(float low, float high) const {
        std::uint32_t both;
        if constexpr (std::is_same_v<Scalar, Bf16>) {
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        } else {
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
        }
        return both;
    }
    template <typename Scalar>
    __device__ __forceinline__ std::uint16_t narrow(float value) const {
        return static_cast<std::uint16_t>(pack<Scalar>(value, 0.0F));
    }
    template <typename Scalar>
    __device__ __forceinline__ float widen(std::uint16_t bits) const {
        if constexpr (std::is_same_v<Scalar, Bf16>) {
            return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
        } else {
            float value;
            asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
            return value;
        }
    }
    /// The product of 8 neighbors with 8 others, both aligned to 16 bytes.
    template <typename Scalar>
    __device__ __forceinline__ float dot8(const std::uint16_t* a, const std::uint16_t* b) const {
        const uint4 left = *reinterpret_cast<const uint4*>(a), right = *reinterpret_cast<const uint4*>(b);
        const std::uint32_t x[4] = {left.x, left.y, left.z, left.w};
        const std::uint32_t y[4] = {right.x, right.y, right.z, right.w};
        float sum = 0;
        BIGBIRD_UNROLL
        for (int i = 0; i < 4; ++i) {
            sum += widen<Scalar>(static_cast<std::uint16_t>(x[i])) *
                   widen<Scalar>(static_cast<std::uint16_t>(y[i]));
            sum += widen<Scalar>(static_cast<std::uint16_t>(x[i] >> 16)) *
                   widen<Scalar>(static_cast<std::uint16_t>(y[i] >> 16));
        }
        return sum;
    }
    /// Eight neighbors, aligned to 16 bytes, from and to global memory.
    template <typename Scalar>
    __device__ __forceinline__ void load8(const std::uint16_t* from, float (&values)[8]) const {
        const uint4 raw = *reinterpret_cast<const uint4*>(from);
        const std::uint32_t pairs[4] = {raw.x, raw.y, raw.z, raw.w};
        BIGBIRD_UNROLL
        for (int i = 0; i < 4; ++i) {
            values[2 * i] = widen<Scalar>(static_cast<std::uint16_t>(pairs[i]));
            values[2 * i + 1] = widen<Scalar>(static_cast<std::uint16_t>(pairs[i] >> 16));
        }
    }
    /// Eight floats in a row, aligned to 16 bytes.
    __device__ __forceinline__ void load_floats8(const float* from, float (&values)[8]) const {
        const float4 low = reinterpret_cast<const float4*>(from)[0],
                     high = reinterpret_cast<const float4*>(from)[1];
        values[0] = low.x;
        values[1] = low.y;
        values[2] = low.z;
        values[3] = low.w;
        values[4] = high.x;
        values[5] = high.y;
        values[6] = high.z;
        values[7] = high.w;
    }
    template <typename Scalar>
    __device__ __forceinline__ void store8(std::uint16_t* to, const float (&values)[8]) const {
        *reinterpret_cast<uint4*>(to) =
            make_uint4(pack<Scalar>(values[0], values[1]), pack<Scalar>(values[2], values[3]),
                       pack<Scalar>(values[4], values[5]), pack<Scalar>(values[6], values[7]));
    }

protected:
    __device__ __forceinline__ static std::uint32_t shared_address(const void* pointer) {
        return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
    }
};

}  // namespace bigbird::attention::cuda
