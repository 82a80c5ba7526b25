// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"
#include "bigbird/scoring/scorers.hpp"
#include "bigbird/tasks/profile_network.hpp"

#include <algorithm>
#include <limits>

namespace bigbird::tasks {

namespace {

class ProfileScorer : public Predictor {
public:
    ProfileScorer(std::vector<ModelFolder> models, Strands strands, std::int64_t batch_tokens)
        : Predictor(std::move(models), strands, batch_tokens), networks_(profile_networks(models_)) {}

    std::size_t values_of(const rows::RegionRow&) const override { return values(); }
    std::vector<float> score(const PreparedRows& rows,
                             const std::function<void(double)>& after_batch) override {
        const at::NoGradGuard no_gradients;
        std::vector<float> all(rows.truncated.size() * values(), std::numeric_limits<float>::quiet_NaN());
        // Windows of a group go through all models, so that memory holds the logits of one group.
        const auto groups =
            networks_.front()->group(rows.readings.front(), batch_tokens_, model::GroupSizes::any);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            stop_if_asked();
            const at::Tensor found = values_of_group(rows, groups[g]).to(at::kFloat).contiguous();
            const auto* from = found.const_data_ptr<float>();
            for (const std::size_t window : groups[g]) {
                std::copy_n(from, values(),
                            all.begin() + static_cast<std::ptrdiff_t>(rows.kept[window] * values()));
                from += values();
            }
            if (after_batch) after_batch(static_cast<double>(g + 1) / static_cast<double>(groups.size()));
        }
        return all;
    }

private:
    const networks::ProfileShape& shape() const { return networks_.front()->shape(); }
    std::size_t values() const {
        return labels().size() + static_cast<std::size_t>(shape().output * shape().columns());
    }
    /// (windows, values()) float64 on the CPU.
    at::Tensor values_of_group(const PreparedRows& rows, std::span<const std::size_t> group) const {
        at::Tensor reads, logits;
        std::int64_t passes = 0;
        for (std::size_t m = 0; m < models_.size(); ++m) {
            for (const std::size_t reading : readings_of_[m]) {
                networks::ProfileHeads heads = networks_[m]->heads(rows.readings[reading], group);
                if (readings_[reading].reverse) heads = on_other_strand(heads, shape());
                const at::Tensor own = models_[m].calibration.probabilities(
                                     heads.counts.to(at::kCPU, at::kDouble)),
                                 profile = heads.profile.to(at::kCPU, at::kDouble);
                reads = passes == 0 ? own : reads + own;
                logits = passes == 0 ? profile : logits + profile;
                ++passes;
            }
        }
        reads = reads / passes;
        std::vector<at::Tensor> parts{reads};
        for (std::size_t i = 0; i < shape().groups.size(); ++i) {
            const at::Tensor bases = profile_probabilities(logits / passes, shape(), i).flatten(1);
            parts.push_back(bases * reads.narrow(1, static_cast<std::int64_t>(i), 1));
        }
        return at::cat(parts, 1);
    }

    std::vector<std::shared_ptr<ProfileNetwork>> networks_;
};

}  // namespace

std::unique_ptr<RowScorer> profile_scorer(std::vector<ModelFolder> models, Strands strands,
                                          std::int64_t batch_tokens) {
    return std::make_unique<ProfileScorer>(std::move(models), strands, batch_tokens);
}

}  // namespace bigbird::tasks
