// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/bins_model.hpp"

#include "bigbird/bins/grid.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/model/weights.hpp"

#include <numeric>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

class MiddleBin : public WindowNetwork {
public:
    MiddleBin(bins::BinsNetwork network, const TaskInfo& info, const Computing& computing,
              const at::Device& device)
        : network_(std::move(network)), info_(info), computing_(computing), device_(device) {
        network_->set_attention_backend(computing.attention);
        const bins::BinsConfig& config = network_->config();
        const std::int64_t begin = config.window_bases() / 2 - config.bin / 2;
        shares_ = bins::shares_of(begin, begin + config.bin, config.bin);
    }
    torch::nn::Module& module() override { return *network_; }
    std::vector<at::Tensor> trained_parameters() override { return network_->parameters(); }
    at::Tensor output_bias() override { return network_->output_bias(); }
    std::int64_t labels() const override { return network_->labels(); }
    at::Device device() const override { return device_; }
    EncodedWindow encode(std::string_view dna, bool reverse) const override {
        EncodedWindow window;
        if (dna.find_first_not_of('N') == std::string_view::npos) return window;
        const std::string read = reverse ? genome::reverse_complement(dna) : std::string(dna);
        const at::Tensor codes = bins::codes_of(read);
        const auto* from = codes.const_data_ptr<std::uint8_t>();
        window.ids.assign(from, from + codes.numel());
        return window;
    }
    std::string encoding_key() const override { return "bases"; }
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens,
                                                model::GroupSizes sizes) const override {
        std::vector<std::size_t> all(windows.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        const std::int64_t most = batch_tokens / network_->config().window_positions();
        return model::cut_into_groups(all, static_cast<std::size_t>(std::max<std::int64_t>(1, most)), sizes);
    }
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key) override {
        at::Tensor codes = at::empty({std::ssize(group), network_->config().window_bases()}, at::kByte);
        auto* out = codes.mutable_data_ptr<std::uint8_t>();
        for (const std::size_t index : group) {
            out = std::transform(windows[index].ids.begin(), windows[index].ids.end(), out,
                                 [](std::int32_t id) { return static_cast<std::uint8_t>(id); });
        }
        const at::Tensor all = bin_logits(network_, model::copy_to_device(codes, device_), computing_.type,
                                          key);  // (group, bins, labels)
        at::Tensor sum = at::zeros({all.size(0), all.size(2)}, all.options());
        for (const bins::BinShare& share : shares_)
            sum += all.select(1, share.bin) * share.weight;
        return sum;
    }
    void write(const fs::path& directory) const override { write_bins_model(network_, info_, directory); }

private:
    bins::BinsNetwork network_;
    TaskInfo info_;
    Computing computing_;
    at::Device device_;
    std::vector<bins::BinShare> shares_;
};

}  // namespace

at::Tensor window_codes(std::span<const std::string> sequences, const at::Device& device) {
    std::vector<at::Tensor> codes;
    for (const std::string& dna : sequences)
        codes.push_back(bins::codes_of(dna));
    return model::copy_to_device(at::stack(codes), device);
}

at::Tensor bin_logits(bins::BinsNetwork& network, const at::Tensor& codes, training::ComputeType type,
                      const model::DropoutKey& key) {
    const training::Autocast autocast(type, codes.device());
    return network->forward(codes, key).to(at::kFloat);
}

void write_bins_model(const bins::BinsNetwork& network, const TaskInfo& info, const fs::path& directory) {
    TaskInfo written = info;
    written.network = bins::to_json(network->config());
    write_json(directory / "config.json",
               {{"architectures", {"BigBirdBins"}},
                {"model_type", "bigbird_dna_bins"},
                {"num_labels", network->labels()},
                {"bigbird_dna", {{"task_model", to_json(written)}}}},
               Overwrite::allow);
    model::write_safetensors(model::parameters_of(*network), directory / "model.safetensors");
}

bins::BinsNetwork load_bins_network(const fs::path& directory, const TaskInfo& info, std::int64_t labels,
                                    const at::Device& device) {
    bins::BinsNetwork network(bins::config_from_json(info.network, directory / "config.json"), labels);
    network->to(device);
    model::fill_parameters(*network, model::read_weights(directory), {}, directory / "model.safetensors");
    network->eval();
    return network;
}

std::shared_ptr<WindowNetwork> bin_in_the_middle(bins::BinsNetwork network, const TaskInfo& info,
                                                 const Computing& computing, const at::Device& device) {
    return std::make_shared<MiddleBin>(std::move(network), info, computing, device);
}

}  // namespace bigbird::task_models
