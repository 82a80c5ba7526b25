// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace bigbird::evaluation {

/// A picture of tracks over a region, for pages. Not thread-safe.
class RegionPicture {
public:
    /// `where` must outlive this.
    explicit RegionPicture(const genome::Interval& where) : where_(where) {}

    /// Adds values by bin of `bin` bases, from the region's start on, above `peaks`; NaN draws nothing. The
    /// scale goes from 0 to `most`, or with 0 to the largest value.
    void track(const std::string& name, std::span<const float> values, std::int64_t bin,
               std::span<const genome::Span> peaks = {}, const std::string& colour = "#d1495b",
               double most = 0);
    std::string html(const std::string& caption);

private:
    double at(std::int64_t position) const;

    const genome::Interval& where_;
    std::string body_;
    int tracks_ = 0;
};

}  // namespace bigbird::evaluation
