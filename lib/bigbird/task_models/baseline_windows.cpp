// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/baseline_windows.hpp"

#include "bigbird/baselines/window/architecture.hpp"
#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/whole_number.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/layers/layers.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/model/weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

/// Of networks whose last layers are wide: one window at a time would read all their weights for it.
constexpr std::size_t rows_together = 16;

/// What reads bases: one id a base, [CLS] and [SEP] none.
class BaseReader : public WindowNetwork {
public:
    BaseReader(const TaskInfo& info, std::int64_t labels, const at::Device& device)
        : info_(info), labels_(labels), device_(device) {}

    std::vector<at::Tensor> trained_parameters() override { return module().parameters(); }
    std::int64_t labels() const override { return labels_; }
    at::Device device() const override { return device_; }
    EncodedWindow encode(std::string_view dna, bool reverse) const override {
        EncodedWindow window;
        if (dna.find_first_not_of('N') == std::string_view::npos) return window;
        window.ids = baselines::base_codes(reverse ? genome::reverse_complement(dna) : std::string(dna));
        return window;
    }
    std::string encoding_key() const override { return "bases"; }
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens,
                                                model::GroupSizes sizes) const override {
        const auto most =
            static_cast<std::size_t>(std::max<std::int64_t>(1, batch_tokens / info_.window.size()));
        std::vector<std::size_t> all(windows.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        const bool equal = sizes == model::GroupSizes::equal;
        return model::cut_into_groups(all, equal ? std::bit_floor(std::min(most, rows_together)) : most,
                                      sizes);
    }
    void write(const fs::path& directory) const override {
        Json config = {{"architectures", {baselines::title_of(info_.architecture)}},
                       {"model_type", "bigbird_dna_baseline"},
                       {"num_labels", labels_},
                       {"bigbird_dna", {{"task_model", to_json(info_)}}}};
        write_json(directory / "config.json", config, Overwrite::allow);
        model::write_safetensors(
            model::parameters_of(*const_cast<BaseReader*>(this)->module().shared_from_this()),
            directory / "model.safetensors");
    }

protected:
    TaskInfo info_;
    std::int64_t labels_;
    at::Device device_;
};

class BaseWindows : public BaseReader {
public:
    BaseWindows(const TaskInfo& info, baselines::BaseNetwork network, std::int64_t labels,
                const at::Device& device)
        : BaseReader(info, labels, device), network_(std::move(network)) {
        network_->to(device);
    }
    torch::nn::Module& module() override { return *network_; }
    at::Tensor output_bias() override { return network_->named_parameters()["output.bias"]; }
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key) override {
        const std::int64_t length = info_.window.size();
        at::Tensor bases = at::empty({std::ssize(group), length}, at::kLong);
        auto* out = bases.mutable_data_ptr<std::int64_t>();
        for (const std::size_t index : group)
            out = std::ranges::copy(windows[index].ids, out).out;
        return network_->forward(model::copy_to_device(bases, device_), key);
    }

private:
    baselines::BaseNetwork network_;
};

class KmerWindows : public BaseReader {
public:
    KmerWindows(const TaskInfo& info, const KmerSpec& spec, std::int64_t labels, const at::Device& device)
        : BaseReader(info, labels, device),
          spec_(spec),
          kmers_(spec.word, spec.informative),
          linear_(std::make_shared<model::LinearImpl>(static_cast<std::int64_t>(kmers_.size()), labels)) {
        linear_->to(device);
    }
    torch::nn::Module& module() override { return *linear_; }
    at::Tensor output_bias() override { return linear_->bias; }
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey&) override {
        const auto features = static_cast<std::int64_t>(kmers_.size());
        at::Tensor x = at::empty({std::ssize(group), features});  // (group, features)
        float* row = x.mutable_data_ptr<float>();
        for (const std::size_t index : group) {
            kmer_features(kmers_, spec_, windows[index].ids, {row, kmers_.size()});
            row += features;
        }
        return linear_->forward(model::copy_to_device(x, device_));
    }

private:
    KmerSpec spec_;
    baselines::GappedKmers kmers_;
    std::shared_ptr<model::LinearImpl> linear_;
};

KmerSpec kmer_spec_from(const Json& json, const fs::path& where) {
    try {
        return {.word = whole_number<int>(json, "word"),
                .informative = whole_number<int>(json, "informative"),
                .unit_length = json.at("unit_length").get<bool>()};
    } catch (const Json::exception& error) {
        throw InputError("the network's description is damaged: " + std::string(error.what()), where);
    }
}

}  // namespace

Json to_json(const KmerSpec& spec) {
    return {{"word", spec.word}, {"informative", spec.informative}, {"unit_length", spec.unit_length}};
}

void kmer_features(const baselines::GappedKmers& kmers, const KmerSpec& spec,
                   std::span<const std::int32_t> bases, std::span<float> out) {
    const std::int64_t words = kmers.count(bases, out);
    double size = static_cast<double>(words);
    if (spec.unit_length) {
        size = 0;
        for (const float value : out)
            size += static_cast<double>(value) * static_cast<double>(value);
        size = std::sqrt(size);
    }
    if (size == 0) return;
    for (float& value : out)
        value = static_cast<float>(static_cast<double>(value) / size);
}

std::shared_ptr<WindowNetwork> new_base_network(const TaskInfo& info, std::int64_t labels, std::uint64_t seed,
                                                const at::Device& device) {
    return std::make_shared<BaseWindows>(
        info, baselines::make_network(info.architecture, info.window.size(), labels, seed), labels, device);
}

std::shared_ptr<WindowNetwork> linear_network(const TaskInfo& info, const at::Tensor& weight,
                                              const at::Tensor& bias, const at::Device& device) {
    const auto network =
        std::make_shared<KmerWindows>(info, kmer_spec_from(info.network, {}), weight.size(0), device);
    const at::NoGradGuard no_gradients;
    auto parameters = network->module().named_parameters();
    parameters["weight"].copy_(weight);
    parameters["bias"].copy_(bias);
    network->module().eval();
    return network;
}

std::shared_ptr<WindowNetwork> load_baseline(const fs::path& directory, const TaskInfo& info,
                                             std::int64_t labels, const at::Device& device) {
    const fs::path config = directory / "config.json";
    std::shared_ptr<WindowNetwork> network;
    try {
        baselines::require_architecture(info.architecture);
        if (baselines::is_network(info.architecture)) {
            network = new_base_network(info, labels, 0, device);
        } else {
            network =
                std::make_shared<KmerWindows>(info, kmer_spec_from(info.network, config), labels, device);
        }
    } catch (const ConfigError& error) {
        throw InputError(error.what(), config);
    }
    model::fill_parameters(network->module(), model::read_weights(directory), {},
                           directory / "model.safetensors");
    network->module().eval();
    return network;
}

}  // namespace bigbird::task_models
