// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/dropout.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <ATen/Parallel.h>

#include <cmath>

using namespace bigbird::model;
using namespace bigbird::testing;

namespace {
constexpr DropoutSite site{DropoutSite::Place::output, 3};
}

DOCTEST_TEST_CASE("dropout: drops the share that is asked for and scales the rest") {
    const at::Tensor x = at::ones({4, 333, 101});
    const at::Tensor y = dropout(x, 0.1, {1, 2, 3}, site);
    const double kept = (y != 0).to(at::kDouble).mean().item<double>();
    DOCTEST_CHECK(std::abs(kept - 0.9) < 5 * std::sqrt(0.09 / static_cast<double>(x.numel())));
    DOCTEST_CHECK(identical(y, (y != 0).to(at::kFloat) * static_cast<float>(1.0 / 0.9)));
    DOCTEST_CHECK(identical(dropout(x, 0, {}, site), x));
}

DOCTEST_TEST_CASE(
    "dropout: masks follow the sample and not its place in the batch, the threads or the type") {
    const at::Tensor x = random_tensor({5, 64, 33}, 1, at::kFloat);
    const at::Tensor whole = dropout(x, 0.3, {7, 11, 100}, site);
    const at::Tensor later = dropout(x.slice(0, 2, 5), 0.3, {7, 11, 102}, site);
    DOCTEST_CHECK(identical(whole.slice(0, 2, 5), later));
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    DOCTEST_CHECK(identical(whole, dropout(x, 0.3, {7, 11, 100}, site)));
    at::set_num_threads(threads);
    DOCTEST_CHECK(identical(whole != 0, dropout(x.to(at::kDouble), 0.3, {7, 11, 100}, site) != 0));
    DOCTEST_CHECK(identical(whole != 0, dropout(x.to(at::kBFloat16), 0.3, {7, 11, 100}, site) != 0));
    DOCTEST_CHECK(
        identical(whole, dropout(x.transpose(1, 2).contiguous().transpose(1, 2), 0.3, {7, 11, 100}, site)));
}

DOCTEST_TEST_CASE("dropout: every part of the key and the site matters") {
    const at::Tensor x = at::ones({1, 2000});
    const at::Tensor base = dropout(x, 0.5, {1, 2, 3}, site);
    for (const DropoutKey& key : {DropoutKey{2, 2, 3}, DropoutKey{1, 3, 3}, DropoutKey{1, 2, 4}})
        DOCTEST_CHECK(!identical(base, dropout(x, 0.5, key, site)));
    DOCTEST_CHECK(!identical(base, dropout(x, 0.5, {1, 2, 3}, {DropoutSite::Place::output, 4})));
    DOCTEST_CHECK(!identical(base, dropout(x, 0.5, {1, 2, 3}, {DropoutSite::Place::attention_output, 3})));
    // Neighbours are independent: as many agreeing pairs as differing ones.
    const at::Tensor kept = (base != 0).flatten();
    const double agree = (kept.slice(0, 1) == kept.slice(0, 0, 1999)).to(at::kDouble).mean().item<double>();
    DOCTEST_CHECK(std::abs(agree - 0.5) < 5 * std::sqrt(0.25 / 1999));
}

DOCTEST_TEST_CASE("dropout: the gradient passes through the same mask") {
    const at::Tensor x = random_tensor({2, 31, 7}, 1).requires_grad_();
    const at::Tensor y = dropout(x, 0.4, {1, 2, 3}, site), weights = random_tensor({2, 31, 7}, 2);
    (y * weights).sum().backward();
    const at::Tensor factors =
        dropout_factors({2, 31, 7}, x.options().requires_grad(false), 0.4, {1, 2, 3}, site);
    DOCTEST_CHECK(difference(y, x.detach() * factors) < 1e-15);
    DOCTEST_CHECK(difference(x.grad(), weights * factors) < 1e-15);
}
