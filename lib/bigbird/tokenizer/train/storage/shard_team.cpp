// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/shard_team.hpp"

#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr int looks = 2000;  // some 50 us; falling asleep and waking up take about as long

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

template <typename Condition>
void await(const std::atomic<std::uint32_t>& value, Condition&& holds) {
    for (int look = 0; look < looks; ++look) {
        if (holds(value.load(std::memory_order_acquire))) {
            return;
        }
        pause();
    }
    for (std::uint32_t seen = value.load(); !holds(seen); seen = value.load()) {
        value.wait(seen);
    }
}

}  // namespace

ShardTeam::ShardTeam(std::size_t members) : members_(members) {
    for (std::size_t member = 1; member < members_; ++member) {
        threads_.emplace_back([this, member] {
            for (std::uint32_t done = 0;; ++done) {
                await(round_, [done](std::uint32_t round) { return round != done; });
                if (job_ == nullptr) {
                    return;
                }
                work(member);
                if (--busy_ == 0) {
                    busy_.notify_one();
                }
            }
        });
    }
}

ShardTeam::~ShardTeam() {
    job_ = nullptr;
    ++round_;
    round_.notify_all();
}

void ShardTeam::work(std::size_t member) {
    try {
        (*job_)(member);
    } catch (...) {
        const std::lock_guard lock(failure_mutex_);
        failure_ = failure_ ? failure_ : std::current_exception();
    }
}

void ShardTeam::run(const std::function<void(std::size_t)>& job) {
    job_ = &job;
    if (members_ > 1) {
        busy_ = static_cast<std::uint32_t>(members_ - 1);
        ++round_;
        round_.notify_all();
    }
    work(0);
    await(busy_, [](std::uint32_t busy) { return busy == 0; });
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

}  // namespace bigbird::tokenizer
