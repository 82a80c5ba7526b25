// SPDX-License-Identifier: Apache-2.0
// The configuration of a bin model: convolutions over bases, learned pooling to positions, BigBird's encoder
// over the positions, and a head for each bin of a window. The positions of its windows on a contig, and the
// bins that an interval covers, are functions only of coordinates, so that a score never depends on what else
// is scored.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/files/config.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::bins {

/// Window k scores the core_bins() bins from k * core_bins() on, and reads margin_bins more on each side.
struct Grid {
    std::int64_t bin = 200;         ///< bases
    std::int64_t window_bins = 64;  ///< bins that go through a network at once
    std::int64_t margin_bins = 8;   ///< at each end of a window: context that gets no scores

    std::int64_t core_bins() const { return window_bins - 2 * margin_bins; }
    std::int64_t window_bases() const { return window_bins * bin; }
    std::int64_t window_of(std::int64_t bin_number) const { return bin_number / core_bins(); }
    /// The first base that a window sees; may be negative.
    std::int64_t begin_of(std::int64_t window) const { return (window * core_bins() - margin_bins) * bin; }
    /// Index of a bin in its window, from 0 at the window's first bin.
    std::int64_t place_of(std::int64_t bin_number) const { return bin_number % core_bins() + margin_bins; }
    /// Throws ConfigError naming what does not fit.
    void validate() const;
    bool operator==(const Grid&) const = default;
};

Json to_json(const Grid& grid);
/// Throws InputError naming `where`.
Grid grid_from_json(const Json& json, const std::filesystem::path& where);

/// A bin and the share of an interval's bases in it.
struct BinShare {
    std::int64_t bin = 0;
    double weight = 0;
    bool operator==(const BinShare&) const = default;
};

/// The bins that [begin, end) overlaps, ascending; weights sum to 1. An empty interval takes the bin of base
/// `begin`. Needs 0 <= begin <= end.
std::vector<BinShare> shares_of(std::int64_t begin, std::int64_t end, std::int64_t bin);

/// One stage of the stem: a convolution, then pooling of every `pool` positions.
struct Stage {
    std::int64_t channels = 128, width = 5, pool = 1;
    bool operator==(const Stage&) const = default;
};

/// Channels of a profile head, and the bases that one of its filters reads (BPNet's width).
inline constexpr std::int64_t profile_channels = 64, profile_width = 25;

/// What mixes positions: BigBird's attention or, as a baseline, convolutions of width 3 with dilation 2^layer
/// (Basenji's, Kelley and others 2018).
enum class Mixing : std::uint8_t { attention, convolution };

/// Bins shorter than a position have a profile head (network.hpp).
struct BinsConfig : Grid {
    std::vector<Stage> stages{{128, 21, 4}, {128, 5, 5}, {128, 5, 10}};
    /// Each filter of the first stage also reads the other strand, so a motif is learned once and found on
    /// either.
    bool both_strands = false;
    /// Number of first-stage filters, from the first on, that also reach the head: motifs.hpp.
    std::int64_t motif_filters = 0;
    Mixing mixing = Mixing::attention;
    model::Norm norm = model::Norm::pre;
    model::Positions positions = model::Positions::rotary;  ///< or none
    model::FeedForward feed_forward = model::FeedForward::plain;
    double head_dropout = 0.2;
    /// hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, hidden_act,
    /// hidden_dropout_prob, layer_norm_eps and pattern are used; the rest has no meaning here.
    model::BigBirdConfig encoder{};

    const Grid& grid() const { return *this; }
    std::int64_t position_bases() const;  ///< the product of the pools
    std::int64_t window_positions() const { return window_bases() / position_bases(); }
    bool has_profile() const { return bin < position_bases(); }
    std::int64_t positions_per_bin() const { return has_profile() ? 1 : bin / position_bases(); }
    /// Size of a bin's features, without motif_filters.
    std::int64_t feature_size() const { return has_profile() ? profile_channels : encoder.hidden_size; }
    /// Throws ConfigError naming what does not fit.
    void validate() const;
};

/// tiny (0.6 M parameters, 64 positions of 200 bp), small (4.7 M, 256 of 100 bp), base (91 M, 4,096 of 100
/// bp), large (313 M, likewise). dilated: tiny with four layers of convolutions instead of attention (0.9 M).
/// Throws ConfigError listing the names.
BinsConfig preset(const std::string& name);

/// Returns the network for bins of `bin` bases. If `bin` is not a multiple of the position's length, the
/// position shrinks to the largest divisor of `bin`. The pools then change as little as possible, and the
/// windows' length in bases stays about the same. Bins of at most 8 bases get a profile head, positions of
/// about 24 bases and no motif_filters.
BinsConfig fitted_to(BinsConfig config, std::int64_t bin);

Json to_json(const BinsConfig& config);
BinsConfig config_from_json(const Json& json, const std::filesystem::path& where);

}  // namespace bigbird::bins
