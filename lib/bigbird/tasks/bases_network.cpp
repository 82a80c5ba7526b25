// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/bases_network.hpp"

#include "bigbird/baselines/window/architecture.hpp"
#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/layers/layers.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/tasks/sequence_network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

/// Number of windows computed together, for networks with wide last layers, whose weights would otherwise be
/// read for every window.
constexpr std::size_t rows_together = 16;

/// Bin models whose ids are bases, without [CLS] and [SEP].
class BaseBins : public BinNetwork {
public:
    BaseBins(bins::BinsNetwork network, const ComputeOptions& computing)
        : network_(std::move(network)), computing_(computing) {}
    std::shared_ptr<torch::nn::Module> module() const override { return network_.ptr(); }
    at::Tensor output_bias() const override { return network_->output_bias(); }
    bins::BinsNetwork base_network() const override { return network_; }
    std::int64_t hidden_size() const override { return network_->config().feature_size(); }
    bins::Grid grid() const override { return network_->config().grid(); }
    std::int64_t window_positions() const override { return network_->config().window_positions(); }
    /// Maps of single bases fill a GPU long before positions do.
    std::int64_t windows_at_once(std::int64_t batch_tokens) const override {
        constexpr std::int64_t bytes_of_value = 40;
        const std::int64_t windows = BinNetwork::windows_at_once(batch_tokens);
        if (device().is_cpu()) return windows;
        const std::int64_t values = grid().window_bases() * (network_->config().stages.front().channels +
                                                             (has_profile() ? bins::profile_channels : 0));
        return std::clamp<std::int64_t>(model::device_memory(device()) / (bytes_of_value * values), 1,
                                        windows);
    }
    EncodedWindow encode(std::string_view dna, bool reverse) const override {
        EncodedWindow window;
        const at::Tensor codes = bins::codes_of(reverse ? genome::reverse_complement(dna) : std::string(dna));
        const auto* from = codes.const_data_ptr<std::uint8_t>();
        window.ids.assign(from, from + codes.numel());
        return window;
    }
    std::string encoding_key() const override { return "bases"; }
    at::Tensor features(std::span<const EncodedWindow> windows, const model::DropoutKey& key) const override {
        at::Tensor codes = at::empty({std::ssize(windows), grid().window_bases()}, at::kByte);
        auto* out = codes.mutable_data_ptr<std::uint8_t>();
        for (const EncodedWindow& window : windows) {
            out = std::ranges::transform(
                      window.ids, out, [](std::int32_t id) { return static_cast<std::uint8_t>(id); })
                      .out;
        }
        const training::Autocast autocast(type(), device());
        return network_.ptr()->features(model::copy_to_device(codes, device()), key);
    }
    at::Tensor predict(const at::Tensor& features, const model::DropoutKey& key) const override {
        const training::Autocast autocast(type(), device());
        return network_.ptr()->predict(features, key).to(at::kFloat);
    }
    std::unique_ptr<NetworkWindow> edit(std::string_view window, bool reverse,
                                        const Job& job) const override {
        if (has_profile()) return BinNetwork::edit(window, reverse, job);
        return std::make_unique<Edited>(*this, window, reverse);
    }
    std::shared_ptr<TaskNetwork> twin() const override {
        bins::BinsNetwork other(network_->config(), labels());
        other->to(device());
        model::copy_parameters(*other, *network_);
        return base_bins(std::move(other), computing_);
    }
    void write(const TaskInfo& info, const fs::path& directory) const override {
        TaskInfo written = info;
        written.network = bins::to_json(network_->config());
        write_folder(*this, "bigbird_dna_bins", written, directory);
    }

private:
    bool has_profile() const { return network_->config().has_profile(); }
    /// Unless a type was chosen, fp32 for scores, whose differences between alleles bf16 would drown, and for
    /// narrow networks, which are faster so.
    training::ComputeType type() const {
        constexpr std::int64_t wide = 512;
        const bool gains = at::GradMode::is_enabled() && network_->config().encoder.hidden_size >= wide;
        return computing_.is_default && !gains ? training::ComputeType::fp32 : computing_.type;
    }

