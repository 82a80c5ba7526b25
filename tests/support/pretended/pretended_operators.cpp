// SPDX-License-Identifier: Apache-2.0
// The pretended device's operators: few of its own; all others are the CPU's, on tensors over the same
// memory, which is open while one computes.
#include "support/pretended/pretended_device.hpp"
#include "support/pretended/pretended_memory.hpp"
#include "support/pretended/pretended_random.hpp"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bigbird::testing {

namespace {

using Stack = torch::jit::Stack;

/// Operators that fill blocks this large are left out: they measure how fast a device is
/// (training/device/autocast.cpp).
constexpr std::size_t too_large = std::size_t{64} << 20;

bool on_device(const at::Tensor& x) {
    return x.defined() && x.device().type() == c10::kPrivateUse1;
}

bool is_too_large(const at::Tensor& x) {
    return on_device(x) && x.storage().nbytes() >= too_large;
}

/// While it lives, the memory of the tensors that went through on_cpu() is open.
class Opened {
public:
    Opened() = default;
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() {
        for (const auto& item : storages_)
            if (item.second.origin.data() != nullptr) device_pages().shut(item.second.origin.data());
    }

    /// A tensor of the CPU over the same memory.
    at::Tensor on_cpu(const at::Tensor& x) {
        if (!on_device(x)) return x;
        at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
            at::Storage(storage_of(x)), c10::DispatchKeySet(c10::DispatchKey::CPU), x.dtype());
        view.unsafeGetTensorImpl()->set_sizes_and_strides(x.sizes(), x.strides(), x.storage_offset());
        if (x.unsafeGetTensorImpl()->is_wrapped_number())
            view.unsafeGetTensorImpl()->set_wrapped_number(true);
        tensors_.push_back({x, view});
        return view;
    }

    /// An operator's result as a tensor of the device: the argument that it is, a view of one, or a new one.
    at::Tensor on_device_again(const at::Tensor& result) {
        if (!result.defined() || !result.device().is_cpu()) return result;
        for (const Both& argument : tensors_) {
            if (argument.view.is_same(result)) {
                const Both found = argument;  // tensors_ may grow
                take_new_size(found);
                return found.origin;
            }
        }
        for (const Both& argument : tensors_)
            if (argument.view.is_alias_of(result))
                return argument.origin.as_strided(result.sizes(), result.strides(), result.storage_offset());
        return moved(result);
    }

private:
    struct Storages {
        at::Storage origin, view;
    };
    struct Both {
        at::Tensor origin, view;
    };
    at::Tensor moved(const at::Tensor& x) {
        at::Tensor copy = at::empty_strided(x.sizes(), x.strides(), x.options().device(pretended_device()));
        on_cpu(copy).copy_(x);
        return copy;
    }
    /// An argument may have been empty, for the operator to give it a size.
    void take_new_size(const Both& argument) {
        if (argument.origin.sizes() == argument.view.sizes()) return;
        const at::Tensor resized = moved(argument.view);
        c10::TensorImpl* const target = argument.origin.unsafeGetTensorImpl();
        target->set_storage_keep_dtype(resized.storage());
        target->set_sizes_and_strides(resized.sizes(), resized.strides());
    }
    const at::Storage& storage_of(const at::Tensor& x) {
        const at::Storage& origin = x.storage();
        const auto [item, is_new] = storages_.try_emplace(origin.unsafeGetStorageImpl());
        if (is_new) {
            void* const data = origin.mutable_data();
            if (data != nullptr) device_pages().open(data);
            item->second = {origin, at::Storage(c10::Storage::use_byte_size_t(), origin.nbytes(),
                                                c10::DataPtr(data, c10::Device(c10::kCPU)),
                                                c10::GetAllocator(c10::kCPU), true)};
        }
        return item->second.view;
    }

    std::map<c10::StorageImpl*, Storages> storages_;
    std::vector<Both> tensors_;
};

