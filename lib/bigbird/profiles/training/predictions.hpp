// SPDX-License-Identifier: Apache-2.0
// Predictions of profile networks on regions, and their figures.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/networks/profiles/profile_network.hpp"
#include "bigbird/profiles/measures.hpp"
#include "bigbird/profiles/samples.hpp"

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::profiles {

/// A network and the frozen bias that it is trained with, whose predictions are joined.
struct ProfilePair {
    networks::ProfileNet main{nullptr}, bias{nullptr};  ///< `bias` may be null

    const networks::ProfileShape& shape() const { return main->shape(); }
    /// Joined heads of codes (windows, input), without gradients.
    networks::ProfileHeads scores(const at::Tensor& codes) const;
    /// The same, the mean with the reverse complement's, as predict has it: of logits, and of exp(log
    /// counts).
    networks::ProfileHeads mean_scores(const at::Tensor& codes) const;
};

/// Windows as a network reads them, and their read ends.
struct ProfileBatch {
    at::Tensor codes;   ///< (windows, input) uint8
    at::Tensor counts;  ///< (windows, output) float32
};
ProfileBatch batch_of(const WindowSource& source, std::span<const Sample> samples);

/// Calls use(batch, heads) for the regions in order, some at once. Throws Stopped.
void for_each_prediction(const WindowSource& source, std::span<const Region> regions,
                         const std::function<networks::ProfileHeads(const at::Tensor& codes)>& scores,
                         const std::function<void(const ProfileBatch&, const networks::ProfileHeads&)>& use);

/// ln of the softmax, and multinomial negative log likelihoods without factorials: (windows).
at::Tensor profile_losses(const at::Tensor& logits, const at::Tensor& counts);

/// What predictions on regions are worth.
struct ProfileFigures {
    std::vector<float> predicted{}, observed{};  ///< ln(1 + read ends) of each region
    ProfileDistances distances{};
    std::vector<double> ends{}, expected{};   ///< read ends of each base, observed and predicted: sums
    double profile_loss = 0, count_loss = 0;  ///< means over regions: NLL with factorial terms, squared error

    void add(const ProfileBatch& batch, const networks::ProfileHeads& heads);
    std::int64_t regions() const { return std::ssize(observed); }
    std::optional<double> pearson() const;
    std::optional<double> spearman() const;
    /// All of them by chrombpnet's names where it has one.
    Json to_json() const;
};
/// Of the windows' own strand, or of both (mean_scores()).
ProfileFigures figures_of(const ProfilePair& pair, const WindowSource& source,
                          std::span<const Region> regions, bool both_strands = false);

}  // namespace bigbird::profiles
