// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/profile_network.hpp"

#include "bigbird/bins/stem.hpp"
#include "bigbird/model/layers/layers.hpp"
#include "bigbird/networks/profiles/profile_state.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <string>

namespace bigbird::networks {

namespace {

using PartShapes = std::vector<std::pair<std::string, ProfileShape>>;

at::Tensor parameter(torch::nn::Module& of, const std::string& name, at::IntArrayRef sizes) {
    return of.register_parameter(name, at::zeros(sizes));
}

LayerTensors layer_parameters(torch::nn::Module& layers, const ProfileShape& shape, std::int64_t i) {
    const auto layer = model::add_group(layers, std::to_string(i));
    const std::int64_t filters = shape.filters, inner = filters * shape.expansion;
    LayerTensors tensors;
    if (shape.trunk == Trunk::cherimoya) {
        tensors.taps = parameter(*layer, "taps", {3, filters});
        tensors.linear1 = parameter(*model::add_group(*layer, "linear1"), "weight", {inner, filters});
        tensors.linear2 = parameter(*model::add_group(*layer, "linear2"), "weight", {filters, inner});
    } else {
        tensors.weight = parameter(*layer, "weight", {filters, filters, 3});
        tensors.bias = parameter(*layer, "bias", {filters});
    }
    return tensors;
}

PartTensors part_parameters(torch::nn::Module& of, const ProfileShape& shape) {
    const auto stem = model::add_group(of, "stem"), layers = model::add_group(of, "layers"),
               profile = model::add_group(of, "profile"), counts = model::add_group(of, "counts");
    const auto groups = std::ssize(shape.groups);
    PartTensors tensors{
        .shape = shape,
        .stem = parameter(*stem, "weight", {shape.filters, 4, shape.stem}),
        .stem_bias = parameter(*stem, "bias", {shape.filters}),
        .layers = {},
        .profile = parameter(*profile, "weight", {shape.columns(), shape.filters, shape.head}),
        .profile_bias = parameter(*profile, "bias", {shape.columns()}),
        .counts = parameter(*counts, "weight", {groups, shape.filters}),
        .counts_bias = parameter(*counts, "bias", {groups})};
    for (std::int64_t i = 0; i < shape.layers; ++i)
        tensors.layers.push_back(layer_parameters(*layers, shape, i));
    return tensors;
}

std::vector<at::Tensor> tensors_of(const PartTensors& part) {
    std::vector<at::Tensor> all{part.stem,         part.stem_bias, part.profile,
                                part.profile_bias, part.counts,    part.counts_bias};
    for (const LayerTensors& layer : part.layers)
        for (const at::Tensor& tensor : {layer.weight, layer.bias, layer.taps, layer.linear1, layer.linear2})
            if (tensor.defined()) all.push_back(tensor);
    return all;
}

PartShapes shapes_of(const ProfileModel& model) {
    PartShapes parts;
    for (const ProfilePart& part : model.parts)
        parts.emplace_back(part.name, part.shape);
    return parts;
}

}  // namespace

ProfileNetImpl::ProfileNetImpl(PartShapes parts) : state_(std::make_shared<State>()) {
    for (const auto& [name, shape] : parts) {
        shape.validate();
        if (name.empty())
            state_->parts.push_back(part_parameters(*this, shape));
        else
            state_->parts.push_back(part_parameters(*model::add_group(*this, name), shape));
    }
}

ProfileNetImpl::ProfileNetImpl(const ProfileModel& model) : ProfileNetImpl(shapes_of(model)) {
    const at::NoGradGuard no_gradients;
    for (const ProfilePart& part : model.parts) {
        for (auto& parameter : named_parameters()) {
            const std::string prefix = part.name.empty() ? "" : part.name + ".";
            if (!parameter.key().starts_with(prefix)) continue;
            const StoredTensor& stored = part.weights.at(parameter.key().substr(prefix.size()));
            TORCH_CHECK(parameter.value().sizes() == at::IntArrayRef(stored.shape),
                        "a weight has another shape than its network: ", parameter.key());
            std::copy(stored.values.begin(), stored.values.end(), parameter.value().data_ptr<float>());
        }
    }
}

const ProfileShape& ProfileNetImpl::shape() const {
    return state_->parts.front().shape;
}

at::Tensor ProfileNetImpl::output_bias() const {
    return state_->parts.front().counts_bias;
}

ProfileHeads ProfileNetImpl::forward(const at::Tensor& letters) const {
    ProfileHeads heads = twin_heads(state_->parts.front(), letters);
    for (std::size_t i = 1; i < state_->parts.size(); ++i)
        heads = joined_heads(heads, twin_heads(state_->parts[i], letters));
    return heads;
}

bool ProfileNetImpl::State::has_kernels() const {
    return parts.front().stem.is_cpu() && parts.front().stem.scalar_type() == at::kFloat;
}

Parts ProfileNetImpl::State::packed() {
    const std::scoped_lock lock(mutex_);
    std::vector<std::uint64_t> now;
    bool tells = true;  // a tensor made in inference mode does not say when it was changed
    for (const PartTensors& part : parts) {
        for (const at::Tensor& tensor : tensors_of(part)) {
            tells = tells && !tensor.is_inference();
            now.push_back(reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()));
            now.push_back(tells ? static_cast<std::uint64_t>(tensor._version()) : 0);
        }
    }
    if (packed_ && tells && now == packed_from_) return packed_;
    std::vector<PackedPart> made;
    for (const PartTensors& part : parts)
        made.emplace_back(part);
    packed_ = std::make_shared<const std::vector<PackedPart>>(std::move(made));
    packed_from_ = std::move(now);
    return packed_;
}

ProfileHeads ProfileNetImpl::scores(const at::Tensor& codes) const {
    const at::NoGradGuard no_gradients;
    if (!state_->has_kernels() || !codes.is_cpu()) return forward(bins::base_channels(codes));
    const auto packed = state_->packed();
    const at::Tensor from = codes.contiguous();
    const auto* const windows = from.const_data_ptr<std::uint8_t>();
    HeadsWriter to(shape(), codes.size(0), true);
    std::unique_ptr<ScoredWindows> memory = state_->scored.take();
    if (!memory || memory->parts != packed) memory = std::make_unique<ScoredWindows>(packed);
    memory->workers.run(codes.size(0), at::get_num_threads(), [&](WholeWorker& worker, std::int64_t w) {
        to.put(w, worker.heads(windows + w * shape().input, true));
    });
    state_->scored.give(std::move(memory));
    return to.heads();
}

}  // namespace bigbird::networks
