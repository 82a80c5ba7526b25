// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/middle_bin.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/task_models/windows/batched_logits.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

DOCTEST_TEST_CASE("middle bin: a window alone has the logits of its middle bases") {
    const auto network = small_base_bins(2);
    const auto middle = bin_in_the_middle(network, small_bins_info());
    const std::vector<std::string> dna{random_dna(160, 1), random_dna(160, 2), random_dna(160, 3)};
    std::vector<EncodedWindow> windows;
    for (const std::string& one : dna)
        windows.push_back(middle->encode(one, false));
    const at::Tensor all = logits_of(*network, dna);
    const at::Tensor wanted = (all.select(1, 3) + all.select(1, 4)) / 2;  // 70 to 90 are half of each
    DOCTEST_CHECK(difference(batched_logits(*middle, windows, 1), wanted) < 1e-5);
    DOCTEST_CHECK(difference(batched_logits(*middle, windows, 1000), wanted) < 1e-5);
    DOCTEST_CHECK(middle->encode(std::string(160, 'N'), false).all_n());
}
