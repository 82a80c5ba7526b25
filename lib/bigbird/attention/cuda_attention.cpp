// SPDX-License-Identifier: Apache-2.0
// LibTorch's side of the CUDA kernels: checks, memory, streams and autograd. The kernels' library is opened
// on first use; a layout's schedule is made once per device and kept as long as the layout exists.
#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/attention/cuda/host/schedule.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

namespace bigbird::attention {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

template <typename T>
at::Tensor to_device(const std::vector<T>& values, const at::Device& device) {
    const auto size = static_cast<std::int64_t>(values.size() * sizeof(T));
    const at::Tensor bytes = at::empty({size}, at::kByte);
    if (size > 0)
        std::memcpy(bytes.mutable_data_ptr<std::uint8_t>(), values.data(), static_cast<std::size_t>(size));
    return bytes.to(device);
}

/// A work list on a device.
struct DeviceWork {
    at::Tensor units, entries, sums;  // bytes
    cuda::UnitList list;

    DeviceWork(const cuda::WorkList& work, const at::Device& device)
        : units(to_device(work.units, device)),
          entries(to_device(work.entries, device)),
          sums(to_device(work.sums, device)),
          list{static_cast<const cuda::Unit*>(units.const_data_ptr()),
               static_cast<const cuda::Entry*>(entries.const_data_ptr()),
               static_cast<const cuda::Sum*>(sums.const_data_ptr()),
               static_cast<std::int32_t>(work.units.size()),
               static_cast<std::int32_t>(work.sums.size()),
               work.slots} {}
};

/// The teams of a persistent grid, and their lists on a device.
struct DeviceTeams {
    std::int32_t count;
    at::Tensor first, units;  // bytes

    DeviceTeams(const cuda::TeamLists& lists, const at::Device& device)
        : count(lists.teams()),
          first(to_device(lists.first, device)),
          units(to_device(lists.units, device)) {}
    void add_to(cuda::UnitList& list) const {
        list.team_count = count;
        list.team_first = static_cast<const std::int32_t*>(first.const_data_ptr());
        list.team_units = static_cast<const std::int32_t*>(units.const_data_ptr());
    }
};
struct PassTeams {
    DeviceTeams queries, keys;
};

/// A schedule and its lists on a device. Thread-safe.
class DeviceSchedule {
public:
    DeviceSchedule(const LayerLayout& layout, const at::Device& device)
        : schedule(cuda::make_schedule(*layout.layouts, layout.block_size)),
          queries(schedule.queries, device),
          keys(schedule.keys, device),
          biases(to_device(schedule.biases, device)),
          device_(device) {}

    /// The lists of the persistent grids for `samples` samples, made at first use.
    const PassTeams& teams(int samples) const {
        const std::scoped_lock lock(mutex_);
        const auto found = teams_.find(samples);
        return found != teams_.end() ? found->second
                                     : teams_.emplace(samples, make_teams(samples)).first->second;
    }

