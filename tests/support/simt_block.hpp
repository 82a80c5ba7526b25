// SPDX-License-Identifier: Apache-2.0
// Runs CUDA kernels that are written against a `DeviceIsa` (bigbird/attention/cuda/device/tiles.hpp) on the
// CPU: each thread of a block is a fiber, and the 32 of a warp meet in every warp-wide instruction, which is
// computed as the PTX manual defines it. Made to find what a device would only show at times:
//   - warps run in random order between barriers, so that a missing barrier changes results;
//   - an asynchronous copy happens at once or as late as it may, by chance (and simt_pipeline.hpp);
//   - shared memory begins as NaN;
//   - lanes of a warp that meet in different instructions, a barrier that some threads never reach, addresses
//     that are misaligned, copies and products that nobody waits for are errors.
// x86-64 and 64-bit ARM.
#pragma once

#include "support/simt_pipeline.hpp"
#include "support/simt_warp.hpp"

#include "bigbird/attention/cuda/device/tiles.hpp"
#include "bigbird/core/rng.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace bigbird::testing {

/// While it lives, ThreadSanitizer counts calls and returns for itself. It counts by thread, but fibers that
/// are given up never return.
class CallsOfFibers {
public:
#ifdef __SANITIZE_THREAD__
    __attribute__((no_sanitize("thread"))) CallsOfFibers()
        : before_(__tsan_get_current_fiber()), own_(__tsan_create_fiber(0)) {
        __tsan_switch_to_fiber(own_, 0);
    }
    __attribute__((no_sanitize("thread"))) ~CallsOfFibers() {
        __tsan_switch_to_fiber(before_, 0);
        __tsan_destroy_fiber(own_);
    }
    CallsOfFibers(const CallsOfFibers&) = delete;
    CallsOfFibers& operator=(const CallsOfFibers&) = delete;

private:
    void *before_, *own_;
#else
    CallsOfFibers() {}
#endif
};

/// Saves this fiber's registers on its stack and goes on with another's. A stack that is switched to for the
/// first time ends with `saved_words` words, of which word `return_word` is where the switch returns to.
#if defined(__x86_64__)
inline constexpr int saved_words = 8, return_word = 6;
__attribute__((naked, noinline)) inline void switch_stack(void** /*save*/, void* /*load*/) {
    asm("pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
        "movq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\t"
        "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret");
}
#elif defined(__aarch64__)
inline constexpr int saved_words = 20, return_word = 11;
asm(".text\n.weak bigbird_switch_stack\n.type bigbird_switch_stack, %function\nbigbird_switch_stack:\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\nret\n");
extern "C" void bigbird_switch_stack(void** save, void* load);
inline void switch_stack(void** save, void* load) {
    bigbird_switch_stack(save, load);
}
#endif

/// wgmma's and a barrier, in which the 128 lanes of four warps meet.
enum class GroupInstruction : std::uint8_t { fence, multiply, commit, wait, sync };

/// One thread block. Created anew for each.
class SimtBlock {
public:
    static constexpr int lanes = attention::cuda::warp_lanes;
    static constexpr std::size_t alignment = 1024;  ///< of shared memory

    /// Which block of how many.
    struct Place {
        int number, grid;
    };
    SimtBlock(Place place, int threads, std::size_t shared_bytes, std::uint64_t seed)
        : place_(place),
          shared_(shared_bytes + alignment, std::byte{0xFF}),
          pipeline_(threads, shared(), shared_bytes),
          rng_(seed) {
        for (int i = 0; i < threads; ++i)
            fibers_.push_back(std::make_unique<Fiber>());
        groups_.resize(static_cast<std::size_t>(threads) / SimtGroup::lanes);
    }

    /// Runs body(thread) as every thread. Throws std::runtime_error on what a device must not be asked to do.
    void run(const std::function<void(int)>& body) {
        body_ = &body;
        for (int thread = 0; thread < threads(); ++thread)
            start(thread);
        while (error_.empty() && step()) {
        }
        if (!error_.empty())
            throw std::runtime_error("block " + std::to_string(place_.number) + ": " + error_);
    }

    int number() const { return place_.number; }
    int grid() const { return place_.grid; }
    std::byte* shared() {
        const auto address = reinterpret_cast<std::uintptr_t>(shared_.data());
        return shared_.data() + (alignment - address % alignment) % alignment;
    }

    void meet_block(int thread) {
        fiber(thread).state = State::at_barrier;
        leave(thread);
    }

    void meet_group(int thread, GroupInstruction instruction, const GroupOperands& operands = {}) {
        fiber(thread).group = {instruction, operands};
        meet(thread, static_cast<int>(SimtGroup::lanes), State::in_group,
             [this](int first) { execute_group(first); });
    }

