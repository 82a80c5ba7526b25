// SPDX-License-Identifier: Apache-2.0
// LibTorch's side of our own CUDA kernels on the pretended device: the kernels are emulated, and whatever
// they are given must lie in the device's memory.
#include "support/emulated_kernels.hpp"
#include "support/pretended/pretended_device.hpp"
#include "support/testing.hpp"
#include "unit/model/layers/fused_network_cases.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"

#include <initializer_list>

using namespace bigbird;
using namespace bigbird::testing;
using attention::Backend;
namespace cuda = attention::cuda;

namespace {

int launches = 0;
int astray = 0;  // pointers to the host's memory that kernels were given

void expect_on_device(std::initializer_list<const void*> addresses) {
    for (const void* address : addresses)
        if (address != nullptr && !on_pretended_device(address)) ++astray;
}

void expect_all_on_device(const cuda::UnitList& list) {
    expect_on_device({list.units, list.entries, list.sums, list.team_first, list.team_units});
}

void expect_all_on_device(const cuda::Arguments& a) {
    expect_on_device({a.key_mask, a.biases, a.q.data, a.k.data, a.v.data, a.out.data, a.lse, a.workspace,
                      a.d_out.data, a.dq.data, a.dk.data, a.dv.data, a.delta});
    expect_all_on_device(a.queries);
    expect_all_on_device(a.keys);
}

void expect_all_on_device(const cuda::NormArguments& a) {
    expect_on_device({a.dropout.keys,
                      a.gather.ids,
                      a.gather.types,
                      a.gather.words,
                      a.gather.token_types,
                      a.gather.positions,
                      a.x,
                      a.residual,
                      a.weight,
                      a.bias,
                      a.y,
                      a.sum,
                      a.mean,
                      a.inverse,
                      a.d_y,
                      a.d_x,
                      a.d_sum,
                      a.d_weight,
                      a.d_bias,
                      a.parts});
}

void expect_all_on_device(const cuda::GeluArguments& a) {
    expect_on_device({a.x, a.bias, a.y, a.d_y, a.d_x, a.d_bias, a.parts});
}

void expect_all_on_device(const cuda::SoftmaxArguments& a) {
    expect_on_device({a.logits, a.labels, a.nats, a.correct});
}

/// An emulated kernel that looks at its arguments first.
template <auto Kernel, typename Arguments>
int on_device(const Arguments& arguments, void* stream) {
    ++launches;
    expect_all_on_device(arguments);
    const KernelRuns open;
    return (emulated_kernels().*Kernel)(arguments, stream);
}

const cuda::KernelTable& kernels_on_device() {
    using Table = cuda::KernelTable;
    static const Table table = [] {
        Table made = emulated_kernels();
        made.forward = &on_device<&Table::forward, cuda::Arguments>;
        made.backward = &on_device<&Table::backward, cuda::Arguments>;
        made.norm_forward = &on_device<&Table::norm_forward, cuda::NormArguments>;
        made.norm_backward = &on_device<&Table::norm_backward, cuda::NormArguments>;
        made.gelu_forward = &on_device<&Table::gelu_forward, cuda::GeluArguments>;
        made.gelu_backward = &on_device<&Table::gelu_backward, cuda::GeluArguments>;
        made.softmax_gradient = &on_device<&Table::softmax_gradient, cuda::SoftmaxArguments>;
        return made;
    }();
    return table;
}

}  // namespace

DOCTEST_TEST_CASE(
    "kernels: a network trains through them as near fp64 as by LibTorch, on memory of the device") {
    const at::Device device = pretended_device();
    model::BigBirdConfig config = kernel_config();
    config.num_hidden_layers = 1;
    const Results exact = train_once(config, Backend::blocked, at::kDouble, device);
    const InBf16 autocast(device.type());
    const Results by_torch = train_once(config, Backend::blocked, at::kFloat, device);
    const cuda::EmulatedKernels emulation(kernels_on_device());
    for (const Backend backend : {Backend::fused, Backend::fused_hopper}) {
        DOCTEST_CAPTURE(static_cast<int>(backend));
        launches = astray = 0;
        DOCTEST_CHECK(trains_as_near(train_once(config, backend, at::kFloat, device), exact, by_torch));
        DOCTEST_CHECK(launches >= 10);  // attention, three norms and gelu, forward and backward
        DOCTEST_CHECK(astray == 0);
    }
}
