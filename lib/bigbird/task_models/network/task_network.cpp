// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/task_network.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace bigbird::task_models {

std::vector<TokenSpan> TaskNetwork::spans(const EncodedWindow&) const {
    BIGBIRD_EXPECTS(reads_tokens(), "a network of tokens");
    return {};
}

std::vector<std::vector<std::size_t>> BinNetwork::group(std::span<const EncodedWindow> windows,
                                                        std::int64_t batch_tokens,
                                                        model::GroupSizes sizes) const {
    std::vector<std::size_t> all(windows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::int64_t tokens = windows_at_once(batch_tokens) * window_positions();
    return model::cut_into_groups(all, model::members_a_group(window_positions(), tokens, sizes), sizes);
}

at::Tensor BinNetwork::logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                              const model::DropoutKey& key) const {
    std::vector<EncodedWindow> chosen;
    for (const std::size_t index : group)
        chosen.push_back(windows[index]);
    return logits(chosen, key);
}

std::unique_ptr<EditedBins> BinNetwork::edit(std::string_view window, bool reverse) const {
    class WholeWindows : public EditedBins {
    public:
        WholeWindows(const BinNetwork& network, std::string dna, bool reverse)
            : network_(network), dna_(std::move(dna)), reverse_(reverse) {}
        at::Tensor logits(std::string_view edited) const override {
            return of(reverse_ ? genome::reverse_complement(edited) : std::string(edited));
        }
        at::Tensor logits() const override { return of(dna_); }
        at::Tensor logits(std::span<const bins::Substitution> each, const at::Tensor& bins) const override {
            std::vector<at::Tensor> all;
            for (const auto& [at, code] : each) {
                std::string dna = dna_;
                dna[static_cast<std::size_t>(at)] = "ACGTN"[code];
                all.push_back(of(dna).index_select(0, bins[std::ssize(all)].to(network_.device())));
            }
            return at::stack(all);
        }

    private:
        at::Tensor of(const std::string& dna) const {
            const EncodedWindow encoded[] = {network_.encode(dna)};
            return network_.logits(encoded)[0];
        }

        const BinNetwork& network_;
        std::string dna_;
        bool reverse_;
    };
    return std::make_unique<WholeWindows>(
        *this, reverse ? genome::reverse_complement(window) : std::string(window), reverse);
}

at::Tensor batched_logits(const TaskNetwork& network, std::span<const EncodedWindow> windows,
                          std::int64_t batch_tokens, model::GroupSizes sizes,
                          const std::function<void(std::int64_t)>& after_batch) {
    const at::NoGradGuard no_gradients;
    network.module()->eval();
    at::Tensor logits = at::empty({std::ssize(windows), 1, network.labels()});
    const auto groups = network.group(windows, batch_tokens, sizes);
    const auto finish = [&](const std::vector<std::size_t>& group, model::HostCopy& copy) {
        const at::Tensor some = copy.get();
        if (some.size(1) != logits.size(1)) logits.resize_({logits.size(0), some.size(1), some.size(2)});
        const std::vector<std::int64_t> indices(group.begin(), group.end());
        logits.index_copy_(0, at::tensor(indices, at::kLong), some);
        // A group may name its last window several times.
        const auto last = std::ranges::find(group, group.back());
        if (after_batch) after_batch(std::distance(group.begin(), last) + 1);
    };
    // Waits for a group's logits only after the next group was started on the device.
    std::optional<model::HostCopy> before;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        stop_if_asked();
        model::HostCopy some(network.logits(windows, groups[i]).to(at::kFloat));
        if (before) finish(groups[i - 1], *before);
        before = std::move(some);
    }
    if (before) finish(groups.back(), *before);
    return logits;
}

at::Tensor batched_logits(const TaskNetwork& network, std::span<const EncodedWindow> windows,
                          std::int64_t batch_tokens, const std::function<void(std::int64_t)>& after_batch) {
    return batched_logits(network, windows, batch_tokens, model::sizes_for_scores(network.device()),
                          after_batch);
}

}  // namespace bigbird::task_models
