// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/shard_team.hpp"

#include <utility>

namespace bigbird::tokenizer {

ShardTeam::ShardTeam(std::size_t members) : members_(members) {
    if (members_ < 2) {
        return;
    }
    start_ = std::make_unique<std::barrier<>>(static_cast<std::ptrdiff_t>(members_));
    finish_ = std::make_unique<std::barrier<>>(static_cast<std::ptrdiff_t>(members_));
    for (std::size_t member = 1; member < members_; ++member) {
        threads_.emplace_back([this, member] {
            for (start_->arrive_and_wait(); job_ != nullptr; start_->arrive_and_wait()) {
                work(member);
                finish_->arrive_and_wait();
            }
        });
    }
}

ShardTeam::~ShardTeam() {
    if (members_ >= 2) {
        job_ = nullptr;
        start_->arrive_and_wait();
    }
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
    if (members_ >= 2) {
        start_->arrive_and_wait();
    }
    work(0);
    if (members_ >= 2) {
        finish_->arrive_and_wait();
    }
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

}  // namespace bigbird::tokenizer
