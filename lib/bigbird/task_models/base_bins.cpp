// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/base_bins.hpp"

#include "bigbird/model/device/device.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/task_models/task_model.hpp"

#include <algorithm>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

class BaseBins : public BinNetwork {
public:
    BaseBins(bins::BinsNetwork network, const Computing& computing)
        : network_(std::move(network)), computing_(computing) {
        network_->set_attention_backend(computing.attention);
    }
    std::shared_ptr<torch::nn::Module> module() const override { return network_.ptr(); }
    std::vector<at::Tensor> trained_parameters() const override { return network_->parameters(); }
    at::Tensor output_bias() const override { return network_->output_bias(); }
    at::Tensor first_filters() const override { return network_->first_filters(); }
    bins::OwnMotifs own_motifs() const override { return network_->own_motifs(); }
    std::int64_t labels() const override { return network_->labels(); }
    std::int64_t hidden_size() const override { return network_->config().encoder.hidden_size; }
    at::Device device() const override { return network_->output_bias().device(); }
    bins::Grid grid() const override { return network_->config().grid(); }
    std::int64_t window_positions() const override { return network_->config().window_positions(); }
    /// Codes of bases as ids.
    EncodedWindow encode(std::string_view dna) const override {
        EncodedWindow window;
        const at::Tensor codes = bins::codes_of(dna);
        const auto* from = codes.const_data_ptr<std::uint8_t>();
        window.ids.assign(from, from + codes.numel());
        return window;
    }
    std::string encoding_key() const override { return "bases"; }
    at::Tensor features(std::span<const EncodedWindow> windows, const model::DropoutKey& key) const override {
        at::Tensor codes = at::empty({std::ssize(windows), grid().window_bases()}, at::kByte);
        auto* out = codes.mutable_data_ptr<std::uint8_t>();
        for (const EncodedWindow& window : windows) {
            out = std::ranges::transform(window.ids, out, [](std::int32_t id) {
                      return static_cast<std::uint8_t>(id);
                  }).out;
        }
        const training::Autocast autocast(computing_.type, device());
        return network_.ptr()->features(model::copy_to_device(codes, device()), key);
    }
    at::Tensor predict(const at::Tensor& features, const model::DropoutKey& key) const override {
        const training::Autocast autocast(computing_.type, device());
        return network_.ptr()->predict(features, key).to(at::kFloat);
    }
    std::shared_ptr<BinNetwork> copy() const override {
        bins::BinsNetwork other(network_->config(), network_->labels());
        other->to(device());
        model::copy_parameters(*other, *network_);
        return base_bins(std::move(other), computing_);
    }
    void write(const TaskInfo& info, const fs::path& directory) const override {
        TaskInfo written = info;
        written.network = bins::to_json(network_->config());
        write_json(directory / "config.json",
                   {{"architectures", {"BigBirdBins"}},
                    {"model_type", "bigbird_dna_bins"},
                    {"num_labels", network_->labels()},
                    {"bigbird_dna", {{"task_model", to_json(written)}}}},
                   Overwrite::allow);
        model::write_safetensors(model::parameters_of(*network_), directory / "model.safetensors");
    }

private:
    bins::BinsNetwork network_;
    Computing computing_;
};

}  // namespace

std::shared_ptr<BinNetwork> base_bins(bins::BinsNetwork network, const Computing& computing) {
    return std::make_shared<BaseBins>(std::move(network), computing);
}

std::shared_ptr<BinNetwork> load_base_bins(const fs::path& directory, const TaskInfo& info,
                                           std::int64_t labels, const at::Device& device,
                                           const Computing& computing) {
    bins::BinsNetwork network(bins::config_from_json(info.network, directory / "config.json"), labels);
    network->to(device);
    model::fill_parameters(*network, model::read_weights(directory), {}, directory / "model.safetensors");
    network->eval();
    return base_bins(std::move(network), computing);
}

}  // namespace bigbird::task_models
