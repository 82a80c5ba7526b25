// SPDX-License-Identifier: Apache-2.0
// Networks that read records of any length: separately trained members (sequences/network.hpp), regression on
// k-mers, or a weighted mean of both.
#pragma once

#include "bigbird/baselines/window/kmer_counts.hpp"
#include "bigbird/sequences/network.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/task_network.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::tasks {

/// TaskInfo::network of such a model.
struct SequenceShape {
    sequences::Config member;  ///< if there are members
    std::int64_t members = 0;
    std::optional<baselines::KmerWords> kmers = std::nullopt;
    double kmer_share = 0;  ///< weight of the k-mers' logits in the mean with the members'
};
Json to_json(const SequenceShape& shape);
/// Throws InputError naming `where`.
SequenceShape shape_from_json(const Json& json, const std::filesystem::path& where);

/// A network of records of any length. In evaluation mode a member that reads both strands gives the mean
/// over a record and its reverse complement, so that both have the same logits. On a CPU, logits do not
/// depend on other records, to the last bit.
class SequenceNetwork : public TaskNetwork {
public:
    /// Throws ConfigError if the shape is not valid. Parameters are zero.
    SequenceNetwork(const SequenceShape& shape, std::int64_t labels, const at::Device& device);

    std::shared_ptr<torch::nn::Module> module() const override { return module_; }
    at::Tensor output_bias() const override;
    bool any_length() const override { return true; }
    bool shares_passes() const override { return device().is_cpu(); }
    EncodedWindow encode(std::string_view dna, bool reverse) const override;
    std::string encoding_key() const override;
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens,
                                                model::GroupSizes sizes) const override;
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key) const override;
    void write(const TaskInfo& info, const std::filesystem::path& directory) const override;
    std::shared_ptr<TaskNetwork> twin() const override;

    /// The members' part of logits() in evaluation mode (one or both strands), from the letters of a record
    /// instead of its ids: (batch, length, 4) float32 on the device -> (batch, labels). Has gradients with
    /// respect to letters, under a bins::SecantGuard with secants. Needs members and at most
    /// SequenceShape::member.longest bases.
    at::Tensor letter_logits(const at::Tensor& letters) const;

    const SequenceShape& shape() const { return shape_; }
    std::span<const sequences::Network> members() const { return members_; }
    /// With k-mers: (labels, features) and (labels) float32.
    at::Tensor kmer_weight() const { return kmer_weight_; }
    at::Tensor kmer_bias() const { return kmer_bias_; }

private:
    at::Tensor of_members(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                          const model::DropoutKey& key) const;
    at::Tensor of_kmers(std::span<const EncodedWindow> windows, std::span<const std::size_t> group) const;

    SequenceShape shape_;
    std::shared_ptr<torch::nn::Module> module_;
    mutable std::vector<sequences::Network> members_;
    std::optional<baselines::KmerCounts> counts_;
    at::Tensor kmer_weight_, kmer_bias_;
};

/// One member with parameters drawn from `seed`.
std::shared_ptr<SequenceNetwork> new_sequence_network(const sequences::Config& config, std::int64_t labels,
                                                      std::uint64_t seed, const at::Device& device);
/// Regression on k-mers. weight: (labels, features), bias: (labels), any floating type.
std::shared_ptr<SequenceNetwork> kmer_network(const baselines::KmerWords& words, const at::Tensor& weight,
                                              const at::Tensor& bias, const at::Device& device);
/// Combines networks of the same task into one, with copies of their weights. `networks`: of one member each;
/// `kmers` (may be null): kmer_network(), whose logits weigh `share`.
std::shared_ptr<SequenceNetwork> mean_network(std::span<const std::shared_ptr<SequenceNetwork>> networks,
                                              const std::shared_ptr<SequenceNetwork>& kmers, double share);

}  // namespace bigbird::tasks
