// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/training/profile_task.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/networks/files/profile_folder.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bigbird::profiles {

namespace fs = std::filesystem;

namespace {

constexpr const char* training_weights = "weights.safetensors";

std::string prefix_of(const std::string& part) {
    return part.empty() ? "" : part + ".";
}

}  // namespace

void freeze(torch::nn::Module& module) {
    for (at::Tensor& parameter : module.parameters())
        parameter.set_requires_grad(false);
    module.eval();
}

double count_weight_of(const WindowSource& source, std::span<const Region> regions) {
    std::vector<double> totals;
    for (const Region& region : regions)
        totals.push_back(static_cast<double>(source.total(region)));
    constexpr double per_read_end = 10;
    return std::max(1.0, median(std::move(totals)) / per_read_end);
}

networks::ProfileNet untrained_network(const std::string& part, const networks::ProfileShape& shape,
                                       std::uint64_t seed, double mean_log_count) {
    networks::ProfileNet net(std::vector{std::pair(part, shape)});
    const at::NoGradGuard no_gradients;
    for (auto& [name, tensor] : net->named_parameters().pairs()) {
        if (name.ends_with("bias")) continue;
        Rng rng = Rng(seed).split(name.substr(prefix_of(part).size()));
        // Glorot and Bengio (2010), as in Keras: uniform, by the numbers of a weight's inputs and outputs.
        const auto taps = static_cast<double>(tensor.numel() / tensor.size(0) / tensor.size(1));
        const double most = std::sqrt(6 / (taps * static_cast<double>(tensor.size(0) + tensor.size(1))));
        auto* values = tensor.mutable_data_ptr<float>();
        for (std::int64_t i = 0; i < tensor.numel(); ++i)
            values[i] = static_cast<float>(most * (2 * rng.uniform() - 1));
    }
    net->output_bias().fill_(mean_log_count);
    return net;
}

networks::ProfileModel stored_model(std::span<const std::pair<std::string, networks::ProfileNet>> parts) {
    networks::ProfileModel model;
    model.family = networks::trained_family;
    for (const auto& [name, net] : parts) {
        networks::ProfilePart part{.name = name, .shape = net->shape()};
        for (const auto& [key, tensor] : net->named_parameters().pairs()) {
            const at::Tensor values = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
            const float* from = values.const_data_ptr<float>();
            part.weights[key.substr(prefix_of(name).size())] = {values.sizes().vec(),
                                                                {from, from + values.numel()}};
        }
        model.parts.push_back(std::move(part));
    }
    return model;
}

ProfileTask::ProfileTask(std::string name, ProfilePair pair, SampleOrder order, const WindowSource& source,
                         std::vector<Region> validation_peaks, std::vector<Region> validation_background,
                         ProfileTaskSpec spec)
    : name_(std::move(name)),
      trained_(std::move(pair)),
      average_{networks::ProfileNet(std::vector{std::pair(name_, trained_.shape())}), trained_.bias},
      module_(std::make_shared<torch::nn::Module>("profile model")),
      order_(std::move(order)),
      source_(source),
      peaks_(std::move(validation_peaks)),
      background_(std::move(validation_background)),
      spec_(std::move(spec)) {
    model::copy_parameters(*average_.main, *trained_.main);
    freeze(*average_.main);
    const at::NoGradGuard no_gradients;
    trained_.main->named_parameters()[prefix_of(name_) + "counts.weight"].div_(spec_.count_scale);
    module_->register_module("network", trained_.main.ptr());
    module_->register_module("average", average_.main.ptr());
}

training::StepStats ProfileTask::accumulate(std::int64_t step) {
    std::vector<Sample> samples;
    for (std::int64_t i = 0; i < spec_.batch_size; ++i)
        samples.push_back(order_.at((step - 1) * spec_.batch_size + i));
    const ProfileBatch batch = batch_of(source_, samples);
    networks::ProfileHeads heads =
        trained_.main->training_pass(batch.codes, spec_.bf16 ? at::kBFloat16 : at::kFloat);
    const at::Tensor count_bias = trained_.main->output_bias();
    heads.counts = count_bias + spec_.count_scale * (heads.counts - count_bias);
    if (trained_.bias) heads = networks::joined_heads(heads, trained_.bias.ptr()->scores(batch.codes));
    double factorials = 0;
    for (std::int64_t i = 0; i < spec_.batch_size; ++i)
        factorials += factorial_terms(
            {batch.counts[i].const_data_ptr<float>(), static_cast<std::size_t>(source_.output())});
    const at::Tensor profile = profile_losses(heads.profile.squeeze(2), batch.counts).mean() +
                               factorials / static_cast<double>(spec_.batch_size);
    const at::Tensor counts =
        (heads.counts.squeeze(1) - batch.counts.sum(at::IntArrayRef{1}).log1p()).square().mean();
    const at::Tensor loss = profile + spec_.count_weight * counts;
    loss.backward();
    return {.loss = loss.detach(),
            .metrics = {{"profile_loss", profile.detach()}, {"count_loss", counts.detach()}},
            .sequences = spec_.batch_size};
}

void ProfileTask::made(std::int64_t step) {
    // The first steps have a low weight in the average, because their weights are far from the final ones.
    const auto steps = static_cast<double>(step);
    const double decay = std::min(spec_.averaging, (1 + steps) / (10 + steps));
    const at::NoGradGuard no_gradients;
    const auto from = trained_.main->named_parameters().pairs();
    auto to = average_.main->parameters();
    for (std::size_t i = 0; i < to.size(); ++i) {
        const bool is_scaled = from[i].first == prefix_of(name_) + "counts.weight";
        to[i].lerp_(is_scaled ? from[i].second * spec_.count_scale : from[i].second, 1.0 - decay);
    }
}

Json ProfileTask::evaluate() {
    const ProfileFigures peaks = figures_of(average_, source_, peaks_),
                         background = figures_of(average_, source_, background_);
    const auto loss = [&](const ProfileFigures& figures) {
        return static_cast<double>(figures.regions()) *
               (figures.profile_loss + spec_.count_weight * figures.count_loss);
    };
    const Json figures = (peaks_.empty() ? background : peaks).to_json();
    return {{"eval_loss",
             (loss(peaks) + loss(background)) / static_cast<double>(peaks.regions() + background.regions())},
            {"eval_pearson", figures["pearsonr"]},
            {"eval_profile_jsd", figures["profile_jsd"]},
            {"eval_median_norm_jsd", figures["median_norm_jsd"]}};
}

void ProfileTask::write_model(const fs::path& directory) {
    std::vector<std::pair<std::string, networks::ProfileNet>> parts{{name_, average_.main}};
    if (average_.bias) parts.emplace_back("bias", average_.bias);
    networks::ProfileModel model = stored_model(parts);
    model.contigs = spec_.contigs;
    model.training = spec_.training;
    networks::write_profile_folder(model, directory);
}

void ProfileTask::write_training_state(const fs::path& directory) {
    model::write_safetensors(model::parameters_of(*trained_.main), directory / training_weights);
}

void ProfileTask::read_model(const fs::path& checkpoint) {
    model::TensorMap average = model::read_weights(checkpoint);
    std::erase_if(average, [&](const auto& tensor) { return !tensor.first.starts_with(prefix_of(name_)); });
    model::fill_parameters(*average_.main, std::move(average), {}, checkpoint / "model.safetensors");
    const fs::path weights = checkpoint / "training_state" / training_weights;
    model::fill_parameters(*trained_.main, model::read_safetensors(weights), {}, weights);
}

}  // namespace bigbird::profiles
