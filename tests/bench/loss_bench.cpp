// SPDX-License-Identifier: Apache-2.0
// The masked-token loss of a micro-batch and its gradients (model/layers/linear_cross_entropy.hpp), and the
// part of it behind the product with the word embeddings, by our own pass and by LibTorch's operations, in
// turns:
//   loss_bench fp32|bf16 TOKENS VOCABULARY HIDDEN THREADS REPEATS
// Prints a JSON line: the median seconds of processor time (of all threads) of each over REPEATS turns.
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/layers/linear_cross_entropy.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace bigbird;

template <typename Pass>
double seconds_of(Pass&& pass) {
    const std::clock_t begin = std::clock();
    pass();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 7) {
        std::fputs("loss_bench fp32|bf16 TOKENS VOCABULARY HIDDEN THREADS REPEATS\n", stderr);
        return 2;
    }
    const at::ScalarType type = std::string(argv[1]) == "bf16" ? at::kBFloat16 : at::kFloat;
    const std::int64_t tokens = std::stoll(argv[2]), vocabulary = std::stoll(argv[3]),
                       size = std::stoll(argv[4]);
    model::set_compute_threads(std::stoi(argv[5]));
    at::manual_seed(1);
    const at::Tensor hidden = at::randn({tokens, size}).to(type).requires_grad_(),
                     weight = (at::randn({vocabulary, size}) * 0.02).to(type).requires_grad_(),
                     bias = at::zeros({vocabulary}, type).requires_grad_(),
                     labels = at::randint(0, vocabulary, {tokens}, at::kLong);
    const at::Tensor logits = at::linear(hidden, weight, bias).detach();
    std::vector<double> own, by_torch, whole;
    for (int turn = -1; turn < std::stoi(argv[6]); ++turn) {  // the first warms up
        const at::Tensor a = logits.clone(), b = logits.clone();
        own.push_back(seconds_of([&] { model::softmax_loss_(a, labels, true); }));
        by_torch.push_back(seconds_of([&] { model::softmax_loss_by_torch_(b, labels, true); }));
        whole.push_back(
            seconds_of([&] { model::linear_cross_entropy(hidden, weight, bias, labels).nats.backward(); }));
        if (turn < 0) {
            own.clear();
            by_torch.clear();
            whole.clear();
        }
    }
    std::printf("{\"own\": %.5f, \"by_torch\": %.5f, \"loss_and_gradients\": %.5f}\n", median(own),
                median(by_torch), median(whole));
    return 0;
}
