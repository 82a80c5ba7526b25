// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parallel.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/child_process.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

using namespace bigbird;

DOCTEST_TEST_CASE("parallel: every index is visited once, on any number of threads") {
    for (const int threads : {1, 2, 7}) {
        std::vector<std::atomic<int>> visits(1000);
        parallel_for(
            1000, threads, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
        DOCTEST_CHECK(
            std::all_of(visits.begin(), visits.end(), [](const auto& count) { return count == 1; }));
    }
}

DOCTEST_TEST_CASE("parallel: a pipeline keeps the order, and copies no item") {
    for (const int threads : {1, 2, 5}) {
        std::vector<std::int64_t> seen;
        ordered_pipeline<std::unique_ptr<std::int64_t>>(
            200, threads, [](std::int64_t i) { return std::make_unique<std::int64_t>(i); },
            [&](std::unique_ptr<std::int64_t>&& item) { seen.push_back(*item); });
        DOCTEST_REQUIRE(seen.size() == 200);
        DOCTEST_CHECK(std::ranges::is_sorted(seen));
        DOCTEST_CHECK(seen[199] == 199);
    }
    DOCTEST_CHECK(resolve_threads(3) == 3);
    DOCTEST_CHECK(resolve_threads(0) >= 1);
}

DOCTEST_TEST_CASE("parallel: a stream of unknown length keeps the order and passes errors on") {
    for (const int threads : {1, 2, 5}) {
        for (const int count : {0, 1, 3, 500}) {
            int next = 0;
            std::vector<int> seen;
            ordered_stream<int, int>(
                threads, [&] { return next < count ? std::optional(next++) : std::nullopt; },
                [](int&& i) { return 2 * i; }, [&](int&& item) { seen.push_back(item); });
            DOCTEST_REQUIRE(seen.size() == static_cast<std::size_t>(count));
            for (std::size_t i = 0; i < seen.size(); ++i)
                DOCTEST_CHECK(seen[i] == 2 * static_cast<int>(i));
        }
        const auto failing_at = [&](int where) {
            int next = 0;
            const auto maybe_fail = [&](int here, int i) {
                if (here == where && i == 50) throw InputError("fifty");
                return i;
            };
            ordered_stream<int, int>(
                threads, [&] { return std::optional(maybe_fail(0, next++)); },
                [&](int&& i) { return maybe_fail(1, i); }, [&](int&& i) { maybe_fail(2, i); });
        };
        for (const int where : {0, 1, 2})
            DOCTEST_CHECK_THROWS_AS(failing_at(where), InputError);
    }
}

DOCTEST_TEST_CASE("parallel: no work, less work than threads, and work on one thread alone") {
    for (const std::int64_t count : {0, -3})
        parallel_for(count, 4, [](std::int64_t) { DOCTEST_FAIL("there is nothing to do"); });
    std::atomic<int> visits{0};
    parallel_for(2, 50, [&](std::int64_t i) { visits += i == 0 ? 1 : 100; });
    DOCTEST_CHECK(visits == 101);
    std::vector<std::int64_t> order;
    parallel_for(5, 1, [&](std::int64_t i) { order.push_back(i); });  // no lock is needed
    DOCTEST_CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

DOCTEST_TEST_CASE("parallel: as many threads as asked for are at work at once, no more") {
    constexpr int threads = 3;
    std::atomic<int> inside{0}, most{0};
    parallel_for(threads, threads, [&](std::int64_t) {
        ++inside;
        // Waits for the others, which only come if they do not wait for this one.
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (inside < threads && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
    });
    DOCTEST_CHECK(inside == threads);
    inside = 0;
    parallel_for(12, threads, [&](std::int64_t) {
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        --inside;
    });
    DOCTEST_CHECK(most <= threads);
}

DOCTEST_TEST_CASE("parallel: after a failure no new work begins, and one exception comes out") {
    for (const int threads : {1, 4}) {
        std::atomic<int> begun{0};
        const auto failing = [&] {
            parallel_for(100'000, threads, [&](std::int64_t i) {
                ++begun;
                if (i >= 10) throw InputError("from the eleventh on");
            });
        };
        DOCTEST_CHECK(testing::message_of<InputError>(failing) == "from the eleventh on");
        DOCTEST_CHECK(begun >= 11);
        DOCTEST_CHECK(begun < 11 + 1000);
    }
}

DOCTEST_TEST_CASE("parallel: what gives the inputs is not asked again once it threw") {
    const std::function<int(int&&)> make = [](int&& input) { return input; };
    for (int round = 0; round < 500; ++round) {  // a reader asked again crashed in one run of three
        std::atomic<int> calls = 0;
        const std::function<std::optional<int>()> produce = [&]() -> std::optional<int> {
            ++calls;
            throw InputError("no more");
        };
        DOCTEST_CHECK_THROWS_AS((ordered_stream<int, int>(4, produce, make, [](int&&) {})), InputError);
        DOCTEST_REQUIRE(calls == 1);
    }
}

DOCTEST_TEST_CASE("parallel: a stream holds some items a thread, however slowly they are taken") {
    constexpr int threads = 3;
    std::atomic<int> consumed{0};
    int next = 0, furthest = 0;
    std::vector<int> seen;
    const std::thread::id caller = std::this_thread::get_id();
    bool on_caller = true;
    std::atomic<int> producing{0};
    ordered_stream<int, int>(
        threads,
        [&]() -> std::optional<int> {
            DOCTEST_REQUIRE(++producing == 1);  // one thread at a time, so next needs no lock
            furthest = std::max(furthest, next - consumed);
            const auto input = next < 300 ? std::optional(next++) : std::nullopt;
            --producing;
            return input;
        },
        [](int&& i) {
            if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return i;
        },
        [&](int&& item) {
            on_caller = on_caller && std::this_thread::get_id() == caller;
            seen.push_back(item);
            ++consumed;
        });
    DOCTEST_CHECK(on_caller);
    DOCTEST_CHECK(furthest <= 4 * threads + 1);
    DOCTEST_CHECK(seen.size() == 300);
    DOCTEST_CHECK(std::is_sorted(seen.begin(), seen.end()));
}

DOCTEST_TEST_CASE("parallel: the processors that this process may use, not those of the machine") {
    const ChildResult child = run_child(
        [] {
            cpu_set_t here, one;
            if (::sched_getaffinity(0, sizeof here, &here) != 0) return 1;
            CPU_ZERO(&one);
            for (std::size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
                if (CPU_ISSET(i, &here)) CPU_SET(i, &one);
            const int all = resolve_threads(0);
            if (all != CPU_COUNT(&here) || ::sched_setaffinity(0, sizeof one, &one) != 0) return 2;
            return resolve_threads(0) == 1 && resolve_threads(5) == 5 ? 0 : 3;
        },
        std::chrono::seconds(60));
    DOCTEST_CHECK(child.code == 0);
}

DOCTEST_TEST_CASE(
    "parallel: where the system gives no threads, those that are there do the work, or it is told") {
    if (::geteuid() != 0) return;  // the limit is of a user's threads, and root has none
    const auto with_threads = [](rlim_t threads, const std::function<int()>& body) {
        return run_child(
            [=] {
                const uid_t nobody_else =
                    60'000 + static_cast<uid_t>(::getpid() % 5'000);  // a user with nothing else
                if (::setuid(nobody_else) != 0) return 99;
                const rlimit limit{threads, threads};
                ::setrlimit(RLIMIT_NPROC, &limit);
                return body();
            },
            std::chrono::seconds(60));
    };
    const auto each = [] {
        std::atomic<int> sum = 0;
        parallel_for(
            10, 4, [&](std::int64_t i) { sum += static_cast<int>(i); });
        return sum == 45 ? 7 : 8;
    };
    const auto stream = [] {
        int next = 0, sum = 0;
        const std::function<std::optional<int>()> produce = [&] {
            return next < 10 ? std::optional(next++) : std::nullopt;
        };
        const std::function<int(int&&)> make = [](int&& i) { return i; };
        try {
            ordered_stream<int, int>(4, produce, make, [&](int&& i) { sum += i; });
        } catch (const std::system_error&) {
            return 9;
        }
        return sum == 45 ? 7 : 8;
    };
    DOCTEST_CHECK(with_threads(1, each).code == 7);
    DOCTEST_CHECK(with_threads(3, each).code == 7);
    DOCTEST_CHECK(with_threads(1, stream).code == 9);
    DOCTEST_CHECK(with_threads(2, stream).code == 7);
    DOCTEST_CHECK(with_threads(
                      8, [] { return require_threads(4), 7; })
                      .code == 7);
    DOCTEST_CHECK(with_threads(2, [] {
                      try {
                          require_threads(4);
                      } catch (const std::system_error&) {
                          return 9;
                      }
                      return 7;
                  }).code == 9);
}
