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
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace bigbird {

/// `requested`, or the processors available to this process (respecting affinity) where it is 0.
int resolve_threads(int requested);

/// Starts `count` threads at once and ends them. Throws std::system_error if the system cannot: libraries
/// would wait forever for missing threads.
void require_threads(int count);

/// Calls body(i) for each i in [0, count) on up to `threads` threads, or fewer if the system cannot create
/// them. Returns when all calls are done. Rethrows the first exception.
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body);

/// Turns inputs into items on up to `threads` threads. Passes the items to consume(item) on the calling
/// thread, in the order of the inputs. produce() returns the next input, or nullopt at the end. It is called
/// by one thread at a time, in order, and not again after it threw. At most a few items per thread exist at
/// once, so memory is bounded. Rethrows the first exception of any of the three functions. Throws
/// std::system_error if no thread can be created.
template <typename Input, typename Item>
void ordered_stream(int threads, const std::function<std::optional<Input>()>& produce,
                    const std::function<Item(Input&&)>& make, const std::function<void(Item&&)>& consume) {
    if (threads <= 1) {
        while (std::optional<Input> input = produce())
            consume(make(std::move(*input)));
        return;
    }
    std::mutex source;  // held while an input is awaited and produced
    std::mutex mutex;   // guards what follows
    std::condition_variable changed;
    std::map<std::int64_t, Item> ready;
    std::int64_t made = 0, consumed = 0;
    const std::int64_t window = std::int64_t{4} * threads;
    bool exhausted = false;
    std::exception_ptr failure;
    const auto fail = [&] {
        const std::scoped_lock lock(mutex);
        failure = failure ? failure : std::current_exception();
        changed.notify_all();
    };
    // The number of the input taken, or nothing if there is no more to do.
    const auto take = [&](std::optional<Input>& input) -> std::optional<std::int64_t> {
        const std::scoped_lock one_at_a_time(source);
        {
            std::unique_lock lock(mutex);
            changed.wait(
                lock, [&] { return failure || exhausted || made < consumed + window; });
            if (failure || exhausted) return std::nullopt;
        }
        try {
            input = produce();
        } catch (...) {  // recorded before another thread may produce
            fail();
            return std::nullopt;
        }
        const std::scoped_lock lock(mutex);
        exhausted = !input;
        changed.notify_all();
        return input ? std::optional(made++) : std::nullopt;
    };
    const auto work = [&] {
        try {
            std::optional<Input> input;
            while (const std::optional<std::int64_t> index = take(input)) {
                Item item = make(std::move(*input));
                const std::scoped_lock lock(mutex);
                ready.emplace(*index, std::move(item));
                changed.notify_all();
            }
        } catch (...) {
            fail();
        }
    };
    {
        std::vector<std::jthread> workers;
        workers.reserve(static_cast<std::size_t>(threads));
        try {
            for (int i = 0; i < threads; ++i)
                workers.emplace_back(work);
        } catch (const std::system_error&) {  // go on with the threads that there are
            if (workers.empty()) fail();
        }
        try {
            while (true) {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] {
                    return failure || ready.contains(consumed) || (exhausted && consumed == made);
                });
                if (failure || !ready.contains(consumed)) break;
                auto node = ready.extract(consumed);
                lock.unlock();
                consume(std::move(node.mapped()));
                lock.lock();
                ++consumed;
                changed.notify_all();
            }
        } catch (...) {
            fail();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

/// Computes items 0 .. count - 1 by make(i), like ordered_stream().
template <typename Item>
void ordered_pipeline(std::int64_t count, int threads, const std::function<Item(std::int64_t)>& make,
                      const std::function<void(Item&&)>& consume) {
    std::int64_t next = 0;
    const std::function produce = [&]() -> std::optional<std::int64_t> {
        return next < count ? std::optional(next++) : std::nullopt;
    };
    const std::function make_of = [&](std::int64_t&& i) { return make(i); };
    ordered_stream<std::int64_t, Item>(count <= 1 ? 1 : threads, produce, make_of, consume);
}

}  // namespace bigbird
