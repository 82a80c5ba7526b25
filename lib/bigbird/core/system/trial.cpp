// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/trial.hpp"

#include <sys/resource.h>

#include <bit>

namespace bigbird {

std::vector<std::size_t> spread_order(std::size_t count) {
    std::vector<std::size_t> order;
    if (count > 0) order.push_back(0);
    for (std::size_t step = std::bit_ceil(count) / 2; step > 0; step /= 2)
        for (std::size_t i = step; i < count; i += 2 * step)
            order.push_back(i);
    return order;
}

std::int64_t most_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

}  // namespace bigbird