    SimtPipeline& pipeline() { return pipeline_; }
    SimtPipeline::Offset offset_of(const void* pointer) {
        return static_cast<SimtPipeline::Offset>(static_cast<const std::byte*>(pointer) - shared());
    }
    /// Others may run before the thread goes on.
    void yield(int thread) {
        has_yielded_ = rng_.between(0, 1) == 0;
        if (has_yielded_) leave(thread);
    }
    void copy_bulk(int thread, const void* to, std::vector<std::byte> bytes, const void* barrier) {
        check(thread, pipeline_.copy(thread, offset_of(to), std::move(bytes), offset_of(barrier), rng_));
    }
    void wait_turn(int thread, const void* barrier, std::uint32_t parity) {
        Fiber& own = fiber(thread);
        own.awaited = {offset_of(barrier), parity};
        expect(thread, pipeline_.is_barrier(own.awaited.first), "a barrier is waited for that is not set up");
        while (!pipeline_.has_ended(own.awaited.first, parity)) {
            own.state = State::awaits_turn;
            leave(thread);
        }
        pipeline_.end_wait(thread, own.awaited.first);
    }

    void meet_warp(int thread, const WarpOperands& operands) {
        fiber(thread).operands = operands;
        meet(thread, lanes, State::in_warp, [this](int first) { execute(first); });
    }

    void copy16(int thread, void* to, const void* from, bool is_there) {
        expect(thread, address(to) % 16 == 0 && address(from) % 16 == 0, "a copy is misaligned");
        const Copy copy{to, from, is_there};
        fiber(thread).waited = false;
        if (rng_.between(0, 1) == 0)
            copy.execute();
        else
            fiber(thread).copies.push_back(copy);
    }
    void wait_copies(int thread) {
        for (const Copy& copy : fiber(thread).copies)
            copy.execute();
        fiber(thread).copies.clear();
        fiber(thread).waited = true;
    }
    void expect(int thread, bool condition, const char* message) { check(thread, condition ? "" : message); }
    /// Ends the block with what is wrong, if anything.
    void check(int thread, const std::string& wrong) {
        if (!wrong.empty()) {
            error_ = wrong + " (thread " + std::to_string(thread) + ")";
            leave(thread);
        }
    }

private:
    enum class State : std::uint8_t { ready, in_warp, in_group, at_barrier, awaits_turn, done };

    struct Copy {
        void* to;
        const void* from;
        bool is_there;
        void execute() const {
            if (is_there)
                std::memcpy(to, from, 16);
            else
                std::memset(to, 0, 16);
        }
    };

    struct Fiber {
        static constexpr std::size_t stack_bytes = 1 << 17;
        std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
        void* top = nullptr;
        State state = State::ready;
        WarpOperands operands;
        std::vector<Copy> copies;
        bool waited = true;
        std::pair<SimtPipeline::Offset, std::uint32_t> awaited;  // barrier, parity
        std::pair<GroupInstruction, GroupOperands> group;
    };

    /// The last of `size` neighbours to come executes for all of them; the others wait.
    template <typename Execute>
    void meet(int thread, int size, State state, const Execute& execute) {
        fiber(thread).state = state;
        const int first = thread / size * size;
        for (int i = first; i < first + size; ++i)
            if (fiber(i).state != state) return leave(thread);
        execute(first);
        for (int i = first; i < first + size; ++i)
            fiber(i).state = State::ready;
    }

    static std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
    Fiber& fiber(int thread) { return *fibers_[static_cast<std::size_t>(thread)]; }
    int threads() const { return static_cast<int>(fibers_.size()); }

    static void enter() {
        SimtBlock* block = current_block();
        const int thread = block->running_;
        (*block->body_)(thread);
        Fiber& own = block->fiber(thread);
        if (!own.copies.empty() || !own.waited)
            block->error_ = "a thread ended with copies that nobody waited for";
        const auto group = static_cast<std::size_t>(thread) / SimtGroup::lanes;
        if (group < block->groups_.size() && !block->groups_[group].is_idle())
            block->error_ = "a thread ended with products that nobody waited for";
        own.state = State::done;
        block->leave(thread);
    }
    static SimtBlock*& current_block() {
        static thread_local SimtBlock* block = nullptr;
        return block;
    }

    void start(int thread) {
        Fiber& own = fiber(thread);
        auto top = address(own.stack.get() + Fiber::stack_bytes) / 16 * 16;
        auto* words = reinterpret_cast<std::uintptr_t*>(top) - saved_words;
        std::fill_n(words, saved_words, 0);
        words[return_word] = reinterpret_cast<std::uintptr_t>(&SimtBlock::enter);
        own.top = words;
    }
    void leave(int thread) { switch_stack(&fiber(thread).top, scheduler_); }

