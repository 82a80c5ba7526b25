// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird::training {

/// Of AdamW (training/optimizer.hpp).
struct OptimizerSpec {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;
    double weight_decay = 0.01;  ///< matrices and embeddings alone: biases and LayerNorm (fewer than two
                                 ///< dimensions) do not decay
    double clip_norm = 1.0;      ///< of the gradient over all parameters; 0: no clipping
    /// Throws ConfigError.
    void validate() const;
    bool has_usual_betas() const;
};

}  // namespace bigbird::training
