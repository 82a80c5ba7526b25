// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/profile_network.hpp"
#include "bigbird/networks/profiles/profile_state.hpp"
#include "bigbird/networks/profiles/workers.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <memory>

namespace bigbird::networks {

struct EditedProfile::State {
    ProfileNet network;
    at::Tensor codes;
    std::unique_ptr<KeptWindow> kept{};  ///< null: complete passes
    at::Tensor counts{};                 ///< of the kept window
};

EditedProfile::EditedProfile(ProfileNet network, const at::Tensor& codes)
    : state_(new State{std::move(network), codes.contiguous().clone()}) {
    if (!state_->network->computes_edits()) return;
    const at::NoGradGuard no_gradients;
    ProfileNetImpl::State& of = *state_->network->state_;
    const Parts packed = of.packed();
    std::unique_ptr<KeptWindow>& kept = state_->kept;
    kept = of.kept.take();
    if (!kept || kept->parts() != packed || kept->threads() != at::get_num_threads())
        kept = std::make_unique<KeptWindow>(packed, at::get_num_threads());
    HeadsWriter to(state_->network->shape(), 1, false);
    to.put(0, kept->begin(state_->codes.const_data_ptr<std::uint8_t>()));
    state_->counts = to.heads().counts;
}

EditedProfile::~EditedProfile() {
    if (state_->kept) state_->network->state_->kept.give(std::move(state_->kept));
}

at::Tensor EditedProfile::counts() const {
    if (state_->kept) return state_->counts.clone();
    return state_->network.ptr()->scores(state_->codes.unsqueeze(0)).counts;
}

at::Tensor EditedProfile::counts(std::span<const bins::Substitution> each) const {
    if (!state_->kept) {
        const std::vector<std::vector<bins::Substitution>> edits{{each.begin(), each.end()}};
        const at::Tensor all = state_->network.ptr()->scores(state_->codes.unsqueeze(0), edits).counts;
        return all.narrow(0, 1, std::ssize(each));
    }
    HeadsWriter to(state_->network->shape(), std::ssize(each), false);
    state_->kept->run(std::ssize(each), [&](EditingWorker& worker, std::int64_t i) {
        to.put(i, worker.heads(each[static_cast<std::size_t>(i)]));
    });
    return to.heads().counts;
}

}  // namespace bigbird::networks
