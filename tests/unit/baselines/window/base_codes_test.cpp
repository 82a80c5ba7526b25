// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/base_codes.hpp"

#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird;

DOCTEST_TEST_CASE("baselines/base_codes: letters, and a row a base") {
    const auto codes = baselines::base_codes("ACGTN");
    DOCTEST_CHECK(codes == std::vector<std::int32_t>{0, 1, 2, 3, 4});
    const at::Tensor hot = baselines::one_hot_bases(at::tensor(codes, at::kLong).unsqueeze(0));
    DOCTEST_REQUIRE(hot.sizes() == at::IntArrayRef({1, 4, 5}));
    DOCTEST_CHECK(at::equal(hot[0].slice(1, 0, 4), at::eye(4)));
    DOCTEST_CHECK(hot[0].select(1, 4).abs().sum().item<float>() == 0);
}
