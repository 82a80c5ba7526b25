// SPDX-License-Identifier: Apache-2.0
// Networks of the BPNet family (networks/files/profile_model.hpp) over tensors.
#pragma once

#include "bigbird/bins/substitutions.hpp"
#include "bigbird/networks/files/profile_model.hpp"

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace bigbird::networks {

/// What a network gives for windows: logits of the profile (windows, output, columns) and log counts
/// (windows, groups), float32 on the network's device.
struct ProfileHeads {
    at::Tensor profile, counts;
};
/// Heads of two parts together: logits are added, and so are exp(log counts). Differentiable.
ProfileHeads joined_heads(const ProfileHeads& a, const ProfileHeads& b);

/// One network, or the join of several. Parameters have the names of Weights, behind the part's name and a
/// dot if it has one.
class ProfileNetImpl : public torch::nn::Module {
public:
    /// Parameters are zero; model::fill_parameters() or fill() sets them.
    explicit ProfileNetImpl(std::vector<std::pair<std::string, ProfileShape>> parts);
    /// From a file's parts, which it need not keep.
    explicit ProfileNetImpl(const ProfileModel& model);

    /// The shape of the joined network: that of the first part. All have its input, output and groups.
    const ProfileShape& shape() const;
    /// Each part's bias of log counts, (groups), of the first part.
    at::Tensor output_bias() const;

    /// letters: (windows, input, 4) float32, one-hot, all 0 for N. The readable twin, by ATen's convolutions,
    /// on any device, with gradients if they are enabled. Under a SecantGuard (bins/secants.hpp) gradients
    /// are DeepLIFT's multipliers.
    ProfileHeads forward(const at::Tensor& letters) const;
    /// codes: (windows, input) uint8 (bins::codes_of) on the network's device. No gradients. On a CPU by our
    /// kernels, and a window's values do not depend on the others or on threads, to the last bit; elsewhere
    /// forward().
    ProfileHeads scores(const at::Tensor& codes) const;
    /// The same with rows for substitutions: each window's row is followed by one for each of `each[window]`,
    /// applied by itself. On a CPU the trunk is computed only where a base changes it. Cherimoya's norm runs
    /// over the whole window, so that a base changes all of it: such networks compute complete passes, as do
    /// all on other devices.
    ProfileHeads scores(const at::Tensor& codes, std::span<const std::vector<bins::Substitution>> each) const;

    /// forward() of a training step, from codes (windows, input) uint8, with gradients of the parameters. On
    /// a CPU, products are in `type`, float32 or bfloat16, and so are the positions of the trunk (relu_after,
    /// one part; others compute forward()).
    ProfileHeads training_pass(const at::Tensor& codes, at::ScalarType type) const;

    struct State;

private:
    bool computes_edits() const;

    friend class EditedProfile;
    std::shared_ptr<State> state_;
};
TORCH_MODULE(ProfileNet);

/// Log counts of a window, unchanged and with single substitutions, of which there may be many. Not
/// thread-safe. Results are those of scores(), on a CPU to the last bit, where it keeps what the unchanged
/// window gives.
class EditedProfile {
public:
    /// codes: (input) uint8. The network must outlive this.
    EditedProfile(ProfileNet network, const at::Tensor& codes);
    ~EditedProfile();
    EditedProfile(const EditedProfile&) = delete;
    EditedProfile& operator=(const EditedProfile&) = delete;

    /// (1, groups) of the unchanged window.
    at::Tensor counts() const;
    /// (each, groups): a row for each substitution, applied by itself.
    at::Tensor counts(std::span<const bins::Substitution> each) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::networks
