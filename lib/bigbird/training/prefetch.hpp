// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace bigbird::training {

/// Makes items before they are needed, in order, on a separate thread. Call get() from one thread.
template <typename Item>
class Prefetcher {
public:
    /// `make` runs on the other thread. At most `depth` items wait.
    explicit Prefetcher(std::function<Item(std::int64_t)> make, std::size_t depth = 2)
        : make_(std::move(make)), depth_(depth) {}
    ~Prefetcher() { stop(); }
    Prefetcher(const Prefetcher&) = delete;
    Prefetcher& operator=(const Prefetcher&) = delete;

    /// Returns item `index`; fast if it follows the previously requested one. Throws what make() threw.
    Item get(std::int64_t index) {
        if (!worker_.joinable() || index != next_wanted_) {
            stop();
            start(index);
        }
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !ready_.empty() || failure_; });
        if (ready_.empty()) std::rethrow_exception(failure_);
        Item item = std::move(ready_.front());
        ready_.pop_front();
        next_wanted_ = index + 1;
        changed_.notify_all();
        return item;
    }

private:
    void start(std::int64_t index) {
        stopping_ = false;
        failure_ = nullptr;
        next_wanted_ = index;
        worker_ = std::jthread([this, index] { work(index); });
    }

    void stop() {
        {
            const std::scoped_lock lock(mutex_);
            stopping_ = true;
            ready_.clear();
        }
        changed_.notify_all();
        if (worker_.joinable()) worker_.join();
        ready_.clear();
    }

    void work(std::int64_t index) {
        for (;; ++index) {
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [&] { return stopping_ || ready_.size() < depth_; });
                if (stopping_) return;
            }
            try {
                Item item = make_(index);
                const std::scoped_lock lock(mutex_);
                ready_.push_back(std::move(item));
            } catch (...) {
                const std::scoped_lock lock(mutex_);
                failure_ = std::current_exception();
                stopping_ = true;
            }
            changed_.notify_all();
        }
    }

    std::function<Item(std::int64_t)> make_;
    std::size_t depth_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> ready_;
    std::exception_ptr failure_;
    bool stopping_ = false;
    std::int64_t next_wanted_ = -1;
    std::jthread worker_;
};

}  // namespace bigbird::training
