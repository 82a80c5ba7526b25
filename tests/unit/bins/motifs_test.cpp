// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motifs.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::bins;

DOCTEST_TEST_CASE("motifs: planted over the first filters, centred, of the norm asked for") {
    const motifs::Motif motif{.id = "a", .shares = std::vector(9, motifs::Shares{0.3, 0.1, 0.1, 0.5})};
    const at::Tensor weight = at::zeros({3, 4, 15});
    weight.select(0, 1).fill_(8);
    plant_motifs(weight, {.motifs = {motif}}, 2);
    DOCTEST_CHECK(weight[0].norm().item<double>() == doctest::Approx(2));
    DOCTEST_CHECK(weight[0].sum(0).abs().max().item<double>() < 1e-5);
    DOCTEST_CHECK(weight[0].select(1, 2).abs().max().item<double>() == 0);  // beside the motif
    DOCTEST_CHECK(weight[0][3][3].item<double>() > weight[0][0][3].item<double>());
    DOCTEST_CHECK(at::equal(weight[1], at::full({4, 15}, 8.0F)));
    const at::Tensor narrow = at::ones({1, 4, 5});
    plant_motifs(narrow, {.motifs = {motif, motif}}, 1);
    DOCTEST_CHECK((narrow[0] - 0.25).norm().item<double>() == doctest::Approx(1));
}