    class Edited : public NetworkWindow {
    public:
        Edited(const BaseBins& network, std::string_view window, bool reverse)
            : network_(network), reverse_(reverse), window_([&] {
                  const training::Autocast autocast(network.type(), network.device());
                  return bins::SubstitutedWindow(network.network_, codes_of(window));
              }()) {}
        at::Tensor logits() const override {
            const training::Autocast autocast(network_.type(), network_.device());
            const at::Tensor logits = network_.predict(window_.features(), {})[0];
            return reverse_ ? logits.flip(0) : logits;
        }
        at::Tensor logits(std::span<const bins::Substitution> each,
                          const at::Tensor& segments) const override {
            const training::Autocast autocast(network_.type(), network_.device());
            if (!reverse_) return predict_rows(window_.features(each, segments));
            constexpr std::uint8_t last_letter = 3;
            const bins::Grid grid = network_.grid();
            std::vector<bins::Substitution> turned(each.begin(), each.end());
            for (auto& [at, code] : turned) {
                at = grid.window_bases() - 1 - at;
                if (code <= last_letter) code = static_cast<std::uint8_t>(last_letter - code);
            }
            return predict_rows(window_.features(turned, grid.window_bins - 1 - segments));
        }
        at::Tensor logits(std::span<const std::string> edited) const override {
            const training::Autocast autocast(network_.type(), network_.device());
            std::vector<at::Tensor> all;
            for (const std::string& text : edited)
                all.push_back(network_.predict(window_.edited_features(codes_of(text)), {})[0]);
            const at::Tensor logits = at::stack(all);
            return reverse_ ? logits.flip(1) : logits;
        }

    private:
        /// (substitutions, bins, labels), each row computed by itself (model::linear).
        at::Tensor predict_rows(const at::Tensor& features) const {
            constexpr std::int64_t few = 64;
            std::vector<at::Tensor> all;
            for (const at::Tensor& rows : features.flatten(0, 1).split(few))
                all.push_back(network_.predict(rows, {}));
            return at::cat(all).view({features.size(0), features.size(1), -1});
        }
        at::Tensor codes_of(std::string_view dna) const {
            const at::Tensor codes =
                bins::codes_of(reverse_ ? genome::reverse_complement(dna) : std::string(dna));
            return model::copy_to_device(codes, network_.device());
        }

        const BaseBins& network_;
        bool reverse_;
        bins::SubstitutedWindow window_;
    };

    bins::BinsNetwork network_;
    ComputeOptions computing_;
};

/// A baseline, which reads a window at once.
class Baseline : public TaskNetwork {
public:
    Baseline(std::shared_ptr<torch::nn::Module> module, const char* bias, std::int64_t window,
             const at::Device& device)
        : module_(std::move(module)), window_(window) {
        module_->to(device);
        bias_ = module_->named_parameters()[bias];
    }
    std::shared_ptr<torch::nn::Module> module() const override { return module_; }
    at::Tensor output_bias() const override { return bias_; }
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
        const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, batch_tokens / window_));
        std::vector<std::size_t> all(windows.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        const bool equal = sizes == model::GroupSizes::equal;
        return model::cut_into_groups(all, equal ? std::bit_floor(std::min(most, rows_together)) : most,
                                      sizes);
    }
    void write(const TaskInfo& info, const fs::path& directory) const override {
        write_folder(*this, "bigbird_dna_baseline", info, directory);
    }

protected:
    std::shared_ptr<torch::nn::Module> module_;
    std::int64_t window_;
    at::Tensor bias_;
};

