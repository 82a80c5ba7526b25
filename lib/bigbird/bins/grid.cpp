// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/grid.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>

namespace bigbird::bins {

std::vector<BinShare> shares_of(std::int64_t begin, std::int64_t end, std::int64_t bin) {
    BIGBIRD_EXPECTS(0 <= begin && begin <= end, "an interval on a contig");
    if (begin == end) return {{begin / bin, 1}};
    std::vector<BinShare> shares;
    for (std::int64_t i = begin / bin; i * bin < end; ++i) {
        const std::int64_t bases = std::min(end, (i + 1) * bin) - std::max(begin, i * bin);
        shares.push_back({i, static_cast<double>(bases) / static_cast<double>(end - begin)});
    }
    return shares;
}

}  // namespace bigbird::bins
