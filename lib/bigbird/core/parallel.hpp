// SPDX-License-Identifier: Apache-2.0
// Threads for work that must give the same result however many there are.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace bigbird {

/// `requested`, or the processors available to this process (respecting affinity) where it is 0.
int resolve_threads(int requested);

/// Calls body(i) for each i in [0, count) on up to `threads` threads; returns when all are done. The first
/// exception is thrown on.
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body);

/// Makes items 0..count-1 by make(i) on up to `threads` threads and hands them to consume(item) in order, on
/// the calling thread. At most a few items a thread are held, so memory is bounded. The first exception of
/// either is thrown on.
template <typename Item>
void ordered_pipeline(std::int64_t count, int threads, const std::function<Item(std::int64_t)>& make,
                      const std::function<void(Item&&)>& consume) {
    if (threads <= 1 || count <= 1) {
        for (std::int64_t i = 0; i < count; ++i) {
            consume(make(i));
        }
        return;
    }
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::int64_t, Item> ready;
    std::int64_t next_to_make = 0, next_to_consume = 0;
    const std::int64_t window = std::int64_t{4} * threads;
    std::exception_ptr failure;
    auto work = [&] {
        std::unique_lock lock(mutex);
        while (true) {
            changed.wait(lock, [&] {
                return failure || next_to_make >= count || next_to_make < next_to_consume + window;
            });
            if (failure || next_to_make >= count) {
                return;
            }
            const std::int64_t index = next_to_make++;
            lock.unlock();
            try {
                Item item = make(index);
                lock.lock();
                ready.emplace(index, std::move(item));
            } catch (...) {
                if (!lock.owns_lock()) {
                    lock.lock();
                }
                failure = failure ? failure : std::current_exception();
            }
            changed.notify_all();
        }
    };
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) {
        workers.emplace_back(work);
    }
    std::unique_lock lock(mutex);
    while (next_to_consume < count && !failure) {
        changed.wait(lock, [&] { return failure || ready.contains(next_to_consume); });
        if (failure) {
            break;
        }
        auto node = ready.extract(next_to_consume);
        lock.unlock();
        try {
            consume(std::move(node.mapped()));
            lock.lock();
        } catch (...) {
            lock.lock();
            failure = failure ? failure : std::current_exception();
        }
        ++next_to_consume;
        changed.notify_all();
    }
    lock.unlock();
    workers.clear();
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace bigbird