    const cuda::Schedule schedule;
    const DeviceWork queries, keys;
    const at::Tensor biases;

private:
    PassTeams make_teams(int samples) const {
        const int blocks = cuda::kernel_library().persistent_blocks(device_.index());
        const auto share = [&](const cuda::WorkList& work, int teams) {
            return DeviceTeams(cuda::share_units(work, samples, blocks, teams), device_);
        };
        return {share(schedule.queries, cuda::query_teams), share(schedule.keys, cuda::key_teams)};
    }
    at::Device device_;
    mutable std::mutex mutex_;
    mutable std::map<int, PassTeams> teams_;
};

/// Schedules by layout and device are kept as long as their layouts live. Thread-safe.
std::shared_ptr<const DeviceSchedule> device_schedule(const LayerLayout& layout, const at::Device& device) {
    struct Kept {
        std::weak_ptr<const std::vector<BlockLayout>> layouts;
        std::shared_ptr<const DeviceSchedule> schedule;
    };
    static std::mutex mutex;
    static std::map<std::pair<const void*, std::string>, Kept> all;
    const std::scoped_lock lock(mutex);
    std::erase_if(all, [](const auto& item) { return item.second.layouts.expired(); });
    Kept& kept = all[{layout.layouts.get(), device.str()}];
    if (!kept.schedule) kept = {layout.layouts, std::make_shared<DeviceSchedule>(layout, device)};
    return kept.schedule;
}

cuda::TensorView view_of(const at::Tensor& x) {
    return {x.data_ptr(), x.stride(0), x.stride(1), x.stride(2)};
}

/// Returns the tensor itself if the kernels can read it (rows of 16-byte chunks, cuda::TensorView), else a
/// copy.
at::Tensor aligned(const at::Tensor& x) {
    const bool strides_fit =
        x.stride(3) == 1 && std::ranges::all_of(x.strides().slice(0, 3), [](std::int64_t stride) {
            return stride > 0 && stride % 8 == 0;
        });
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 16 == 0;
    return strides_fit && is_aligned ? x.detach() : x.detach().clone(at::MemoryFormat::Contiguous);
}

/// Gradients of q, k and v, adjacent for each token: (batch, length, 3, heads, head_dim). The backward pass
/// of a packed product reads this without a copy.
std::array<at::Tensor, 3> empty_gradients(const at::Tensor& like) {
    const at::Tensor all = at::empty({like.size(0), like.size(2), 3, like.size(1), like.size(3)},
                                     like.options().requires_grad(false));
    const auto part = [&](std::int64_t i) { return all.select(2, i).transpose(1, 2); };
    return {part(0), part(1), part(2)};
}

at::Tensor empty_floats(const at::Tensor& q, at::IntArrayRef shape) {
    return at::empty(shape, q.options().dtype(at::kFloat).requires_grad(false));
}

/// (samples, heads, tiles, tile_tokens)
at::Tensor empty_row_sums(const at::Tensor& q, const cuda::Schedule& schedule) {
    return empty_floats(q, {q.size(0), q.size(1), schedule.tiling.tiles, cuda::tile_tokens});
}

at::Tensor empty_workspace(const at::Tensor& q, const cuda::Schedule& schedule,
                           std::size_t (*floats)(const cuda::Schedule&, int, int)) {
    const std::size_t size = floats(schedule, static_cast<int>(q.size(0)), static_cast<int>(q.size(3)));
    return empty_floats(q, {static_cast<std::int64_t>(size)});
}

/// The layout and the kernels.
struct Choice : torch::CustomClassHolder {
    Choice(LayerLayout of, cuda::KernelSet by, cuda::KernelSet gradients_by)
        : layout(std::move(of)), forward(by), backward(gradients_by) {}
    LayerLayout layout;
    cuda::KernelSet forward, backward;
};

cuda::Arguments arguments_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& key_mask, const DeviceSchedule& schedule,
                             const LayerLayout& layout, cuda::KernelSet kernels) {
    cuda::Arguments a;
    a.kernels = kernels;
    a.element = element_of(q.scalar_type());
    a.samples = static_cast<std::int32_t>(q.size(0));
    a.heads = static_cast<std::int32_t>(q.size(1));
    a.head_dim = static_cast<std::int32_t>(q.size(3));
    a.zero_padded_queries = layout.full ? 0 : 1;
    a.tiling = schedule.schedule.tiling;
    a.key_mask = static_cast<const std::uint8_t*>(key_mask.const_data_ptr());
    a.biases = static_cast<const float*>(schedule.biases.const_data_ptr());
    a.queries = schedule.queries.list;
    a.keys = schedule.keys.list;
    if (kernels == cuda::KernelSet::hopper) {
        const PassTeams& teams = schedule.teams(a.samples);
        teams.queries.add_to(a.queries);
        teams.keys.add_to(a.keys);
    }
    a.q = view_of(q);
    a.k = view_of(k);
    a.v = view_of(v);
    return a;
}

/// Runs a pass of the library.
void run(int (*pass)(const cuda::Arguments&, void*), const cuda::Arguments& arguments,
         const at::Device& device) {
    run_kernels(
        device, "the attention kernels", [&](void* stream) { return pass(arguments, stream); });
}

