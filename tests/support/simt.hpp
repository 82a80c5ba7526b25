// SPDX-License-Identifier: Apache-2.0
// The Isa of an emulated grid (simt_block.hpp).
#pragma once

#include "support/simt_block.hpp"

#include "bigbird/attention/cuda/device/hopper/warpgroup_tiles.hpp"

#include <type_traits>

namespace bigbird::testing {

/// The Isa that kernels see.
class SimtIsa {
public:
    using Fragment = attention::cuda::Fragment;
    using Accumulator = attention::cuda::Accumulator;

    SimtIsa(SimtBlock& block, int thread) : block_(&block), thread_(thread) {}

    int thread() const { return thread_; }
    int lane() const { return thread_ % SimtBlock::lanes; }
    int block() const { return block_->number(); }
    int blocks() const { return block_->grid(); }
    std::byte* shared() const { return block_->shared(); }

    void sync_block() const { block_->meet_block(thread_); }
    void sync_warp() const { meet({.instruction = WarpInstruction::sync}); }
    float shuffle_xor(float value, int mask) const {
        meet({.instruction = WarpInstruction::shuffle_xor, .value = &value, .mask = mask});
        return value;
    }
    std::uint32_t ballot(bool vote) const {
        std::uint32_t votes = 0;
        meet({.instruction = WarpInstruction::ballot, .vote = vote, .votes = &votes});
        return votes;
    }
    float max(float a, float b) const { return std::fmax(a, b); }
    float exp2(float x) const { return std::exp2(x); }
    float log2(float x) const { return std::log2(x); }
    float sqrt(float x) const { return std::sqrt(x); }
    float divide(float a, float b) const { return a / b; }

    void copy16(void* to, const void* from, bool is_there) const {
        block_->copy16(thread_, to, from, is_there);
    }
    void commit_copies() const {}
    void wait_copies() const { block_->wait_copies(thread_); }
    void store16(void* to, const void* from) const {
        expect_aligned(to, "a store is misaligned");
        std::memcpy(to, from, 16);
    }
    Fragment load_matrices(const void* row) const {
        Fragment loaded;
        meet({.instruction = WarpInstruction::load_matrices, .row = row, .loaded = &loaded});
        return loaded;
    }
    Fragment load_matrices_transposed(const void* row) const {
        Fragment loaded;
        meet({.instruction = WarpInstruction::load_matrices_transposed, .row = row, .loaded = &loaded});
        return loaded;
    }
    template <typename Scalar>
    void multiply(Accumulator& sum, const Fragment& a, std::uint32_t b0, std::uint32_t b1) const {
        constexpr bool bf16 = std::is_same_v<Scalar, attention::cuda::Bf16>;
        meet({.instruction = bf16 ? WarpInstruction::multiply_bf16 : WarpInstruction::multiply_fp16,
              .sum = &sum,
              .a = &a,
              .b = {b0, b1}});
    }
    std::uint64_t describe(const void* tile) const {
        const auto offset =
            static_cast<std::uint64_t>(static_cast<const std::byte*>(tile) - block_->shared());
        return attention::cuda::tile_descriptor(static_cast<std::uint32_t>(offset));
    }
    /// Registers are named for the device's compiler alone, here and in warpgroup_wait().
    template <typename... Registers>
    void warpgroup_fence(Registers&...) const {
        block_->meet_group(thread_, GroupInstruction::fence);
    }
    void warpgroup_commit() const { block_->meet_group(thread_, GroupInstruction::commit); }
    template <typename... Registers>
    void warpgroup_wait(Registers&...) const {
        block_->meet_group(thread_, GroupInstruction::wait);
    }
    SimtIsa late() const { return *this; }
    void sync_group() const { block_->meet_group(thread_, GroupInstruction::sync); }
    template <int Registers>
    void give_registers() const {
        sync_group();
    }
    template <int Registers>
    void take_registers() const {
        sync_group();
    }
    template <typename Scalar, bool TransposedB>
    void warpgroup_multiply(Accumulator (&sum)[8], std::uint64_t a, std::uint64_t b, bool add) const {
        block_->meet_group(
            thread_, GroupInstruction::multiply,
            {sum, nullptr, a, b, TransposedB, add, std::is_same_v<Scalar, attention::cuda::Bf16>});
    }
    template <typename Scalar, bool TransposedB>
    void warpgroup_multiply(Accumulator (&sum)[8], const Fragment& a, std::uint64_t b, bool add) const {
        block_->meet_group(thread_, GroupInstruction::multiply,
                           {sum, &a, 0, b, TransposedB, add, std::is_same_v<Scalar, attention::cuda::Bf16>});
    }
    using Barrier = attention::cuda::Barrier;
    void init_barrier(Barrier* barrier, int arrivals) const {
        block_->check(thread_, block_->pipeline().init(block_->offset_of(barrier), arrivals));
    }
    void publish_barriers() const { block_->pipeline().publish_barriers(); }
    void arrive(Barrier* barrier) const {
        block_->check(thread_, block_->pipeline().arrive(thread_, block_->offset_of(barrier)));
        block_->yield(thread_);  // who waits may go on before what the thread does next
    }
    void expect_bytes(Barrier* barrier, int bytes) const {
        block_->check(thread_, block_->pipeline().expect_bytes(block_->offset_of(barrier), bytes));
    }
    void wait_barrier(Barrier* barrier, std::uint32_t parity) const {
        block_->wait_turn(thread_, barrier, parity);
        sync_warp();
    }
    void wait_or_give_up(Barrier* barrier, std::uint32_t parity, const Barrier*, int) const {
        wait_barrier(barrier, parity);  // a turn that cannot end is found at once
    }
    void copy_tile(void* to, const attention::cuda::TileMapShape& map, int token, int head, int sample,
                   Barrier* barrier) const {
        block_->expect(thread_, block_->offset_of(to) % 1024 == 0, "a tile is copied to a misaligned place");
        block_->copy_bulk(thread_, to, tile_image(map, token, head, sample), barrier);
    }
    void copy_bytes(void* to, const void* from, int bytes, Barrier* barrier) const {
        const auto address = reinterpret_cast<std::uintptr_t>(from);
        block_->expect(thread_, (block_->offset_of(to) | address | static_cast<unsigned>(bytes)) % 16 == 0,
                       "a copy of bytes is misaligned");
        const auto* first = static_cast<const std::byte*>(from);
        block_->copy_bulk(thread_, to, {first, first + bytes}, barrier);
    }
    void publish_stores() const { block_->pipeline().publish_stores(thread_); }

