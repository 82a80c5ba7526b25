// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/motifs/footprints.hpp"

#include "bigbird/scoring/placement.hpp"

namespace bigbird::tasks {

ProfileReadings::ProfileReadings(std::span<const ModelFolder> models, Strands strands) {
    const auto networks = profile_networks(models);
    shape_ = networks.front()->shape();
    for (std::size_t i = 0; i < models.size(); ++i)
        for (const bool reverse : directions_of(strands))
            readings_.push_back({&models[i], networks[i], reverse});
}

std::pair<at::Tensor, at::Tensor> ProfileReadings::of(std::span<const std::string> texts) const {
    const at::InferenceMode inference;
    const auto groups = shape_.groups.size();
    at::Tensor reads;
    std::vector<at::Tensor> sums(groups);  // (texts, output, columns of the group)
    for (const Reading& reading : readings_) {
        const networks::ProfileHeads heads = reading.network->heads(texts, reading.reverse);
        const at::Tensor own =
            reading.model->calibration.probabilities(heads.counts.to(at::kDouble)).to(at::kCPU);
        reads = reads.defined() ? reads + own : own;
        for (std::size_t group = 0; group < groups; ++group) {
            const at::Tensor of_group = own.narrow(1, static_cast<std::int64_t>(group), 1).unsqueeze(2) *
                                        profile_probabilities(heads.profile, shape_, group);
            sums[group] = sums[group].defined() ? sums[group] + of_group : of_group;
        }
    }
    for (at::Tensor& sum : sums)
        sum = sum / sum.sum({1, 2}, true);
    return {(reads / static_cast<double>(readings_.size())).contiguous(), at::cat(sums, 2).contiguous()};
}

void Footprints::add_background(const at::Tensor& profile) {
    if (!profile.defined()) return;
    without_ = without_.defined() ? without_ + profile[0] : profile[0];
    ++backgrounds_;
}

void Footprints::add_insertions(std::size_t first, const at::Tensor& profiles) {
    for (std::int64_t i = 0; profiles.defined() && i < profiles.size(0); ++i) {
        at::Tensor& sum = with_[first + static_cast<std::size_t>(i)];
        sum = sum.defined() ? sum + profiles[i] : profiles[i].clone();
    }
}

void Footprints::write(std::size_t insertion, const std::string& head, const ModelFolder& model,
                       genome::TextOutput& output) const {
    const networks::ProfileShape& shape = profile_network(model)->shape();
    const at::Tensor with = with_[insertion] / backgrounds_, without = without_ / backgrounds_;
    std::int64_t column = 0;
    for (std::size_t group = 0; group < shape.groups.size(); ++group) {
        for (const std::string& name : profile_column_names(model.labels[group].name, shape.groups[group])) {
            const at::Tensor one = with.select(1, column).contiguous(),
                             other = without.select(1, column).contiguous();
            for (std::int64_t at = 0; at < shape.output; ++at) {
                output.write(fmt::format("{}\t{}\t{}\t{:.6g}\t{:.6g}\n", head, name, at - shape.output / 2,
                                         one.const_data_ptr<double>()[at],
                                         other.const_data_ptr<double>()[at]));
            }
            ++column;
        }
    }
}

}  // namespace bigbird::tasks