class CudaAttention : public torch::autograd::Function<CudaAttention> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const at::Tensor& key_mask,
                              const c10::intrusive_ptr<Choice>& choice) {
        const at::Tensor queries = aligned(q), keys = aligned(k), values = aligned(v),
                         mask = key_mask.contiguous(), out = empty_result(q);
        const auto schedule = device_schedule(choice->layout, q.device());
        const at::Tensor lse = empty_row_sums(q, schedule->schedule),
                         workspace = empty_workspace(q, schedule->schedule, cuda::forward_workspace);
        cuda::Arguments a =
            arguments_of(queries, keys, values, mask, *schedule, choice->layout, choice->forward);
        a.out = view_of(out);
        a.lse = lse.mutable_data_ptr<float>();
        a.workspace = workspace.mutable_data_ptr<float>();
        run(cuda::kernel_library().forward, a, q.device());
        context->save_for_backward({queries, keys, values, mask, out, lse});
        context->saved_data["choice"] = c10::IValue::make_capsule(choice);
        return out;
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const variable_list saved = context->get_saved_variables();
        const auto choice =
            c10::static_intrusive_pointer_cast<Choice>(context->saved_data["choice"].toCapsule());
        const at::Tensor q = saved[0], d_out = aligned(gradients[0].to(q.scalar_type()));
        const auto schedule = device_schedule(choice->layout, q.device());
        const auto [dq, dk, dv] = empty_gradients(q);
        const at::Tensor delta = empty_row_sums(q, schedule->schedule),
                         workspace = empty_workspace(q, schedule->schedule, cuda::backward_workspace);
        cuda::Arguments a =
            arguments_of(q, saved[1], saved[2], saved[3], *schedule, choice->layout, choice->backward);
        a.out = view_of(saved[4]);
        a.lse = saved[5].mutable_data_ptr<float>();
        a.delta = delta.mutable_data_ptr<float>();
        a.workspace = workspace.mutable_data_ptr<float>();
        a.d_out = view_of(d_out);
        a.dq = view_of(dq);
        a.dk = view_of(dk);
        a.dv = view_of(dv);
        const bool of_queries = context->needs_input_grad(0),
                   of_keys = context->needs_input_grad(1) || context->needs_input_grad(2);
        a.gradients = of_queries && of_keys ? cuda::Gradients::all
                      : of_queries          ? cuda::Gradients::of_queries
                                            : cuda::Gradients::of_keys;
        run(cuda::kernel_library().backward, a, q.device());
        // Returns only computed gradients.
        return {of_queries ? dq : at::Tensor(), of_keys ? dk : at::Tensor(), of_keys ? dv : at::Tensor(),
                at::Tensor(), at::Tensor()};
    }
};

}  // namespace

std::optional<cuda::KernelSet> best_kernels(const at::Device& device, at::ScalarType type,
                                            std::int64_t head_dim) {
    if (!is_half(type) || !cuda::kernels_serve(device.is_cuda()) || !cuda::has_kernel_library()) return {};
    const c10::OptionalDeviceGuard guard(device.is_cpu() ? std::nullopt : std::optional(device));
    for (const cuda::KernelSet set : {cuda::KernelSet::hopper, cuda::KernelSet::general}) {
        const cuda::KernelTable& table = cuda::kernel_library();
        if (table.supports(set, static_cast<int>(head_dim)) && table.runs(set)) return set;
    }
    return {};
}

at::Tensor cuda_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& key_mask, const LayerLayout& layout, cuda::KernelSet forward,
                          std::optional<cuda::KernelSet> gradients) {
    const cuda::KernelSet backward = gradients.value_or(forward);
    if (!cuda::kernels_serve(q.is_cuda()) || !is_half(q.scalar_type()))
        throw ConfigError("the attention backend fused needs bfloat16 or float16 on a GPU: choose blocked");
    const auto are_there = [&](cuda::KernelSet kernels) {
        return cuda::kernel_library().supports(kernels, static_cast<int>(q.size(3)));
    };
    if (!are_there(forward) || !are_there(backward)) {
        throw ConfigError("the attention backend fused was built without kernels for heads of size " +
                          std::to_string(q.size(3)) + ": choose blocked, or build with BIGBIRD_ALL_KERNELS");
    }
    return CudaAttention::apply(q, k, v, key_mask, c10::make_intrusive<Choice>(layout, forward, backward));
}

void run_kernels(const at::Device& device, const std::string& what, const std::function<int(void*)>& launch) {
    int error = 0;
    if (device.is_cpu()) {  // emulated
        error = launch(nullptr);
    } else {
        const c10::DeviceGuard guard(device);
        error = launch(c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle());
    }
    if (error != 0) throw DeviceError(what + " failed: " + cuda::kernel_library().error_text(error));
}

}  // namespace bigbird::attention