    template <typename Scalar>
    std::uint32_t pack(float low, float high) const {
        return narrow<Scalar>(low) | static_cast<std::uint32_t>(narrow<Scalar>(high)) << 16;
    }
    template <typename Scalar>
    std::uint16_t narrow(float value) const {
        if constexpr (std::is_same_v<Scalar, attention::cuda::Bf16>)
            return c10::BFloat16(value).x;
        else
            return c10::Half(value).x;
    }
    template <typename Scalar>
    float widen(std::uint16_t bits) const {
        if constexpr (std::is_same_v<Scalar, attention::cuda::Bf16>)
            return c10::BFloat16(bits, c10::BFloat16::from_bits());
        else
            return c10::Half(bits, c10::Half::from_bits());
    }
    template <typename Scalar>
    float dot8(const std::uint16_t* a, const std::uint16_t* b) const {
        expect_aligned(a, "a load is misaligned");
        float sum = 0;
        for (int i = 0; i < 8; ++i)
            sum += widen<Scalar>(a[i]) * widen<Scalar>(b[i]);
        return sum;
    }
    template <typename Scalar>
    void load8(const std::uint16_t* from, float (&values)[8]) const {
        expect_aligned(from, "a load is misaligned");
        for (int i = 0; i < 8; ++i)
            values[i] = widen<Scalar>(from[i]);
    }
    void load_floats8(const float* from, float (&values)[8]) const {
        expect_aligned(from, "a load is misaligned");
        std::copy_n(from, 8, values);
    }
    template <typename Scalar>
    void store8(std::uint16_t* to, const float (&values)[8]) const {
        expect_aligned(to, "a store is misaligned");
        for (int i = 0; i < 8; ++i)
            to[i] = narrow<Scalar>(values[i]);
    }

private:
    /// The box of a map at a token of a head, as it lies at a multiple of 1024 bytes: rows of 128 bytes, bits
    /// 4 to 6 of a byte's address xor bits 7 to 9 (PTX: tensor memory's swizzling modes, 128B).
    static std::vector<std::byte> tile_image(const attention::cuda::TileMapShape& map, int token, int head,
                                             int sample) {
        std::vector<std::byte> image(std::size_t{map.box[1]} * map.box[0] * 2);  // 0 where nothing is
        const auto* data = static_cast<const std::byte*>(map.data);
        const auto first = static_cast<std::uint64_t>(token);
        for (std::uint64_t row = 0; row < map.box[1] && first + row < map.sizes[1]; ++row) {
            const std::byte* from = data + (first + row) * map.strides[0] +
                                    static_cast<std::uint64_t>(head) * map.strides[1] +
                                    static_cast<std::uint64_t>(sample) * map.strides[2];
            for (std::uint64_t column = 0; column < map.box[0]; ++column) {
                const std::uint64_t place = row * 128 + column * 2;
                std::memcpy(&image[place ^ (place >> 7 & 7) << 4], from + column * 2, 2);
            }
        }
        return image;
    }
    void expect_aligned(const void* pointer, const char* wrong) const {
        block_->expect(thread_, reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0, wrong);
    }
    void meet(const WarpOperands& operands) const { block_->meet_warp(thread_, operands); }
    SimtBlock* block_;
    int thread_;
};

/// Runs kernel(isa) on a grid of blocks.
template <typename Kernel>
void run_grid(int blocks, int threads, std::size_t shared_bytes, std::uint64_t seed, const Kernel& kernel) {
    for (int block = 0; block < blocks; ++block) {
        SimtBlock one({block, blocks}, threads, shared_bytes, seed + static_cast<std::uint64_t>(block));
        one.run([&](int thread) { kernel(SimtIsa(one, thread)); });
    }
}

}  // namespace bigbird::testing
