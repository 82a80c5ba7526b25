// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/profile_network.hpp"

#include "bigbird/bins/motifs.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/networks/files/profile_folder.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

at::Tensor codes_of_strand(std::string_view dna, bool reverse, const at::Device& device) {
    const at::Tensor codes = bins::codes_of(reverse ? genome::reverse_complement(dna) : std::string(dna));
    return model::copy_to_device(codes, device);
}

/// Substitutions of a window of `input` bases, as the strand has them.
std::vector<bins::Substitution> on_strand(std::span<const bins::Substitution> each, bool reverse,
                                          std::int64_t input) {
    constexpr std::uint8_t last_letter = 3;
    std::vector<bins::Substitution> own(each.begin(), each.end());
    for (auto& [at, code] : own) {
        if (!reverse) continue;
        at = input - 1 - at;
        if (code <= last_letter) code = static_cast<std::uint8_t>(last_letter - code);
    }
    return own;
}

/// A published network. Windows are computed by themselves on a CPU, so their number in a group only bounds
/// memory.
class PublishedNetwork : public ProfileNetwork {
public:
    explicit PublishedNetwork(networks::ProfileNet net) : net_(std::move(net)) {}

    std::shared_ptr<torch::nn::Module> module() const override { return net_.ptr(); }
    at::Tensor output_bias() const override { return net_->output_bias(); }
    const networks::ProfileShape& shape() const override { return net_->shape(); }
    networks::ProfileNet net() const override { return net_; }
    EncodedWindow encode(std::string_view dna, bool reverse) const override {
        EncodedWindow window;
        if (dna.find_first_not_of('N') == std::string_view::npos) return window;
        const at::Tensor codes = codes_of_strand(dna, reverse, at::kCPU);
        const auto* from = codes.const_data_ptr<std::uint8_t>();
        window.ids.assign(from, from + codes.numel());
        return window;
    }
    std::string encoding_key() const override { return "bases"; }
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens, model::GroupSizes) const override {
        constexpr std::int64_t most_on_cpu = 16;
        const std::int64_t most = std::max<std::int64_t>(1, batch_tokens / shape().input);
        std::vector<std::size_t> all(windows.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return model::cut_into_groups(
            all, static_cast<std::size_t>(device().is_cpu() ? std::min(most, most_on_cpu) : most),
            model::GroupSizes::any);
    }
    networks::ProfileHeads heads(std::span<const EncodedWindow> windows,
                                 std::span<const std::size_t> group) const override {
        at::Tensor codes = at::empty({std::ssize(group), shape().input}, at::kByte);
        auto* out = codes.mutable_data_ptr<std::uint8_t>();
        for (const std::size_t index : group) {
            out = std::ranges::transform(
                      windows[index].ids, out, [](std::int32_t id) { return static_cast<std::uint8_t>(id); })
                      .out;
        }
        return net_.ptr()->scores(model::copy_to_device(codes, device()));
    }
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey&) const override {
        return heads(windows, group).counts.unsqueeze(1);
    }
    void write(const TaskInfo& info, const fs::path& directory) const override {
        write_folder(*this, "bigbird_dna_profile", info, directory);
    }
    networks::ProfileHeads heads(std::span<const std::string> windows,
                                 std::span<const std::vector<bins::Substitution>> each,
                                 bool reverse) const override {
        std::vector<at::Tensor> codes;
        std::vector<std::vector<bins::Substitution>> own;
        for (std::size_t i = 0; i < windows.size(); ++i) {
            codes.push_back(codes_of_strand(windows[i], reverse, device()));
            own.push_back(on_strand(each[i], reverse, shape().input));
        }
        const networks::ProfileHeads found = net_.ptr()->scores(at::stack(codes), own);
        return reverse ? on_other_strand(found, shape()) : found;
    }
    std::unique_ptr<NetworkWindow> edit(std::string_view window, bool reverse, const Job&) const override {
        return std::make_unique<Edited>(net_, window, reverse);
    }

private:
    class Edited : public NetworkWindow {
    public:
        Edited(networks::ProfileNet net, std::string_view window, bool reverse)
            : net_(std::move(net)),
              reverse_(reverse),
              device_(net_->output_bias().device()),
              window_(net_, codes_of_strand(window, reverse, device_)) {}

        at::Tensor logits() const override { return window_.counts(); }
        at::Tensor logits(std::span<const bins::Substitution> each,
                          const at::Tensor& segments) const override {
            const at::Tensor counts = window_.counts(on_strand(each, reverse_, net_->shape().input));
            return counts.unsqueeze(1).expand({-1, segments.size(1), -1});
        }
        at::Tensor logits(std::span<const std::string> edited) const override {
            std::vector<at::Tensor> codes;
            for (const std::string& text : edited)
                codes.push_back(codes_of_strand(text, reverse_, device_));
            return net_.ptr()->scores(at::stack(codes)).counts.unsqueeze(1);
        }

    private:
        networks::ProfileNet net_;
        bool reverse_;
        at::Device device_;
        networks::EditedProfile window_;
    };

    networks::ProfileNet net_;
};

}  // namespace