class Convolutions : public Baseline {
public:
    Convolutions(baselines::BaseNetwork network, std::int64_t window, const at::Device& device)
        : Baseline(network, "output.bias", window, device), network_(std::move(network)) {}
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key) const override {
        at::Tensor bases = at::empty({std::ssize(group), window_}, at::kLong);
        auto* out = bases.mutable_data_ptr<std::int64_t>();
        for (const std::size_t index : group)
            out = std::ranges::copy(windows[index].ids, out).out;
        return network_->forward(model::copy_to_device(bases, device()), key).unsqueeze(1);
    }

private:
    baselines::BaseNetwork network_;
};

class Kmers : public Baseline {
public:
    Kmers(const KmerSpec& spec, std::int64_t labels, std::int64_t window, const at::Device& device)
        : Kmers(spec, baselines::GappedKmers(spec.word, spec.informative), labels, window, device) {}
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey&) const override {
        const auto features = static_cast<std::int64_t>(kmers_.size());
        at::Tensor x = at::empty({std::ssize(group), features});  // (group, features)
        float* row = x.mutable_data_ptr<float>();
        for (const std::size_t index : group) {
            kmer_features(kmers_, spec_, windows[index].ids, {row, kmers_.size()});
            row += features;
        }
        return linear_->forward(model::copy_to_device(x, device())).unsqueeze(1);
    }

private:
    Kmers(const KmerSpec& spec, baselines::GappedKmers kmers, std::int64_t labels, std::int64_t window,
          const at::Device& device)
        : Baseline(std::make_shared<model::LinearImpl>(static_cast<std::int64_t>(kmers.size()), labels),
                   "bias", window, device),
          spec_(spec),
          kmers_(std::move(kmers)),
          linear_(std::dynamic_pointer_cast<model::LinearImpl>(module_)) {}

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

std::shared_ptr<BinNetwork> base_bins(bins::BinsNetwork network, const ComputeOptions& computing) {
    return std::make_shared<BaseBins>(std::move(network), computing);
}

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

std::shared_ptr<TaskNetwork> new_base_network(const TaskInfo& info, std::int64_t labels, std::uint64_t seed,
                                              const at::Device& device) {
    const std::int64_t window = info.window.size();
    return std::make_shared<Convolutions>(baselines::make_network(info.architecture, window, labels, seed),
                                          window, device);
}

std::shared_ptr<TaskNetwork> linear_network(const TaskInfo& info, const at::Tensor& weight,
                                            const at::Tensor& bias, const at::Device& device) {
    const auto network =
        std::make_shared<Kmers>(kmer_spec_from(info.network, {}), weight.size(0), info.window.size(), device);
    const at::NoGradGuard no_gradients;
    auto parameters = network->module()->named_parameters();
    parameters["weight"].copy_(weight);
    parameters["bias"].copy_(bias);
    network->module()->eval();
    return network;
}

std::shared_ptr<TaskNetwork> load_bases_network(const fs::path& directory, const TaskInfo& info,
                                                std::int64_t labels, const at::Device& device,
                                                const ComputeOptions& computing) {
    const fs::path where = directory / "config.json";
    const Architecture& row = info.row();
    std::shared_ptr<TaskNetwork> network;
    try {
        if (row.reads_records(info.task, info.target)) {
            network = std::make_shared<SequenceNetwork>(shape_from_json(info.network, where), labels, device);
        } else if (row.scores_bins()) {
            bins::BinsNetwork module(bins::config_from_json(info.network, where), labels);
            module->to(device);
            network = base_bins(std::move(module), computing);
        } else if (row.is_solved()) {
            network = std::make_shared<Kmers>(kmer_spec_from(info.network, where), labels, info.window.size(),
                                              device);
        } else {
            network = new_base_network(info, labels, 0, device);
        }
    } catch (const ConfigError& error) {
        throw InputError(error.what(), where);
    }
    model::fill_parameters(*network->module(), model::read_weights(directory), {},
                           directory / "model.safetensors");
    network->module()->eval();
    return network;
}

}  // namespace bigbird::tasks