    /// Runs one warp until it waits, or brings a copy; false when all is done.
    bool step() {
        if (pipeline_.take_ended()) wake();
        std::vector<int> ready;
        for (int i = 0; i < threads(); ++i)
            if (fiber(i).state == State::ready && (ready.empty() || ready.back() != i / lanes))
                ready.push_back(i / lanes);
        const bool all_done =
            std::ranges::all_of(fibers_, [](const auto& f) { return f->state == State::done; });
        if (pipeline_.has_coming() && !all_done && (ready.empty() || rng_.between(0, 7) == 0)) {
            error_ = pipeline_.bring_any(rng_);
            return true;
        }
        if (ready.empty()) return open_barrier();
        const int warp =
            ready[static_cast<std::size_t>(rng_.between(0, static_cast<std::int64_t>(ready.size()) - 1))];
        has_yielded_ = false;
        for (bool ran = true; ran && error_.empty() && !has_yielded_;) {
            ran = false;
            for (int i = warp * lanes; i < (warp + 1) * lanes && error_.empty() && !has_yielded_; ++i) {
                if (fiber(i).state == State::ready) {
                    ran = true;
                    running_ = i;
                    current_block() = this;
                    switch_stack(&scheduler_, fiber(i).top);
                }
            }
        }
        return true;
    }

    /// Those whose turn may have come; they look again.
    void wake() {
        for (const auto& f : fibers_)
            if (f->state == State::awaits_turn) f->state = State::ready;
    }

    bool open_barrier() {
        int waiting = 0, done = 0;
        for (const auto& f : fibers_) {
            waiting += f->state == State::at_barrier ? 1 : 0;
            done += f->state == State::done ? 1 : 0;
        }
        if (done == threads()) {
            error_ = pipeline_.has_coming() ? "a block ended with copies still coming" : "";
            return false;
        }
        if (waiting != threads()) {
            error_ =
                "a barrier or a warp-wide instruction is not reached by all: " + std::to_string(waiting) +
                " threads at the barrier, " + std::to_string(done) + " have ended" + awaited_turns();
            return true;
        }
        for (const auto& f : fibers_)
            f->state = State::ready;
        return true;
    }

    /// What threads wait for that will not come.
    std::string awaited_turns() {
        std::set<SimtPipeline::Offset> barriers;
        for (const auto& f : fibers_)
            if (f->state == State::awaits_turn) barriers.insert(f->awaited.first);
        std::string text;
        for (const SimtPipeline::Offset barrier : barriers)
            text += "; " + pipeline_.describe(barrier);
        return text;
    }

    void execute(int first) {
        const WarpInstruction instruction = fiber(first).operands.instruction;
        std::array<WarpOperands*, lanes> warp{};
        for (int i = 0; i < lanes; ++i) {
            warp[static_cast<std::size_t>(i)] = &fiber(first + i).operands;
            if (fiber(first + i).operands.instruction != instruction) {
                error_ = "the lanes of a warp meet in different instructions";
                return;
            }
        }
        if (!execute_warp(instruction, warp)) error_ = "ldmatrix is given a misaligned row";
    }

    void execute_group(int first) {
        SimtGroup& group = groups_[static_cast<std::size_t>(first) / SimtGroup::lanes];
        SimtGroup::Operands operands;
        const GroupInstruction instruction = fiber(first).group.first;
        for (std::size_t i = 0; i < SimtGroup::lanes; ++i) {
            const auto& of_lane = fiber(first + static_cast<int>(i)).group;
            operands[i] = of_lane.second;
            if (of_lane.first != instruction) {
                error_ = "the warps of a group meet in different instructions";
                return;
            }
        }
        const int number = first / static_cast<int>(SimtGroup::lanes);
        switch (instruction) {
            case GroupInstruction::fence:
                return group.fence();
            case GroupInstruction::commit:
                return group.commit();
            case GroupInstruction::wait:
                group.wait(shared());
                return pipeline_.end_reads(number);
            case GroupInstruction::sync:
                return;
            case GroupInstruction::multiply:
                break;
        }
        error_ = operands[0].a == nullptr ? pipeline_.begin_read(number, tile_at(operands[0].a_tile)) : "";
        if (error_.empty()) error_ = pipeline_.begin_read(number, tile_at(operands[0].b_tile));
        if (!group.issue(operands)) error_ = "a product of a group without a fence before it";
    }
    static SimtPipeline::Offset tile_at(std::uint64_t descriptor) { return (descriptor & 0x3FFF) << 4; }

    Place place_;
    std::vector<std::byte> shared_;
    SimtPipeline pipeline_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<SimtGroup> groups_;
    const std::function<void(int)>* body_ = nullptr;
    void* scheduler_ = nullptr;
    int running_ = 0;
    bool has_yielded_ = false;
    std::string error_;
    Rng rng_;
};

}  // namespace bigbird::testing
