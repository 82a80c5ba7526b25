// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/grid.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <string>

namespace bigbird::bins {

namespace {

constexpr std::int64_t largest = std::int64_t{1} << 24;  // keeps products of two sizes far from overflow

void require_size(std::int64_t value, std::int64_t least, const std::string& what) {
    if (value >= least && value <= largest) return;
    throw ConfigError("model of bins: " + what + " must be between " + std::to_string(least) +
                      " and 2^24, not " + std::to_string(value));
}

}  // namespace

void Grid::validate() const {
    require_size(bin, 1, "bin");
    require_size(window_bins, 1, "window_bins");
    require_size(margin_bins, 0, "margin_bins");
    if (core_bins() <= 0) {
        throw ConfigError("model of bins: margins of " + std::to_string(margin_bins) +
                          " bins leave nothing of a window of " + std::to_string(window_bins));
    }
}

Json to_json(const Grid& grid) {
    return {{"bin", grid.bin}, {"window_bins", grid.window_bins}, {"margin_bins", grid.margin_bins}};
}

Grid grid_from_json(const Json& json, const std::filesystem::path& where) {
    try {
        const Grid grid{.bin = whole_number(json, "bin"),
                        .window_bins = whole_number(json, "window_bins"),
                        .margin_bins = whole_number(json, "margin_bins")};
        grid.validate();
        return grid;
    } catch (const Json::exception& error) {
        throw InputError("the description of a model of bins is damaged: " + std::string(error.what()),
                         where);
    } catch (const ConfigError& error) {
        throw InputError(error.what(), where);
    }
}

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
