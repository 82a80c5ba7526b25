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

struct EditedProfile::State {
    ProfileNet network;
    at::Tensor codes;  ///< on the CPU
    at::Device device;
    std::unique_ptr<KeptWindow> kept{};  ///< null: complete passes
    ProfileHeads heads{};                ///< of the kept window
};

EditedProfile::EditedProfile(ProfileNet network, const at::Tensor& codes)
    : state_(new State{std::move(network), codes.cpu().contiguous().clone(), codes.device()}) {
    ProfileNetImpl::State& of = *state_->network->state_;
    const bool pads =
        std::ranges::any_of(of.parts, [](const PartTensors& part) { return part.shape.pads(); });
    if (pads || !of.has_kernels()) return;
    const at::NoGradGuard no_gradients;
    const Parts packed = of.packed();
    std::unique_ptr<KeptWindow>& kept = state_->kept;
    kept = of.kept.take();
    if (!kept || kept->parts() != packed || kept->threads() != at::get_num_threads())
        kept = std::make_unique<KeptWindow>(packed, at::get_num_threads());
    HeadsWriter to(state_->network->shape(), 1, true);
    to.put(0, kept->begin(state_->codes.const_data_ptr<std::uint8_t>()));
    state_->heads = to.heads();
}

EditedProfile::~EditedProfile() {
    if (state_->kept) state_->network->state_->kept.give(std::move(state_->kept));
}

ProfileHeads EditedProfile::heads() const {
    if (!state_->kept) return state_->network->scores(state_->codes.unsqueeze(0).to(state_->device));
    return {state_->heads.profile.clone(), state_->heads.counts.clone()};
}

ProfileHeads EditedProfile::heads(std::span<const bins::Substitution> each, bool profiles) const {
    const ProfileShape& shape = state_->network->shape();
    if (state_->kept) {
        HeadsWriter to(shape, std::ssize(each), profiles);
        const auto compute = [&](EditingWorker& worker, std::int64_t i) {
            to.put(i, worker.heads(each[static_cast<std::size_t>(i)], profiles));
        };
        state_->kept->run(std::ssize(each), compute);
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
