// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/attention/attention.hpp"

using namespace bigbird::attention;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

DOCTEST_TEST_CASE(
    "full_attention: equals the reference, forward and backward, with padding and with dropped "
    "probabilities") {
    PatternSpec spec;
    spec.block_size = 16;
    const LayerLayout layout =
        stack_layouts({make_layout(spec, 3, 0, 0), make_layout(spec, 3, 0, 1)}, 16, at::kCPU);
    DOCTEST_REQUIRE(layout.full);
    at::Tensor mask = at::ones({2, 48}, at::kBool);
    mask[1].slice(0, 20).fill_(false);
    for (const bool with_dropout : {false, true}) {
        const at::Tensor factors =
            with_dropout ? (random_tensor({2, 2, 48, 48}, 9) > 0).to(at::kDouble) * 2 : at::Tensor();
        std::vector<std::vector<at::Tensor>> results;
        for (const Backend backend : {Backend::automatic, Backend::reference}) {
            std::vector<at::Tensor> leaves;
            for (const std::uint64_t seed : {1U, 2U, 3U}) {
                leaves.push_back(random_tensor({2, 2, 48, 8}, seed).requires_grad_());
            }
            const at::Tensor out =
                sparse_attention(leaves[0], leaves[1], leaves[2], mask, layout, backend, factors);
            (out * random_tensor({2, 2, 48, 8}, 4)).sum().backward();
            results.push_back({out.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()});
        }
        for (std::size_t i = 0; i < 4; ++i) {
            DOCTEST_CHECK(difference(results[0][i], results[1][i]) < 1e-12);
        }
        // Padded queries are computed like others.
        DOCTEST_CHECK(results[0][0][1][0][40].abs().sum().item<double>() > 0);
    }
}
