// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels' own code, run thread by thread on the CPU (support/simt.hpp).
#include "support/emulated_kernels.hpp"
#include "support/testing.hpp"
#include "unit/attention/cuda/device/cuda_cases.hpp"

#include "bigbird/attention/cuda/host/schedule.hpp"

#include <array>
#include <limits>

using namespace bigbird;
using namespace bigbird::attention;
using bigbird::testing::AttentionResults;
using bigbird::testing::CudaCase;
using bigbird::testing::SimtIsa;

namespace {

/// A tensor as the kernels get it: (samples, length, heads, head_dim) in memory between guards, which hold
/// NaN: whoever reads them shows it in the result, and whoever writes them is found.
class GuardedTensor {
public:
    GuardedTensor(const CudaCase& c, at::ScalarType type)
        : shape_{c.samples, std::int64_t{c.blocks} * c.block_size, c.heads, c.head_dim} {
        memory_ = at::full({shape_[0] * shape_[1] * shape_[2] * shape_[3] + 2 * guard},
                           std::numeric_limits<double>::quiet_NaN(), type);
    }
    /// (samples, heads, length, head_dim)
    at::Tensor tensor() const {
        return memory_.slice(0, guard, memory_.numel() - guard).view(shape_).transpose(1, 2);
    }
    GuardedTensor& operator=(const at::Tensor& values) {
        tensor().copy_(values);
        return *this;
    }
    cuda::TensorView view() const {
        const at::Tensor x = tensor();
        return {x.data_ptr(), x.stride(0), x.stride(1), x.stride(2)};
    }
    bool guards_hold() const {
        return memory_.slice(0, 0, guard).isnan().all().item<bool>() &&
               memory_.slice(0, memory_.numel() - guard).isnan().all().item<bool>();
    }

private:
    static constexpr std::int64_t guard = 4096;
    std::vector<std::int64_t> shape_;
    at::Tensor memory_;
};

/// Everything that the kernels of a case read and write; results begin as NaN.
class Problem {
public:
    /// `blocks`: of a persistent grid.
    Problem(const CudaCase& c, const LayerLayout& layout, const testing::AttentionInputs& inputs,
            at::ScalarType type, int blocks)
        : schedule_(cuda::make_schedule(*layout.layouts, c.block_size, c.longest)),
          query_teams_(cuda::share_units(schedule_.queries, c.samples, blocks, cuda::query_teams)),
          key_teams_(cuda::share_units(schedule_.keys, c.samples, blocks, cuda::key_teams)),
          tensors_(8, GuardedTensor(c, type)) {
        for (GuardedTensor& tensor : tensors_)
            tensor = GuardedTensor(c, type);
        tensors_[0] = inputs.q;
        tensors_[1] = inputs.k;
        tensors_[2] = inputs.v;
        tensors_[3] = inputs.d_out;
        mask_ = inputs.key_mask.to(at::kByte).contiguous();
        const std::int64_t sums =
            std::int64_t{c.samples} * c.heads * schedule_.tiling.tiles * cuda::tile_tokens;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        lse_.assign(static_cast<std::size_t>(sums) + 4, nan);
        delta_ = lse_;
        workspace_.assign(std::max(cuda::forward_workspace(schedule_, c.samples, c.head_dim),
                                   cuda::backward_workspace(schedule_, c.samples, c.head_dim)),
                          nan);
        a_.element = type == at::kHalf ? cuda::Element::fp16 : cuda::Element::bf16;
        a_.samples = c.samples;
        a_.heads = c.heads;
        a_.head_dim = c.head_dim;
        a_.zero_padded_queries = layout.full ? 0 : 1;
        a_.tiling = schedule_.tiling;
        a_.key_mask = mask_.const_data_ptr<std::uint8_t>();
        a_.biases = schedule_.biases.data();
        a_.queries = list_of(schedule_.queries, query_teams_);
        a_.keys = list_of(schedule_.keys, key_teams_);
        cuda::TensorView* const views[] = {&a_.q, &a_.k, &a_.v, &a_.d_out, &a_.out, &a_.dq, &a_.dk, &a_.dv};
        for (std::size_t i = 0; i < tensors_.size(); ++i)
            *views[i] = tensors_[i].view();
        a_.lse = aligned(lse_);
        a_.delta = aligned(delta_);
        a_.workspace = workspace_.data();
    }
    const cuda::Arguments& arguments() const { return a_; }
    AttentionResults results() const {
        const auto result = [&](std::size_t i) { return tensors_[i].tensor().to(at::kDouble); };
        return {result(4), result(5), result(6), result(7)};
    }
    bool guards_hold() const {
        return std::ranges::all_of(
            tensors_, [](const GuardedTensor& t) { return t.guards_hold(); });
    }

private:
    static cuda::UnitList list_of(const cuda::WorkList& work, const cuda::TeamLists& teams) {
        return {work.units.data(),
                work.entries.data(),
                work.sums.data(),
                static_cast<std::int32_t>(work.units.size()),
                static_cast<std::int32_t>(work.sums.size()),
                work.slots,
                teams.teams(),
                teams.first.data(),
                teams.units.data()};
    }
    static float* aligned(std::vector<float>& values) {
        const auto address = reinterpret_cast<std::uintptr_t>(values.data());
        return values.data() + (16 - address % 16) % 16 / sizeof(float);
    }
    cuda::Schedule schedule_;
    cuda::TeamLists query_teams_, key_teams_;
    std::vector<GuardedTensor> tensors_;
    at::Tensor mask_;
    std::vector<float> lse_, delta_, workspace_;
    cuda::Arguments a_;
};

template <int HeadDim, typename Scalar>
void run_passes(const cuda::Arguments& a, std::uint64_t seed) {
    testing::EmulatedLauncher launcher{seed};
    testing::emulate_forward<HeadDim, Scalar>(launcher, a);
    testing::emulate_backward<HeadDim, Scalar>(launcher, a);
}

template <typename Scalar>
void run_kernels(const cuda::Arguments& a, std::uint64_t seed) {
    if (a.head_dim == 32)
        run_passes<32, Scalar>(a, seed);
    else
        run_passes<64, Scalar>(a, seed);
}

AttentionResults run_emulated(const CudaCase& c, const LayerLayout& layout,
                              const testing::AttentionInputs& inputs, at::ScalarType type,
                              cuda::KernelSet set, std::uint64_t seed = 1) {
    const Problem problem(c, layout, inputs, type, 1 + static_cast<int>(seed % 3));
    cuda::Arguments a = problem.arguments();
    a.kernels = set;
    if (type == at::kHalf)
        run_kernels<cuda::Fp16>(a, seed);
    else if (c.head_dim == 128)
        run_passes<128, cuda::Bf16>(a, seed);
    else
        run_kernels<cuda::Bf16>(a, seed);
    DOCTEST_CHECK(problem.guards_hold());
    return problem.results();
}

constexpr std::array<CudaCase, 7> kernel_cases{
    {{.pattern = "bigbird", .blocks = 12, .padded = 70},
     {.pattern = "bigbird", .source = RandomSource::hf, .blocks = 13, .heads = 1, .longest = 4},
     {.pattern = "bigbird", .block_size = 16, .blocks = 14, .padded = 20},
     {.pattern = "bigbird",
      .block_size = 32,
      .blocks = 13,
      .heads = 1,
      .samples = 2,
      .padded = 129,
      .longest = 3},
     {.pattern = "bigbird-etc", .block_size = 84, .blocks = 5, .heads = 1, .padded = 90},
     {.pattern = "window", .block_size = 128, .blocks = 4, .heads = 1, .longest = 2},
     {.pattern = "bigbird", .block_size = 64, .blocks = 3, .heads = 1, .padded = 70, .full = true}}};

void check_case(const CudaCase& c, at::ScalarType type, cuda::KernelSet set) {
    DOCTEST_CAPTURE(c.pattern);
    DOCTEST_CAPTURE(c.block_size);
    const LayerLayout layout = layout_of(c);
    const testing::AttentionInputs inputs = inputs_of(c, type);
    testing::check_errors(run_emulated(c, layout, inputs, type, set),
                          run_reference(layout, inputs, at::kDouble), run_reference(layout, inputs, type));
}

}  // namespace

