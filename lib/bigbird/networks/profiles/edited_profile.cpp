// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/profile_network.hpp"
#include "bigbird/networks/profiles/profile_state.hpp"
#include "bigbird/networks/profiles/workers.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>

namespace bigbird::networks {

namespace {

/// Windows of one complete pass.
constexpr std::int64_t windows_at_once = 64;

at::Tensor edited_codes(const at::Tensor& codes, std::span<const bins::Substitution> each) {
    at::Tensor edited = codes.repeat({std::ssize(each), 1});
    for (std::int64_t i = 0; i < std::ssize(each); ++i)
        edited[i][each[static_cast<std::size_t>(i)].at] = each[static_cast<std::size_t>(i)].code;
    return edited;
}

}  // namespace

/// A window whose rows are kept.
struct EditedProfile::Kept {
    std::shared_ptr<const std::vector<PackedPart>> parts;
    WholeWorker whole;
    ProfileHeads heads;
    Workers<EditingWorker> workers;

    Kept(std::shared_ptr<const std::vector<PackedPart>> packed, const ProfileShape& shape,
         const std::uint8_t* codes)
        : parts(std::move(packed)),
          whole(*parts, true, at::get_num_threads()),
          workers(
              [this, codes](int threads) { return std::make_unique<EditingWorker>(whole, codes, threads); }) {
        HeadsWriter to(shape, 1, true);
        to.put(0, whole.heads(codes, true));
        heads = to.heads();
    }
};

struct EditedProfile::State {
    ProfileNet network;
    at::Tensor codes;  ///< on the CPU
    at::Device device;
    std::unique_ptr<Kept> kept;
};

EditedProfile::EditedProfile(ProfileNet network, const at::Tensor& codes)
    : state_(std::make_unique<State>(
          State{std::move(network), codes.cpu().contiguous().clone(), codes.device(), {}})) {
    ProfileNetImpl::State& of = *state_->network->state_;
    const bool local =
        std::ranges::none_of(of.parts, [](const PartTensors& part) { return part.shape.pads(); });
    if (local && of.has_kernels()) {
        const at::NoGradGuard no_gradients;
        state_->kept = std::make_unique<Kept>(of.packed(), state_->network->shape(),
                                              state_->codes.const_data_ptr<std::uint8_t>());
    }
}

EditedProfile::~EditedProfile() = default;

ProfileHeads EditedProfile::heads() const {
    if (!state_->kept) return state_->network->scores(state_->codes.unsqueeze(0).to(state_->device));
    const ProfileHeads& heads = state_->kept->heads;
    return {heads.profile.clone(), heads.counts.clone()};
}

ProfileHeads EditedProfile::heads(std::span<const bins::Substitution> each, bool profiles) const {
    const ProfileShape& shape = state_->network->shape();
    if (state_->kept) {
        HeadsWriter to(shape, std::ssize(each), profiles);
        const auto compute = [&](EditingWorker& worker, std::int64_t i) {
            to.put(i, worker.heads(each[static_cast<std::size_t>(i)], profiles));
        };
        state_->kept->workers.run(std::ssize(each), at::get_num_threads(), compute);
        return to.heads();
    }
    std::vector<at::Tensor> profile, counts;
    for (std::size_t first = 0; first < each.size(); first += windows_at_once) {
        const auto some = each.subspan(first, std::min<std::size_t>(windows_at_once, each.size() - first));
        const ProfileHeads heads =
            state_->network->scores(edited_codes(state_->codes, some).to(state_->device));
        if (profiles) profile.push_back(heads.profile);
        counts.push_back(heads.counts);
    }
    if (each.empty()) counts.push_back(at::empty({0, std::ssize(shape.groups)}));
    if (each.empty() && profiles) profile.push_back(at::empty({0, shape.output, shape.columns()}));
    return {profiles ? at::cat(profile) : at::Tensor(), at::cat(counts)};
}

}  // namespace bigbird::networks
