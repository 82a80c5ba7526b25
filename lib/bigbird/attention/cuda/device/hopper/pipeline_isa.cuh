// SPDX-License-Identifier: Apache-2.0
// The Isa of pipeline.hpp on a GPU of compute capability 9.0: barriers in shared memory and the copy
// engine.
#pragma once

#include "bigbird/attention/cuda/device/hopper/wait_report.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_isa.cuh"

#include <cuda.h>  // only CUtensorMap; libcuda is not linked

namespace bigbird::attention::cuda {

class PipelineIsa : public WarpgroupIsa {
public:
    /// `waits`: of WarpgroupArguments.
    __device__ __forceinline__ explicit PipelineIsa(std::uint64_t* waits) : waits_(waits) {}
    __device__ __forceinline__ int thread() const { return thread_; }
    __device__ __forceinline__ int lane() const { return thread_ % warp_lanes; }
    /// Returns the same, opaque to the compiler: values derived from it are not computed ahead of loops and
    /// kept in registers.
    __device__ __forceinline__ PipelineIsa late() const {
        PipelineIsa same = *this;
        asm volatile("" : "+r"(same.thread_));
        return same;
    }

    /// By one thread, which then calls publish_barriers(), before a barrier of the block.
    __device__ __forceinline__ void init_barrier(Barrier* barrier, int arrivals) const {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
                     : "memory");
    }
    /// For other threads, and for the copy engine, which is another proxy.
    __device__ __forceinline__ void publish_barriers() const {
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    /// Release: threads that wait see what this thread wrote before.
    __device__ __forceinline__ void arrive(Barrier* barrier) const {
        asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                     : "memory");
    }
    /// The turn does not end before `bytes` bytes have been copied. Call it before the copies, and before an
    /// arrival that the turn needs.
    __device__ __forceinline__ void expect_bytes(Barrier* barrier, int bytes) const {
        asm volatile(
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
            "r"(bytes)
            : "memory");
    }
    /// Acquire: waits until the turn of that parity has ended. All lanes of a warp call it together, and
    /// leave it together.
    __device__ __forceinline__ void wait_barrier(Barrier* barrier, std::uint32_t parity) const {
        while (!has_ended(barrier, parity)) {
        }
        __syncwarp();
    }
    /// The same, but a turn that does not end within some seconds ends the kernel with an error that says
    /// where it waited (wait_report.hpp). `all`: the team's `count` barriers. Not where
    /// BIGBIRD_UNBOUNDED_WAITS is defined.
    __device__ __forceinline__ void wait_or_give_up(Barrier* barrier, std::uint32_t parity, Barrier* all,
                                                    int count) const {
#if defined(BIGBIRD_UNBOUNDED_WAITS)
        wait_barrier(barrier, parity);
#else
        for (const std::uint32_t begin = clock_high(); !has_ended(barrier, parity);) {
            if (clock_high() - begin >= most_waited)
                give_up(barrier, all, count);
        }
        __syncwarp();
#endif
    }
    /// Copies the box of a map at a token of a head: a tile, to a multiple of 1024 bytes. By one thread. A
    /// thread block without a cluster is its own cluster, so its addresses in shared memory serve as a
    /// cluster's.
    __device__ __forceinline__ void copy_tile(void* to, const CUtensorMap& map, int token, int head,
                                              int sample, Barrier* barrier) const {
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)),
            "l"(&map), "r"(0), "r"(token), "r"(head), "r"(sample), "r"(shared_address(barrier))
            : "memory");
    }
    /// Copies bytes, a multiple of 16, between addresses that are multiples of 16. By one thread.
    __device__ __forceinline__ void copy_bytes(void* to, const void* from, int bytes,
                                               Barrier* barrier) const {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                shared_address(to)),
            "l"(from), "r"(bytes), "r"(shared_address(barrier))
            : "memory");
    }
    /// Orders this thread's stores to shared memory before what the copy engine writes there once it may.
    __device__ __forceinline__ void publish_stores() const {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    /// A barrier of a group's four warps; barrier 0 is the block's.
    __device__ __forceinline__ void sync_group() const {
        asm volatile("bar.sync %0, %1;" ::"r"(1 + thread() / warpgroup_threads), "n"(warpgroup_threads)
                     : "memory");
    }
    /// All of a group call it once: lanes have `Registers` registers from now on, a multiple of 8. Takers
    /// wait for givers.
    template <int Registers>
    __device__ __forceinline__ void give_registers() const {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
    }
    template <int Registers>
    __device__ __forceinline__ void take_registers() const {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
    }

private:
    /// Limit in units of the upper half of the multiprocessor's clock, which grows by 1 every 2^32 cycles:
    /// 2.2 s at 1.98 GHz. An attempt takes as long as the hardware likes, so attempts are not counted. A
    /// kernel takes milliseconds, and some hundred times as long under compute-sanitizer.
    static constexpr std::uint32_t most_waited = 3;
    __device__ __forceinline__ static std::uint32_t clock_high() {
        std::uint32_t high;
        asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(high));
        return high;
    }
    /// Waits for a while that the hardware chooses.
    __device__ __forceinline__ static bool has_ended(Barrier* barrier, std::uint32_t parity) {
        std::uint32_t ended = 0;
        asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
            "selp.u32 %0, 1, 0, p;\n}\n"
            : "=r"(ended)
            : "r"(shared_address(barrier)), "r"(parity)
            : "memory");
        return ended != 0;
    }
    /// Writes into the report where the warp waited, gives others a millisecond to do the same, and ends the
    /// grid.
    __device__ __forceinline__ void give_up(Barrier* barrier, Barrier* all, int count) const {
        std::uint32_t turns = 0;
#pragma unroll 1
        for (int i = 0; i < count; ++i)
            turns |= has_ended(all + i, 0) ? 1U << i : 0;
        if (waits_ != nullptr) {
            const std::uint32_t offset = shared_address(barrier) - shared_address(shared());
            asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(waits_ + thread() / warp_lanes),
                         "l"(pack_wait({blockIdx.x, offset, turns}))
                         : "memory");
            __threadfence_system();
        }
        __nanosleep(1000000);
        __trap();
    }

    std::uint64_t* waits_;
    int thread_ = static_cast<int>(threadIdx.x);
};

}  // namespace bigbird::attention::cuda
