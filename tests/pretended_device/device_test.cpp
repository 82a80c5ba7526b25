// SPDX-License-Identifier: Apache-2.0
// The pretended device itself: it must refuse what a GPU refuses, or the other tests of this folder show
// nothing.
#include "bigbird/model/device/device.hpp"

#include "support/pretended/pretended_device.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/training/device/autocast.hpp"

using namespace bigbird;
using namespace bigbird::testing;

namespace {

at::Tensor numbers(at::IntArrayRef shape) {
    return random_tensor(shape, 3, at::kFloat);
}

at::Tensor sent(at::IntArrayRef shape) {
    return numbers(shape).to(pretended_device());
}

bool has_type(const at::Tensor& x, at::ScalarType type) {
    return x.scalar_type() == type;
}

}  // namespace

DOCTEST_TEST_CASE("device: it is known by its name, and by that alone") {
    const at::Device device = pretended_device();
    DOCTEST_CHECK(device.str() == "pretended:0");
    DOCTEST_CHECK(model::open_device("pretended") == device);
    DOCTEST_CHECK_THROWS_AS(model::open_device("pretended:1"), ConfigError);
}

DOCTEST_TEST_CASE(
    "device: the host can neither read nor write its memory, operators can, and shut it again") {
    const at::Tensor x = sent({3, 4});
    DOCTEST_CHECK(faults(x.const_data_ptr()));
    const at::Tensor y = (x * 2).transpose(0, 1).contiguous();
    DOCTEST_CHECK(faults(x.const_data_ptr()));
    DOCTEST_CHECK(faults(y.const_data_ptr()));
    DOCTEST_CHECK(identical(y.cpu(), (numbers({3, 4}) * 2).t().contiguous()));
    DOCTEST_CHECK_THROWS(at::bmm(sent({1, 2, 3}), sent({1, 2, 3})));
    DOCTEST_CHECK(faults(x.const_data_ptr()));
}

DOCTEST_TEST_CASE("device: views, in-place operators and results of a kind are the CPU's") {
    const at::Tensor x = sent({4, 6}), same = numbers({4, 6});
    x.narrow(1, 2, 3).select(0, 1).add_(1);
    same.narrow(1, 2, 3).select(0, 1).add_(1);
    x.view({2, 12}).index_put_({at::zeros({3}, at::kLong).to(x.device())}, sent({12}), true);
    same.view({2, 12}).index_put_({at::zeros({3}, at::kLong)}, numbers({12}), true);
    DOCTEST_CHECK(identical(x.cpu(), same));
    const auto [values, places] = x.sort(1);
    DOCTEST_CHECK(identical(values.cpu(), std::get<0>(same.sort(1))));
    DOCTEST_CHECK(identical(places.cpu(), std::get<1>(same.sort(1))));
    DOCTEST_CHECK(places.device() == x.device());
}

DOCTEST_TEST_CASE("device: gradients are the CPU's") {
    const auto gradient = [](const at::Device& device) {
        const at::Tensor x = numbers({5, 8}).to(device).requires_grad_(true);
        const at::Tensor weight = numbers({6, 8}).to(device), labels = at::arange(5).to(device);
        at::cross_entropy_loss(at::layer_norm(at::linear(at::gelu(x, "tanh"), weight), {6}), labels)
            .backward();
        return x.grad().cpu();
    };
    DOCTEST_CHECK(difference(gradient(pretended_device()), gradient(at::kCPU)) < 1e-7);
}

DOCTEST_TEST_CASE("device: tensors of the CPU are refused, numbers are not") {
    const at::Tensor x = sent({3}), of_cpu = numbers({3});
    DOCTEST_CHECK_THROWS_AS(x + of_cpu, c10::Error);
    DOCTEST_CHECK_THROWS_AS(at::where(x > 0, x, of_cpu), c10::Error);
    DOCTEST_CHECK_THROWS_AS(x.index_select(0, at::zeros({1}, at::kLong)), c10::Error);
    DOCTEST_CHECK_THROWS_AS(x.index({at::zeros({1}, at::kLong)}), c10::Error);
    DOCTEST_CHECK_THROWS_AS(of_cpu.add_(x), c10::Error);
    DOCTEST_CHECK_THROWS_AS(at::linear(x.unsqueeze(0), of_cpu.unsqueeze(0)), c10::Error);
    DOCTEST_CHECK(identical((x * at::scalar_tensor(2.0) + 1).cpu(), of_cpu * 2 + 1));
}

