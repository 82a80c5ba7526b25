// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/bootstrap.hpp"

#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bigbird::baselines {

Share sum_of(std::span<const Share> shares) {
    Share sum;
    for (const Share& share : shares) {
        sum.part += share.part;
        sum.of += share.of;
    }
    return sum;
}

std::pair<double, double> bootstrap_interval(std::span<const Share> shares, std::uint64_t seed,
                                             int resamples) {
    if (shares.empty()) {
        return {0, 0};
    }
    const Rng rng = Rng(seed).split("bootstrap");
    std::vector<double> values;
    for (int resample = 0; resample < resamples; ++resample) {
        Rng draw = rng.split(static_cast<std::uint64_t>(resample));
        Share sum;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            const Share& pick = shares[static_cast<std::size_t>(
                draw.between(0, static_cast<std::int64_t>(shares.size()) - 1))];
            sum.part += pick.part;
            sum.of += pick.of;
        }
        values.push_back(sum.value());
    }
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(std::llround(share * static_cast<double>(values.size() - 1)))];
    };
    return {at(0.025), at(0.975)};
}

}  // namespace bigbird::baselines
