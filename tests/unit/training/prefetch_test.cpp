// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/prefetch.hpp"

#include "support/testing.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>

using bigbird::training::Prefetcher;

DOCTEST_TEST_CASE("prefetch: items come in order, wherever one starts") {
    Prefetcher<std::unique_ptr<std::int64_t>> items(
        [](std::int64_t i) { return std::make_unique<std::int64_t>(i * i); });
    for (const std::int64_t first : {1, 100, 7})
        for (std::int64_t i = first; i < first + 20; ++i)
            DOCTEST_CHECK(*items.get(i) == i * i);
}

DOCTEST_TEST_CASE("prefetch: no more than the depth is made ahead") {
    std::atomic<std::int64_t> highest{0};
    Prefetcher<int> items(
        [&](std::int64_t i) {
            highest = i;
            return 0;
        },
        3);
    items.get(0);
    items.get(1);
    DOCTEST_CHECK(highest.load() <= 1 + 3 + 1);
}

DOCTEST_TEST_CASE("prefetch: a failure is thrown when its item is asked for, not before") {
    Prefetcher<int> items([](std::int64_t i) {
        if (i == 3) throw std::runtime_error("three");
        return static_cast<int>(i);
    });
    for (int i = 0; i < 3; ++i)
        DOCTEST_CHECK(items.get(i) == i);
    DOCTEST_CHECK_THROWS_WITH(items.get(3), "three");
    DOCTEST_CHECK(items.get(4) == 4);
}