DOCTEST_TEST_CASE("cuda_kernels: emulated, they are as near fp64 as LibTorch, bf16") {
    for (const CudaCase& c : kernel_cases)
        check_case(c, at::kBFloat16, cuda::KernelSet::general);
}

DOCTEST_TEST_CASE("cuda_kernels: emulated, they are as near fp64 as LibTorch, fp16") {
    check_case(kernel_cases[1], at::kHalf, cuda::KernelSet::general);
    check_case(kernel_cases[2], at::kHalf, cuda::KernelSet::general);
}

DOCTEST_TEST_CASE("cuda_kernels: emulated, heads of size 32 and 128") {
    CudaCase c = kernel_cases[1];
    for (const int head_dim : {32, 128}) {
        DOCTEST_CAPTURE(head_dim);
        c.head_dim = head_dim;
        check_case(c, at::kBFloat16, cuda::KernelSet::general);
    }
}

DOCTEST_TEST_CASE("cuda_kernels: emulated, Hopper's are as near fp64 as LibTorch") {
    for (const CudaCase& c : kernel_cases)
        check_case(c, at::kBFloat16, cuda::KernelSet::hopper);
    check_case(kernel_cases[1], at::kHalf, cuda::KernelSet::hopper);
}

DOCTEST_TEST_CASE(
    "cuda_kernels: emulated, neither the order of warps and copies nor the grid changes a byte") {
    const CudaCase& c = kernel_cases[3];
    const LayerLayout layout = layout_of(c);
    const testing::AttentionInputs inputs = inputs_of(c, at::kBFloat16);
    for (const cuda::KernelSet set : {cuda::KernelSet::general, cuda::KernelSet::hopper}) {
        const AttentionResults first = run_emulated(c, layout, inputs, at::kBFloat16, set, 1);
        for (const std::uint64_t seed : {2U, 3U}) {
            const AttentionResults again = run_emulated(c, layout, inputs, at::kBFloat16, set, seed);
            DOCTEST_CHECK(identical(first, again));
        }
    }
}

