// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bigbird::tokenizer {

/// Persistent threads for work in tens of thousands of short rounds. Between rounds they first wait actively
/// for a while, then sleep. The calling thread is member 0, and then runs the members that no other thread
/// has started: on a busy machine, a round does not wait for threads that get no processor.
class ThreadTeam {
public:
    explicit ThreadTeam(std::size_t members);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    /// Calls job(member) for each member, concurrently if there are processors; returns when all are done.
    /// Rethrows the first exception.
    void run(const std::function<void(std::size_t)>& job);
    /// The same, but only on the calling thread: for work that ends before the others would begin.
    void run_alone(const std::function<void(std::size_t)>& job) {
        for (std::size_t member = 0; member < members_; ++member)
            job(member);
    }
    std::size_t size() const { return members_; }

private:
    void work(std::size_t member);
    void work_on_rest();

    std::size_t members_;
    std::atomic<std::uint32_t> round_ = 0;  ///< incremented for each new job
    /// The round and, in the lower half, the next member to start. So a late thread takes no member of a
    /// finished round.
    std::atomic<std::uint64_t> next_ = ~std::uint64_t{0};
    std::atomic<std::uint32_t> busy_ = 0;  ///< members, except the first, that are not done with the round
    std::atomic<bool> leaving_ = false;
    const std::function<void(std::size_t)>* job_ =
        nullptr;  ///< for the thread that takes a member of the round
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    std::vector<std::jthread> threads_;
};

}  // namespace bigbird::tokenizer
