// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/rank_device.hpp"

#include "support/testing.hpp"

#include "bigbird/model/device/device.hpp"

using namespace bigbird;
using namespace bigbird::training;

DOCTEST_TEST_CASE("rank_device: with several ranks each takes a GPU of its machine") {
    RankSpec third;
    third.size = 8;
    third.local_rank = 2;
    third.local_size = 4;
    DOCTEST_CHECK(device_of(third, "cuda") == "cuda:2");
    DOCTEST_CHECK(device_of(third, "cuda:0") == "cuda:0");
    DOCTEST_CHECK(device_of(third, "cpu") == "cpu");
    DOCTEST_CHECK(device_of(third, "auto") == (model::has_gpu() ? "cuda:2" : "auto"));
}

DOCTEST_TEST_CASE("rank_device: one process alone takes what it is told") {
    for (const char* device : {"auto", "cuda", "cuda:1", "cpu"})
        DOCTEST_CHECK(device_of({}, device) == device);
}
