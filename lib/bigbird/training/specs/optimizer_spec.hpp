// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"

#include <cstdint>

namespace bigbird::training {

/// muon: Muon for the matrices within an encoder's layers, AdamW for the rest (training/muon.hpp).
enum class OptimizerKind : std::uint8_t { adamw, muon };
inline constexpr Choices<OptimizerKind, 2> optimizer_choices{
    {{OptimizerKind::adamw, "adamw"}, {OptimizerKind::muon, "muon"}}};

/// Settings of training/optimizer.hpp; betas and epsilon are AdamW's.
struct OptimizerSpec {
    OptimizerKind kind = OptimizerKind::adamw;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;
    double weight_decay = 0.01;  ///< only matrices and embeddings: biases and LayerNorm (fewer than two
                                 ///< dimensions) do not decay
    double clip_norm = 1.0;      ///< largest gradient norm over all parameters; 0: no clipping
    /// Throws ConfigError.
    void validate() const;
    bool has_usual_betas() const;
};

}  // namespace bigbird::training
