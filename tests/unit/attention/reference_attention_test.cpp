// SPDX-License-Identifier: Apache-2.0
// The oracle itself, against a plain loop over queries and keys.
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/attention/attention.hpp"
#include "bigbird/attention/backends.hpp"

#include <cmath>

using namespace bigbird::attention;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

namespace {

/// Attention of one head and query, key by key; duplicates are really added several times.
std::vector<double> attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const std::vector<std::int64_t>& keys) {
    std::vector<double> weights, context(static_cast<std::size_t>(v.size(1)), 0.0);
    double sum = 0;
    for (const std::int64_t key : keys) {
        weights.push_back(
            std::exp((q * k[key]).sum().item<double>() / std::sqrt(static_cast<double>(q.size(0)))));
        sum += weights.back();
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        for (std::int64_t d = 0; d < v.size(1); ++d) {
            context[static_cast<std::size_t>(d)] += weights[i] / sum * v[keys[i]][d].item<double>();
        }
    }
    return context;
}

}  // namespace

DOCTEST_TEST_CASE("reference_attention: equals a loop over keys in which duplicates stand several times") {
    PatternSpec spec;
    spec.block_size = 2;
    spec.random_blocks = 1;
    for (const RandomSource source : {RandomSource::uniform, RandomSource::hf}) {
        spec.random_source = source;
        const int blocks = 9, length = 18;
        const LayerLayout layout =
            stack_layouts({make_layout(spec, blocks, 0, 0), make_layout(spec, blocks, 0, 1)}, 2, at::kCPU);
        const at::Tensor q = random_tensor({1, 2, length, 4}, 1), k = random_tensor({1, 2, length, 4}, 2),
                         v = random_tensor({1, 2, length, 4}, 3);
        at::Tensor mask = at::ones({1, length}, at::kBool);
        mask[0][length - 1] = false;
        const at::Tensor out = sparse_attention(q, k, v, mask, layout, Backend::reference);
        for (std::int64_t head = 0; head < 2; ++head) {
            const BlockLayout& of_head = (*layout.layouts)[static_cast<std::size_t>(head)];
            for (std::int64_t query = 0; query < length; ++query) {
                std::vector<std::int64_t> keys;
                const auto row = static_cast<std::size_t>(query / 2);
                for (auto i = static_cast<std::size_t>(of_head.row_offsets[row]);
                     i < static_cast<std::size_t>(of_head.row_offsets[row + 1]); ++i) {
                    for (int times = 0; times < of_head.multiplicity[i]; ++times) {
                        for (std::int64_t key = of_head.columns[i] * 2;
                             key < of_head.columns[i] * 2 + 2 && key < length - 1; ++key) {
                            keys.push_back(key);
                        }
                    }
                }
                std::vector<double> expected(4, 0.0);  // a padded query gives 0
                if (query < length - 1) {
                    expected = attend(q[0][head][query], k[0][head], v[0][head], keys);
                }
                DOCTEST_CHECK(difference(out[0][head][query], at::tensor(expected, at::kDouble)) < 1e-13);
            }
        }
    }
}