/// Calls change(tensor) for every tensor of a value, and puts what it returns in its place.
template <typename Change>
void for_tensors(c10::IValue& value, Change&& change) {
    if (value.isTensor()) {
        value = change(value.toTensor());
    } else if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& x : value.toTensorVector())
            list.push_back(change(x));
        value = std::move(list);
    } else if (value.isOptionalTensorList()) {
        c10::List<std::optional<at::Tensor>> list;
        for (const std::optional<at::Tensor>& x : value.toOptionalTensorVector())
            list.push_back(x ? std::optional(change(*x)) : std::nullopt);
        value = std::move(list);
    }
}

bool is_cpu_scalar(const at::Tensor& x) {
    return x.device().is_cpu() && x.dim() == 0;
}

/// As on CUDA: all on one device, but for numbers.
void require_one_device(const c10::FunctionSchema& schema, c10::IValue value) {
    for_tensors(
        value,
        [&](const at::Tensor& x) {
            TORCH_CHECK(!x.defined() || on_device(x) || is_cpu_scalar(x), schema.name(),
                        ": a tensor lies on the device ", x.device(), ", another one on pretended:0");
            return x;
        });
}

/// Operators whose result's size is known when they are done.
bool has_unknown_size(const std::string& name) {
    static const std::array<std::string, 8> names{
        "aten::nonzero",  "aten::masked_select",      "aten::_unique2", "aten::unique_dim",
        "aten::bincount", "aten::unique_consecutive", "aten::argwhere", "aten::repeat_interleave"};
    return std::ranges::find(names, name) != names.end();
}

bool makes_wait(const c10::FunctionSchema& schema) {
    return has_unknown_size(schema.name()) ||
           std::ranges::any_of(
               schema.returns(),
               [](const c10::Argument& result) {
                   const auto kind = result.type()->kind();
                   return kind != c10::TypeKind::TensorType && kind != c10::TypeKind::ListType;
               });
}

bool writes_arguments_alone(const c10::FunctionSchema& schema) {
    return std::ranges::all_of(
        schema.returns(),
        [](const c10::Argument& result) {
            return result.alias_info() != nullptr && result.alias_info()->isWrite();
        });
}

/// Where an operator is left out: what it returns are the arguments that it would have written.
bool leave_out(const c10::FunctionSchema& schema, Stack& stack, std::size_t begin) {
    bool large = false;
    std::vector<c10::IValue> written;
    for (std::size_t i = begin; i < stack.size(); ++i) {
        for_tensors(stack[i], [&](const at::Tensor& x) {
            large = large || is_too_large(x);
            return x;
        });
        const c10::AliasInfo* const alias = schema.arguments()[i - begin].alias_info();
        if (alias != nullptr && alias->isWrite()) written.push_back(stack[i]);
    }
    if (!large || !writes_arguments_alone(schema)) return false;
    stack.resize(begin);
    written.resize(schema.returns().size());
    stack.insert(stack.end(), written.begin(), written.end());
    return true;
}

/// Any operator, by the CPU's kernel.
void by_cpu(const c10::OperatorHandle& op, Stack* stack) {
    const at::AutoDispatchBelowADInplaceOrView no_gradients;
    const c10::FunctionSchema& schema = op.schema();
    const std::size_t begin = stack->size() - schema.arguments().size();
    for (std::size_t i = begin; i < stack->size(); ++i)
        require_one_device(schema, (*stack)[i]);
    if (leave_out(schema, *stack, begin)) return;
    if (makes_wait(schema)) count_wait(schema.name());
    Opened opened;
    for (std::size_t i = begin; i < stack->size(); ++i) {
        c10::IValue& value = (*stack)[i];
        for_tensors(value, [&](const at::Tensor& x) { return opened.on_cpu(x); });
        if (value.isDevice() && value.toDevice().type() == c10::kPrivateUse1) value = c10::Device(c10::kCPU);
    }
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    for (std::size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i)
        for_tensors((*stack)[i], [&](const at::Tensor& x) { return opened.on_device_again(x); });
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
    return at::detail::empty_generic(size, &device_allocator(),
                                     c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                     c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
    return at::detail::empty_strided_generic(size, stride, &device_allocator(),
                                             c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                             c10::dtype_or_default(type));
}

/// Between the devices: the host waits unless it asks not to and the memory on its side is page-locked. What
/// comes to page-locked memory cannot be read before somebody has waited.
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
    if (is_too_large(from) || is_too_large(to)) return to;
    {
        Opened opened;
        opened.on_cpu(to).copy_(opened.on_cpu(from));
    }
    if (on_device(from) && on_device(to)) return to;
    const bool to_host = on_device(from);
    if (!non_blocking) {
        count_wait(to_host ? "copy to host" : "copy to device");
        wait_until(time_now());
    } else if (to_host && !to.is_pinned()) {
        count_wait("copy to pageable memory");
    } else if (to_host && to.numel() > 0) {
        copy_begins(to.const_data_ptr());
    }
    return to;
}