DOCTEST_TEST_CASE("cuda_kernels: emulated, large scores do not overflow") {
    const CudaCase c{.pattern = "bigbird", .blocks = 12, .heads = 1};
    const LayerLayout layout = layout_of(c);
    testing::AttentionInputs inputs = inputs_of(c, at::kBFloat16);
    inputs.q = inputs.q * 64;
    const AttentionResults exact = run_reference(layout, inputs, at::kDouble),
                           by_torch = run_reference(layout, inputs, at::kBFloat16);
    for (const cuda::KernelSet set : {cuda::KernelSet::general, cuda::KernelSet::hopper})
        testing::check_error(run_emulated(c, layout, inputs, at::kBFloat16, set).out, exact.out, by_torch.out,
                             2);
}

// The emulation itself: what it is there to find.

DOCTEST_TEST_CASE("simt: a missing barrier changes results with the order of warps") {
    std::set<int> seen;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::vector<int> result(64);
        testing::run_grid(1, 64, 64 * sizeof(int), seed, [&](const SimtIsa& m) {
            auto* shared = reinterpret_cast<int*>(m.shared());
            shared[m.thread()] = m.thread();
            result[static_cast<std::size_t>(m.thread())] = shared[(m.thread() + 32) % 64];
        });
        seen.insert(result[0]);
    }
    DOCTEST_CHECK(seen.size() == 2);
}

DOCTEST_TEST_CASE("simt: misuse is an error") {
    const auto message = [](const auto& kernel) {
        return testing::message_of<std::runtime_error>([&] { testing::run_grid(1, 64, 64, 1, kernel); });
    };
    DOCTEST_CHECK(message([](const SimtIsa& m) {
                      if (m.thread() < 40) m.sync_block();
                  }).find("not reached by all") != std::string::npos);
    DOCTEST_CHECK(message([](const SimtIsa& m) {
                      m.lane() == 3 ? m.sync_warp() : void(m.ballot(true));
                  }).find("different instructions") != std::string::npos);
    DOCTEST_CHECK(message([](const SimtIsa& m) {
                      alignas(16) static const std::array<std::byte, 32> source{};
                      m.copy16(m.shared(), source.data() + 2, true);
                      m.wait_copies();
                  }).find("misaligned") != std::string::npos);
    DOCTEST_CHECK(message([](const SimtIsa& m) {
                      alignas(16) static const std::array<std::byte, 16> source{};
                      m.copy16(m.shared(), source.data(), true);
                  }).find("nobody waited") != std::string::npos);
}
