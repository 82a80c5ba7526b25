// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
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

    /// Returns item `index`; fast if it follows the previously requested one. Throws what make() threw.
    Item get(std::int64_t index) {
        if (!worker_.joinable() || index != next_wanted_) start(index);
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
        worker_ = {};  // ends the one before
        ready_.clear();
        failure_ = nullptr;
        next_wanted_ = index;
        worker_ = std::jthread([this, index](const std::stop_token& stop) { work(stop, index); });
    }

    void work(const std::stop_token& stop, std::int64_t index) {
        for (; !stop.stop_requested(); ++index) {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [&] { return ready_.size() < depth_; })) return;
            lock.unlock();
            std::optional<Item> item;
            std::exception_ptr failure;
            try {
                item.emplace(make_(index));
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            if (item) ready_.push_back(std::move(*item));
            failure_ = failure;
            changed_.notify_all();
            if (failure) return;
        }
    }

    std::function<Item(std::int64_t)> make_;
    std::size_t depth_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Item> ready_;
    std::exception_ptr failure_;
    std::int64_t next_wanted_ = -1;
    std::jthread worker_;  // last: it ends before what it uses
};

}  // namespace bigbird::training