networks::ProfileHeads on_other_strand(const networks::ProfileHeads& heads,
                                       const networks::ProfileShape& shape) {
    if (!heads.profile.defined()) return heads;
    std::vector<at::Tensor> groups;
    for (const at::Tensor& group : heads.profile.split_with_sizes(shape.groups, 2))
        groups.push_back(group.flip({1, 2}));
    return {at::cat(groups, 2), heads.counts};
}

at::Tensor profile_probabilities(const at::Tensor& logits, const networks::ProfileShape& shape,
                                 std::size_t group) {
    const at::Tensor own = logits.split_with_sizes(shape.groups, 2)[group].to(at::kCPU, at::kDouble);
    return own.flatten(1).softmax(1).view_as(own);
}

std::vector<std::string> profile_column_names(const std::string& label, std::int64_t columns) {
    if (columns == 1) return {label};
    if (columns == 2) return {label + "_plus", label + "_minus"};
    std::vector<std::string> names;
    for (std::int64_t i = 1; i <= columns; ++i)
        names.push_back(label + '_' + std::to_string(i));
    return names;
}

std::shared_ptr<ProfileNetwork> profile_network(const ModelFolder& model) {
    return std::dynamic_pointer_cast<ProfileNetwork>(model.network);
}

std::vector<std::shared_ptr<ProfileNetwork>> profile_networks(std::span<const ModelFolder> models) {
    std::vector<std::shared_ptr<ProfileNetwork>> networks;
    for (const ModelFolder& model : models) {
        networks.push_back(profile_network(model));
        if (!networks.back()) throw ConfigError("models that are averaged must all give profiles, or none");
        const networks::ProfileShape &shape = networks.back()->shape(), &first = networks.front()->shape();
        if (shape.output != first.output || shape.groups != first.groups ||
            model.calibration.link != models.front().calibration.link)
            throw ConfigError(
                "models that are averaged must have profiles of one length and number of strands");
    }
    return networks;
}

std::optional<std::string> component_of(const TaskInfo& info) {
    const std::string component = info.network.value("component", "");
    return component.empty() ? std::nullopt : std::optional(component);
}

TaskInfo profile_info(const networks::ProfileModel& model) {
    return parse_task_info(networks::folder_description(model).at("bigbird_dna").at("task_model"), {});
}

namespace {

std::shared_ptr<ProfileNetwork> network_of(networks::ProfileNet net, const networks::ProfileModel& model,
                                           const fs::path& path, const at::Device& device) {
    if (model.bias() == "only") {
        log_warning(
            "{}: is a model of the enzyme's bias: its scores are no biology; take the nobias file for those",
            path.string());
    }
    net->to(device);
    net->eval();
    return std::make_shared<PublishedNetwork>(std::move(net));
}

rows::LabelTable labels_of(const networks::ProfileModel& model) {
    std::vector<rows::Label> labels;
    for (std::string& name : networks::profile_labels(model.parts.front().shape.groups.size()))
        labels.push_back({.name = std::move(name)});
    return rows::LabelTable(std::move(labels));
}

}  // namespace

ModelFolder open_profile_file(const fs::path& path, std::optional<networks::Component> component,
                              const at::Device& device) {
    const networks::ProfileModel model =
        networks::chosen(networks::read_profile_model(path), component, path);
    TaskInfo info = profile_info(model);
    info.network["component"] = model.component();
    const LinkFunction link = info.link();
    return {.info = std::move(info),
            .labels = labels_of(model),
            .sha256 = model.sha256,
            .network = network_of(networks::ProfileNet(model), model, path, device),
            .calibration = {.link = link}};
}

std::shared_ptr<ProfileNetwork> load_profile_network(const fs::path& directory, TaskInfo& info,
                                                     std::optional<networks::Component> component,
                                                     const at::Device& device) {
    const networks::ProfileModel stored =
        networks::profile_model_from({{"network", info.network}}, directory / "config.json");
    const networks::ProfileModel model = networks::chosen(stored, component, directory);
    std::vector<std::pair<std::string, networks::ProfileShape>> parts;
    for (const networks::ProfilePart& part : model.parts)
        parts.emplace_back(part.name, part.shape);
    info.network["component"] = model.component();
    networks::ProfileNet net(std::move(parts));
    model::TensorMap weights = model::read_weights(directory);
    for (const networks::ProfilePart& part : stored.parts) {
        if (std::ranges::find(model.parts, part.name, &networks::ProfilePart::name) != model.parts.end())
            continue;
        std::erase_if(weights, [&](const auto& tensor) { return tensor.first.starts_with(part.name + "."); });
    }
    model::fill_parameters(*net, weights, {}, directory / "model.safetensors");
    return network_of(std::move(net), model, directory, device);
}

}  // namespace bigbird::tasks
