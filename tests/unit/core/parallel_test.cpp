// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parallel.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <atomic>
#include <numeric>
#include <optional>
#include <string>

using namespace bigbird;

DOCTEST_TEST_CASE("parallel: every index is visited once, on any number of threads") {
    for (const int threads : {1, 2, 7}) {
        std::vector<std::atomic<int>> visits(1000);
        parallel_for(1000, threads, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
        DOCTEST_CHECK(
            std::all_of(visits.begin(), visits.end(), [](const auto& count) { return count == 1; }));
    }
}

DOCTEST_TEST_CASE("parallel: a pipeline keeps the order and passes errors on") {
    for (const int threads : {1, 2, 5}) {
        std::vector<std::string> seen;
        ordered_pipeline<std::string>(
            200, threads, [](std::int64_t i) { return std::to_string(i); },
            [&](std::string&& item) { seen.push_back(std::move(item)); });
        DOCTEST_REQUIRE(seen.size() == 200);
        DOCTEST_CHECK(seen[137] == "137");
        DOCTEST_CHECK(seen[199] == "199");
        const auto failing = [&] {
            ordered_pipeline<int>(
                100, threads,
                [](std::int64_t i) { return i == 50 ? throw InputError("fifty") : static_cast<int>(i); },
                [](int&&) {});
        };
        DOCTEST_CHECK_THROWS_AS(failing(), InputError);
        const auto refusing = [&] {
            ordered_pipeline<int>(
                100, threads, [](std::int64_t i) { return static_cast<int>(i); },
                [](int&& i) {
                    if (i == 50) throw InputError("fifty");
                });
        };
        DOCTEST_CHECK_THROWS_AS(refusing(), InputError);
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
            for (std::size_t i = 0; i < seen.size(); ++i) {
                DOCTEST_CHECK(seen[i] == 2 * static_cast<int>(i));
            }
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
        for (const int where : {0, 1, 2}) {
            DOCTEST_CHECK_THROWS_AS(failing_at(where), InputError);
        }
    }
}
