// SPDX-License-Identifier: Apache-2.0
// Training of a profile network on cut sites, by itself or on top of a frozen model of the enzyme's bias.
#pragma once

#include "bigbird/networks/files/profile_model.hpp"
#include "bigbird/profiles/samples.hpp"
#include "bigbird/profiles/training/predictions.hpp"
#include "bigbird/training/training_loop.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::profiles {

struct ProfileTaskSpec {
    std::int64_t batch_size = 64;
    double count_weight = 1;  ///< of the squared error of ln(1 + read ends), beside the profile's likelihood
    /// What the trained weights of log counts are multiplied by: means over a window differ so little between
    /// windows that the optimizer's steps would take long to reach weights of use.
    double count_scale = 5;
    double averaging = 0.999;  ///< decay per step of the weight average, which is the model
    bool bf16 = false;         ///< matrix products of the training pass
    std::uint64_t seed = 0;
    Json contigs = Json::array(), training = Json::object();  ///< for config.json
};

/// The median number of read ends of regions over 10, at least 1: chrombpnet's weight of counts.
double count_weight_of(const WindowSource& source, std::span<const Region> regions);

/// A network with random weights, the same for the same seed; its log counts begin at `mean_log_count`.
networks::ProfileNet untrained_network(const std::string& part, const networks::ProfileShape& shape,
                                       std::uint64_t seed, double mean_log_count);
/// Networks as the parts of a model, copied.
networks::ProfileModel stored_model(std::span<const std::pair<std::string, networks::ProfileNet>> parts);
/// Its parameters get no gradients any more.
void freeze(torch::nn::Module& module);

/// The loss is the mean over a batch of the profile's multinomial negative log likelihood, with factorial
/// terms, plus count_weight times the squared error of log counts; of the joined heads where there is a bias.
class ProfileTask : public training::TrainingTask {
public:
    /// `name`: of the trained part ("nobias", "bias" or ""). `pair`: the network to train and the frozen
    /// bias. `source` must outlive this.
    ProfileTask(std::string name, ProfilePair pair, SampleOrder order, const WindowSource& source,
                std::vector<Region> validation_peaks, std::vector<Region> validation_background,
                ProfileTaskSpec spec);

    torch::nn::Module& module() override { return *module_; }
    training::StepStats accumulate(std::int64_t step) override;
    void made(std::int64_t step) override;
    /// eval_loss of all validation regions, and of the peaks, or else the background: eval_pearson,
    /// eval_profile_jsd, eval_median_norm_jsd.
    Json evaluate() override;
    void write_model(const std::filesystem::path& directory) override;
    void write_training_state(const std::filesystem::path& directory) override;
    void read_model(const std::filesystem::path& checkpoint) override;

private:
    std::string name_;
    ProfilePair trained_, average_;
    std::shared_ptr<torch::nn::Module> module_;
    SampleOrder order_;
    const WindowSource& source_;
    std::vector<Region> peaks_, background_;
    ProfileTaskSpec spec_;
};

}  // namespace bigbird::profiles