DOCTEST_TEST_CASE("device: what makes the host wait is counted") {
    const at::Tensor x = sent({8});
    take_waits();
    const at::Tensor y = (x * 3).sum() + x.argmax();
    DOCTEST_CHECK(take_waits().empty());
    y.item<float>();
    DOCTEST_CHECK(take_waits() == Waits{{"aten::_local_scalar_dense", 1}});
    at::equal(x, x);
    x.nonzero();
    x.masked_select(x > 0);
    DOCTEST_CHECK(take_waits() ==
                  Waits{{"aten::equal", 1}, {"aten::nonzero", 1}, {"aten::masked_select", 1}});
    x.cpu();
    numbers({8}).to(x.device());
    DOCTEST_CHECK(take_waits() == Waits{{"copy to host", 1}, {"copy to device", 1}});
    numbers({8}).to(x.device(), /*non_blocking=*/true);
    model::copy_to_device(numbers({8}), x.device());
    DOCTEST_CHECK(take_waits().empty());
    numbers({8}).copy_(x, /*non_blocking=*/true);
    DOCTEST_CHECK(take_waits() == Waits{{"copy to pageable memory", 1}});
}

DOCTEST_TEST_CASE("device: what is on its way to the host cannot be read before somebody has waited") {
    const at::Tensor x = sent({100});
    at::Tensor host = at::empty({100}, at::TensorOptions().pinned_memory(true));
    DOCTEST_CHECK_FALSE(faults(host.const_data_ptr()));
    host.copy_(x, /*non_blocking=*/true);
    DOCTEST_CHECK(faults(host.const_data_ptr()));
    model::HostCopy first(x), second(x * 2);
    take_waits();
    DOCTEST_CHECK(identical(first.get(), numbers({100})));
    DOCTEST_CHECK_FALSE(faults(host.const_data_ptr()));
    DOCTEST_CHECK(take_waits() == Waits{{"event", 1}});
    DOCTEST_CHECK(identical(second.get(), numbers({100}) * 2));
    DOCTEST_CHECK(take_waits() == Waits{{"event", 1}});
}

DOCTEST_TEST_CASE("device: dropout draws the CPU's bits, in every type and backward") {
    const auto gradient = [](const at::Device& device, at::ScalarType type) {
        const at::Tensor x = numbers({3, 7, 5}).to(device, type).requires_grad_(true);
        const at::Tensor y = model::dropout(x, 0.3, {.seed = 5, .step = 2, .samples = {4, 1, 9}}, {});
        (y * y).sum().backward();
        return x.grad().cpu();
    };
    const auto of_device = [&](at::ScalarType type) { return gradient(pretended_device(), type); };
    DOCTEST_CHECK(identical(of_device(at::kFloat), gradient(at::kCPU, at::kFloat)));
    // LibTorch's CPU kernel multiplies by a number that it rounds to bf16 first.
    DOCTEST_CHECK(at::allclose(of_device(at::kBFloat16), gradient(at::kCPU, at::kBFloat16), 0.02, 0));
}

DOCTEST_TEST_CASE(
    "device: autocast computes products in bf16 and softmax and LayerNorm in fp32, as on CUDA") {
    const at::Tensor x = sent({4, 8}), weight = sent({8, 8});
    {
        const training::Autocast autocast(training::ComputeType::bf16, x.device());
        const at::Tensor y = at::linear(x, weight);
        DOCTEST_CHECK(has_type(y, at::kBFloat16));
        DOCTEST_CHECK(has_type(at::softmax(y, -1), at::kFloat));
        DOCTEST_CHECK(has_type(at::layer_norm(y, {8}), at::kFloat));
    }
    DOCTEST_CHECK(has_type(at::linear(x, weight), at::kFloat));
}

DOCTEST_TEST_CASE("device: it tells what memory is free and what was used at most, and is measured") {
    const at::Device device = pretended_device();
    const std::int64_t before = pretended_bytes();
    const double free = training::available_memory(device);
    {
        const at::Tensor x = at::zeros({1 << 20}, device);
        DOCTEST_CHECK(pretended_bytes() == before + (4 << 20));
        DOCTEST_CHECK(training::available_memory(device) == free - (4 << 20));
    }
    DOCTEST_CHECK(pretended_bytes() == before);
    DOCTEST_CHECK(training::peak_memory(device) >= before + (4 << 20));
    DOCTEST_CHECK(training::matrix_product_rate(training::ComputeType::bf16, device) > 0);
}
