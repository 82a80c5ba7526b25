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

namespace {

/// Calls compute() with memory of an earlier call, if there is one.
void with_memory(ProfileNetImpl::State& state, const std::function<void(ScoredWindows&)>& compute) {
    const Parts packed = state.packed();
    std::unique_ptr<ScoredWindows> memory = state.scored.take();
    if (!memory || memory->parts != packed) memory = std::make_unique<ScoredWindows>(packed);
    compute(*memory);
    state.scored.give(std::move(memory));
}

/// Heads of complete windows.
ProfileHeads complete_scores(const ProfileNetImpl& network, const at::Tensor& codes,
                             std::span<const std::vector<bins::Substitution>> each) {
    constexpr std::int64_t at_once = 64;
    std::vector<at::Tensor> windows, profiles, counts;
    for (std::int64_t w = 0; w < codes.size(0); ++w) {
        windows.push_back(codes[w]);
        for (const bins::Substitution& edit : each[static_cast<std::size_t>(w)]) {
            windows.push_back(codes[w].clone());
            windows.back()[edit.at] = edit.code;
        }
    }
    const at::Tensor all = at::stack(windows);
    for (const at::Tensor& some : all.split(at_once)) {
        const ProfileHeads heads = network.scores(some);
        profiles.push_back(heads.profile);
        counts.push_back(heads.counts);
    }
    return {at::cat(profiles), at::cat(counts)};
}

}  // namespace

ProfileHeads ProfileNetImpl::scores(const at::Tensor& codes) const {
    const at::NoGradGuard no_gradients;
    if (!state_->has_kernels() || !codes.is_cpu()) return forward(bins::base_channels(codes));
    const at::Tensor from = codes.contiguous();
    const auto* const windows = from.const_data_ptr<std::uint8_t>();
    HeadsWriter to(shape(), codes.size(0), true);
    with_memory(*state_, [&](ScoredWindows& memory) {
        memory.workers.run(codes.size(0), at::get_num_threads(), [&](WholeWorker& worker, std::int64_t w) {
            to.put(w, worker.heads(windows + w * shape().input, true));
        });
    });
    return to.heads();
}

bool ProfileNetImpl::computes_edits() const {
    return state_->has_kernels() &&
           std::ranges::none_of(
               state_->parts, [](const PartTensors& part) { return part.shape.pads(); });
}

ProfileHeads ProfileNetImpl::scores(const at::Tensor& codes,
                                    std::span<const std::vector<bins::Substitution>> each) const {
    if (!computes_edits() || !codes.is_cpu()) return complete_scores(*this, codes, each);
    const at::NoGradGuard no_gradients;
    std::vector<std::int64_t> first{0};  // row of each window
    for (const std::vector<bins::Substitution>& edits : each)
        first.push_back(first.back() + 1 + std::ssize(edits));
    const at::Tensor from = codes.contiguous();
    const auto* const windows = from.const_data_ptr<std::uint8_t>();
    HeadsWriter to(shape(), first.back(), true);
    with_memory(*state_, [&](ScoredWindows& memory) {
        memory.workers.run(codes.size(0), at::get_num_threads(), [&](WholeWorker& worker, std::int64_t w) {
            const auto window = static_cast<std::size_t>(w);
            std::int64_t row = first[window];
            for (const PartHeads& heads : worker.heads(windows + w * shape().input, each[window]))
                to.put(row++, heads);
        });
    });
    return to.heads();
}

}  // namespace bigbird::networks
