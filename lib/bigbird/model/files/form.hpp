// SPDX-License-Identifier: Apache-2.0
// The architectural variants ("forms") of an encoder.
#pragma once

#include "bigbird/core/choice.hpp"

#include <cstdint>

namespace bigbird::model {

/// LayerNorm before each block, and once after the last layer; or after each block, as in BERT.
enum class Norm : std::uint8_t { pre, post };
inline constexpr Choices<Norm, 2> norm_choices{{{Norm::pre, "pre"}, {Norm::post, "post"}}};

/// How attention knows positions. absolute: vectors added to the embeddings, as in BERT. rotary: queries and
/// keys rotated by angles (layers.hpp). none: not at all.
enum class Positions : std::uint8_t { absolute, rotary, none };
inline constexpr Choices<Positions, 3> position_choices{
    {{Positions::absolute, "absolute"}, {Positions::rotary, "rotary"}, {Positions::none, "none"}}};

/// How rotary positions are scaled for contexts longer than in training. none: not at all. linear: each
/// position is divided by the factor (Chen and others 2023). ntk ("NTK-aware"): the base of the angles is
/// multiplied by factor ^ (d / (d - 2)), d features per head, so that the slowest angle equals `linear`'s and
/// the fastest stays.
enum class RopeScaling : std::uint8_t { none, linear, ntk };
inline constexpr Choices<RopeScaling, 3> rope_scaling_choices{
    {{RopeScaling::none, "default"}, {RopeScaling::linear, "linear"}, {RopeScaling::ntk, "ntk"}}};

/// The angles of rotary positions: rope_theta and rope_scaling of config.json.
struct RotaryForm {
    double theta = 10'000;
    RopeScaling scaling = RopeScaling::none;
    double factor = 1;
    bool operator==(const RotaryForm&) const = default;
};

/// plain: act(W x), as in BERT. gated: act(W x) * V x.
enum class FeedForward : std::uint8_t { plain, gated };
inline constexpr Choices<FeedForward, 2> feed_forward_choices{
    {{FeedForward::plain, "plain"}, {FeedForward::gated, "gated"}}};

/// Initial weights of matrices: normal with the standard deviation initializer_range, as in BERT, or 1 /
/// sqrt(inputs).
enum class Initialization : std::uint8_t { normal, fan_in };
inline constexpr Choices<Initialization, 2> initialization_choices{
    {{Initialization::normal, "normal"}, {Initialization::fan_in, "fan_in"}}};

/// An encoder's form; by default BERT's, which is also that of transformers' big_bird.
struct EncoderForm {
    Norm norm = Norm::post;
    Positions positions = Positions::absolute;
    RotaryForm rotary = {};  ///< where positions are rotary
    FeedForward feed_forward = FeedForward::plain;
    Initialization initialization = Initialization::normal;
    /// Width of a convolution over the embeddings after their norm, separate for each feature; 0: none.
    std::int64_t embedding_convolution = 0;
    bool operator==(const EncoderForm&) const = default;
    /// Whether transformers' big_bird computes the same.
    bool is_big_bird() const { return *this == EncoderForm{}; }
};

}  // namespace bigbird::model