at::Tensor& bernoulli(at::Tensor& x, double probability, std::optional<at::Generator> generator) {
    TORCH_CHECK(generator && x.is_contiguous(), "the pretended device draws with a generator alone");
    const auto threshold = static_cast<std::uint32_t>(std::llround((1.0 - probability) * 0x1p32));
    std::vector<float> drawn(static_cast<std::size_t>(x.numel()));
    for (std::size_t i = 0; i < drawn.size(); ++i)
        drawn[i] = bits_of_element(generator->current_seed(), i) >= threshold ? 1.0F : 0.0F;
    Opened opened;
    opened.on_cpu(x).copy_(at::from_blob(drawn.data(), x.sizes(), at::kFloat));
    return x;
}

/// Module::to() may put a tensor of the device in the place of one of the CPU, as it may with one of CUDA.
bool can_take_place(const at::Tensor&, const at::Tensor&) {
    return true;
}

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                       bool transposed, at::IntArrayRef output_padding, std::int64_t groups) {
    Opened opened;
    const std::optional<at::Tensor> with = bias ? std::optional(opened.on_cpu(*bias)) : std::nullopt;
    return opened.on_device_again(at::convolution(opened.on_cpu(x), opened.on_cpu(weight), with, stride,
                                                  padding, dilation, transposed, output_padding, groups));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
    std::int64_t groups, std::array<bool, 3> wanted) {
    Opened opened;
    const std::vector<std::int64_t> bias{transposed ? weight.size(1) * groups : weight.size(0)};
    const auto [of_x, of_weight, of_bias] = at::convolution_backward(
        opened.on_cpu(gradient), opened.on_cpu(x), opened.on_cpu(weight), at::OptionalIntArrayRef(bias),
        stride, padding, dilation, transposed, output_padding, groups, wanted);
    return {opened.on_device_again(of_x), opened.on_device_again(of_weight), opened.on_device_again(of_bias)};
}

}  // namespace

}  // namespace bigbird::testing

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
    m.fallback(torch::CppFunction::makeFromBoxedFunction<&bigbird::testing::by_cpu>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
    m.impl("empty.memory_format", bigbird::testing::empty);
    m.impl("empty_strided", bigbird::testing::empty_strided);
    m.impl("as_strided", at::native::as_strided_tensorimpl);
    m.impl("view", TORCH_FN(at::native::view));
    m.impl("_reshape_alias", at::native::_reshape_alias);
    m.impl("_copy_from", bigbird::testing::copy_from);
    m.impl("_has_compatible_shallow_copy_type", bigbird::testing::can_take_place);
    m.impl("bernoulli_.float", bigbird::testing::bernoulli);
    m.impl("convolution_overrideable", bigbird::testing::convolution);
    m.impl("convolution_backward_overrideable", bigbird::testing::convolution_backward);
    // What LibTorch would put together from other operators, but has kernels for on the CPU and on CUDA.
    for (const char* name : {"native_layer_norm", "native_layer_norm_backward"})
        m.impl(name, torch::CppFunction::makeFromBoxedFunction<&bigbird::testing::by_cpu>());
}
