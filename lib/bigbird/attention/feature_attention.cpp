// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/feature_attention.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cmath>
#include <limits>

namespace bigbird::attention {

namespace {

// The paper's code adds these to features.
constexpr double softmax_epsilon = 1e-6, relu_epsilon = 1e-3;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Features without the epsilon, (batch, heads, length, m). Overwriting a product's result is safe: its
/// gradient does not need it.
struct Features {
    at::Tensor of_queries, of_keys;
    double epsilon;
};

/// Features of queries, and of keys: 0 for padded keys. padded: (batch, 1, length, 1).
Features softmax_features(const at::Tensor& q, const at::Tensor& k, const at::Tensor& rows,
                          const at::Tensor& padded) {
    choose_vector_functions();
    const double scale = std::pow(static_cast<double>(q.size(3)), -0.25);
    // |q|^2 / 2 is the same in all exponents of a query, so it cancels when the largest one is subtracted.
    at::Tensor of_queries = at::matmul(q * scale, rows.t());
    const at::Tensor highest = of_queries.detach().amax(-1, true);
    const at::Tensor keys = k * scale;
    at::Tensor of_keys = at::matmul(keys, rows.t());
    const at::Tensor half_square = keys.square().sum(-1, true) * 0.5;  // (batch, heads, length, 1)
    const at::Tensor most = (of_keys.detach().amax(-1, true) - half_square.detach())
                                .masked_fill(padded, -infinity)
                                .amax(2, true);  // (batch, heads, 1, 1)
    return {of_queries.sub_(highest).exp_(),
            of_keys.sub_((half_square + most).masked_fill(padded, infinity)).exp_(), softmax_epsilon};
}

Features relu_features(const at::Tensor& q, const at::Tensor& k, const at::Tensor& rows) {
    const double scale =
        std::pow(static_cast<double>(q.size(3)), -0.25) / std::sqrt(static_cast<double>(rows.size(0)));
    const at::Tensor scaled = rows.t() * scale;
    return {at::matmul(q, scaled).relu_(), at::matmul(k, scaled).relu_(), relu_epsilon};
}

}  // namespace

at::Tensor feature_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& key_mask, const at::Tensor& features, FeatureKernel kernel) {
    BIGBIRD_EXPECTS(q.dim() == 4 && k.sizes() == q.sizes() && v.sizes() == q.sizes(),
                    "q, k and v differ in shape");
    BIGBIRD_EXPECTS(features.dim() == 2 && features.size(1) == q.size(3), "features do not fit q");
    BIGBIRD_EXPECTS(key_mask.dim() == 2 && key_mask.size(0) == q.size(0) && key_mask.size(1) == q.size(2) &&
                        key_mask.scalar_type() == at::kBool,
                    "key_mask must be (batch, length) bool");
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const at::ScalarType type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor real = key_mask.unsqueeze(1).unsqueeze(3);  // (batch, 1, length, 1)
    const at::Tensor query = q.to(type), key = k.to(type), rows = features.to(type);
    const Features phi = kernel == FeatureKernel::softmax
                             ? softmax_features(query, key, rows, real.logical_not())
                             : relu_features(query, key, rows);
    // Values, followed by a 1 whose weighted sum is the denominator; 0 where a key is padded. The epsilon of
    // the features is added through sums, which avoids a second tensor of all features.
    const at::Tensor counted = real.to(type);
    const at::Tensor ones = counted.expand({-1, q.size(1), -1, -1});
    const at::Tensor values =
        at::cat({v.to(type) * counted, ones}, 3);  // (batch, heads, length, head_dim + 1)
    const at::Tensor summary =
        at::matmul(phi.of_keys.transpose(2, 3), values) + phi.epsilon * values.sum(2, true);
    const at::Tensor sums = at::matmul(phi.of_queries, summary) + phi.epsilon * summary.sum(2, true);
    const at::Tensor weight = sums.narrow(3, q.size(3), 1);
    return (sums.narrow(3, 0, q.size(3)) / weight.masked_fill(weight == 0, 1)).to(q.scalar_type());
}

at::Tensor FeatureCache::get(std::int64_t redraw, int layer, const at::Device& device) {
    const std::scoped_lock lock(mutex_);
    Draw& draw = kept_[{layer, device.str()}];
    if (draw.redraw != redraw) {
        FeatureSpec spec = spec_;
        spec.redraw = redraw;
        const std::vector<double> rows = draw_features(spec, layer, head_dim_);
        draw = {redraw, at::tensor(at::ArrayRef<double>(rows)).view({-1, head_dim_}).to(device)};
    }
    return draw.features;
}

void choose_vector_functions() {
    static const at::Tensor once = at::exp(at::ones({64}));
}

}  // namespace bigbird::attention
