// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <latch>

namespace bigbird {

int resolve_threads(int requested) {
    if (requested > 0) return requested;
    cpu_set_t available;
    CPU_ZERO(&available);
    if (::sched_getaffinity(0, sizeof available, &available) == 0 && CPU_COUNT(&available) > 0)
        return CPU_COUNT(&available);
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void require_threads(int count) {
    std::latch all_there(1);
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(count));
    try {
        for (int i = 1; i < count; ++i)
            threads.emplace_back([&] { all_there.wait(); });
    } catch (...) {
        all_there.count_down();
        throw;
    }
    all_there.count_down();
}

void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body) {
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    std::mutex mutex;
    auto work = [&] {
        for (std::int64_t i = next++; i < count && !failed; i = next++) {
            try {
                body(i);
            } catch (...) {
                const std::scoped_lock lock(mutex);
                failure = failure ? failure : std::current_exception();
                failed = true;
            }
        }
    };
    {
        std::vector<std::jthread> workers;
        const std::int64_t helpers = std::min<std::int64_t>(threads, count) - 1;
        workers.reserve(static_cast<std::size_t>(std::max<std::int64_t>(helpers, 0)));
        try {
            for (std::int64_t i = 0; i < helpers; ++i)
                workers.emplace_back(work);
        } catch (const std::system_error&) {  // go on with the threads that there are
        }
        work();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace bigbird
