// SPDX-License-Identifier: Apache-2.0
// The weights of a pair of tiles and the gradients of their scores, by products of four warps: what dq, and
// dk and dv, begin a step with. Between the two products weights are kept as 16-bit numbers, which is what
// lets two blocks of two groups (three of one, for dk and dv) share a multiprocessor's registers: while one
// group computes exponentials, the others multiply.
#pragma once

#include "bigbird/attention/cuda/device/hopper/warpgroup_tiles.hpp"

namespace bigbird::attention::cuda {

/// weights = 2^(a b^T / sqrt(64) * log2 e + bias), as Kept numbers in the places of first operands. With n
/// and i an accumulator's number and place: element_bias(n, i) is added where not `is_plain`; shift(n, i) to
/// all.
template <typename Scalar, typename Kept, DeviceIsa Isa, typename ElementBias, typename Shift>
BIGBIRD_DEVICE void multiply_to_weights(const Isa& isa, const WarpgroupTile& a, const WarpgroupTile& b,
                                        bool is_plain, Fragment (&weights)[4],
                                        const ElementBias& element_bias, const Shift& shift) {
    Accumulator scores[8];
    isa.warpgroup_fence(scores);
    issue_rows_by_rows<Scalar>(isa, scores, a, b);
    isa.warpgroup_commit();
    isa.warpgroup_wait(scores);
    constexpr float factor = scale_of<warpgroup_head_dim>() * log2_e;
    if (!is_plain) {
        BIGBIRD_UNROLL
        for (int j = 0; j < 32; ++j) {
            scores[j / 4].x[j % 4] += element_bias(j / 4, j % 4) / factor;
        }
    }
    BIGBIRD_UNROLL
    for (int j = 0; j < 32; ++j) {
        float& score = scores[j / 4].x[j % 4];
        score = isa.exp2(score * factor + shift(j / 4, j % 4));
    }
    as_operands<Kept>(isa, scores, weights);
}

/// d_scores = weights (a b^T - delta), as first operands.
template <typename Scalar, typename Kept, DeviceIsa Isa, typename Delta>
BIGBIRD_DEVICE void multiply_to_score_gradients(const Isa& isa, const WarpgroupTile& a,
                                                const WarpgroupTile& b, const Fragment (&weights)[4],
                                                Fragment (&d_scores)[4], const Delta& delta) {
    Accumulator d_weights[8];
    isa.warpgroup_fence(d_weights);
    issue_rows_by_rows<Scalar>(isa, d_weights, a, b);
    isa.warpgroup_commit();
    isa.warpgroup_wait(d_weights);
    BIGBIRD_UNROLL
    for (int j = 0; j < 32; ++j) {
        const int n = j / 4, i = j % 4;
        const std::uint32_t pair = weights[n / 2].x[2 * (n % 2) + i / 2];
        const float weight =
            isa.template widen<Kept>(static_cast<std::uint16_t>(i % 2 == 0 ? pair : pair >> 16));
        d_weights[n].x[i] = weight * (d_weights[n].x[i] - delta(n, i));
    }
    as_operands<Scalar>(isa, d_weights, d_scores);
}

}  // namespace bigbird::attention::cuda
