// SPDX-License-Identifier: Apache-2.0
// The configuration of a network that reads records: convolutions over bases, BigBird's encoder over
// positions, pooling over the record.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>

namespace bigbird::sequences {

struct Config {
    std::int64_t filters = 128, width = 15;  ///< of the first convolution; each filter's best site is a
                                             ///< feature of the record
    std::int64_t pool = 4;                   ///< bases of a position
    std::int64_t convolutions = 2;           ///< after the first, of width 5
    std::int64_t hidden = 96;
    std::int64_t layers = 1, heads = 4;  ///< of the encoder
    std::int64_t dense = 128;            ///< features of the layer before the last
    double dropout = 0.2, head_dropout = 0.5;
    /// Filters read both strands.
    bool both_strands = true;
    /// Number of positions around the record's middle with a learned vector each. Use 0 for records that are
    /// not aligned.
    std::int64_t places = 0;
    /// Bases of the longest record; only the middle of longer ones is read.
    std::int64_t longest = 32768;

    /// Bases that a record of `length` is padded to, at the end: full positions, and full blocks where
    /// attention is sparse. Adds up to a sixteenth of the length, so that records of similar length can share
    /// a batch.
    std::int64_t padded(std::int64_t length) const;
    /// Whether records of `positions` positions attend fully.
    bool attends_fully(std::int64_t positions) const;
    /// The stem and the encoder as a bin model's configuration, without a grid.
    bins::BinsConfig body() const;
    /// Throws ConfigError naming what does not fit.
    void validate() const;
};

Json to_json(const Config& config);
/// Throws InputError naming `where`.
Config config_from_json(const Json& json, const std::filesystem::path& where);

}  // namespace bigbird::sequences
