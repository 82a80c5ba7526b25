// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/thread_team.hpp"

#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr int looks = 2000;  // about 50 us, as long as falling asleep and waking up

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

template <typename Condition>
void await(const std::atomic<std::uint32_t>& value, Condition&& holds) {
    for (int look = 0; look < looks; ++look) {
        if (holds(value.load(std::memory_order_acquire))) return;
        pause();
    }
    for (std::uint32_t seen = value.load(); !holds(seen); seen = value.load())
        value.wait(seen);
}

}  // namespace

ThreadTeam::ThreadTeam(std::size_t members) : members_(members) {
    for (std::size_t thread = 1; thread < members_; ++thread) {
        threads_.emplace_back([this] {
            for (std::uint32_t seen = 0; !leaving_;) {
                await(
                    round_, [seen](std::uint32_t round) { return round != seen; });
                seen = round_;
                work_on_rest();
            }
        });
    }
}

ThreadTeam::~ThreadTeam() {
    leaving_ = true;
    ++round_;
    round_.notify_all();
}

void ThreadTeam::work(std::size_t member) {
    try {
        (*job_)(member);
    } catch (...) {
        const std::lock_guard lock(failure_mutex_);
        failure_ = failure_ ? failure_ : std::current_exception();
    }
}

void ThreadTeam::work_on_rest() {
    std::uint64_t next = next_;
    while (static_cast<std::uint32_t>(next) < members_) {
        if (!next_.compare_exchange_weak(next, next + 1)) continue;
        work(static_cast<std::uint32_t>(next));
        if (--busy_ == 0) busy_.notify_one();
        next = next_;
    }
}

void ThreadTeam::run(const std::function<void(std::size_t)>& job) {
    job_ = &job;
    if (members_ > 1) {
        busy_ = static_cast<std::uint32_t>(members_ - 1);
        next_ = std::uint64_t{round_ + 1U} << 32 | 1U;
        ++round_;
        round_.notify_all();
    }
    work(0);
    work_on_rest();
    await(busy_, [](std::uint32_t busy) { return busy == 0; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace bigbird::tokenizer
