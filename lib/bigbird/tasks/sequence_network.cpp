// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/sequence_network.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/weights.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <map>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

/// Number of records computed together if their number must not change a result: in products of up to 64
/// rows, rows are computed separately (model::linear).
constexpr std::size_t records_together = 16;

struct Codes {
    at::Tensor bases;                   // (group, padded length) uint8, on the device
    std::vector<std::int64_t> lengths;  // length of each record
};

Codes codes_of(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
               const sequences::Config& config, bool reverse, const at::Device& device) {
    Codes codes;
    const std::int64_t padded = config.padded(std::ssize(windows[group.front()].ids));
    codes.bases = at::full({std::ssize(group), padded}, baselines::code_of_n, at::kByte);
    auto* row = codes.bases.mutable_data_ptr<std::uint8_t>();
    for (const std::size_t index : group) {
        const std::vector<std::int32_t>& ids = windows[index].ids;
        codes.lengths.push_back(std::ssize(ids));
        if (reverse) {
            std::transform(
                ids.rbegin(), ids.rend(), row,
                [](std::int32_t id) {
                    return static_cast<std::uint8_t>(id < baselines::code_of_n ? 3 - id : id);
                });
        } else {
            std::ranges::transform(
                ids, row, [](std::int32_t id) { return static_cast<std::uint8_t>(id); });
        }
        row += padded;
    }
    codes.bases = model::copy_to_device(codes.bases, device);
    return codes;
}

}  // namespace

Json to_json(const SequenceShape& shape) {
    Json json = Json::object();
    if (shape.members > 0) json.update(Json{{"members", shape.members}, {"member", to_json(shape.member)}});
    if (shape.kmers) {
        json["kmers"] = {{"lengths", shape.kmers->lengths},
                         {"both_strands", shape.kmers->both_strands},
                         {"places", shape.kmers->positions}};
        json["kmer_share"] = shape.kmer_share;
    }
    return json;
}

SequenceShape shape_from_json(const Json& json, const fs::path& where) {
    try {
        SequenceShape shape;
        if (json.contains("members")) {
            shape.members = whole_number(json, "members");
            shape.member = sequences::config_from_json(json.at("member"), where);
        }
        if (json.contains("kmers")) {
            const Json& kmers = json.at("kmers");
            shape.kmers = baselines::KmerWords{.lengths = kmers.at("lengths").get<std::vector<int>>(),
                                               .both_strands = kmers.at("both_strands").get<bool>(),
                                               .positions = whole_number(kmers, "places")};
            shape.kmer_share = json.at("kmer_share").get<double>();
        }
        return shape;
    } catch (const Json::exception& error) {
        throw InputError("the network's description is damaged: " + std::string(error.what()), where);
    }
}

SequenceNetwork::SequenceNetwork(const SequenceShape& shape, std::int64_t labels, const at::Device& device)
    : shape_(shape), module_(std::make_shared<torch::nn::Module>("sequences")) {
    if (shape.members < 0 || (shape.members == 0 && !shape.kmers))
        throw ConfigError("a model of sequences needs members or k-mers");
    const auto members = module_->register_module("members", std::make_shared<torch::nn::Module>("members"));
    for (std::int64_t i = 0; i < shape.members; ++i)
        members_.push_back(
            members->register_module(std::to_string(i), sequences::Network(shape.member, labels)));
    if (shape.kmers) {
        counts_.emplace(*shape.kmers);
        const auto kmers = module_->register_module("kmers", std::make_shared<torch::nn::Module>("kmers"));
        kmer_weight_ = kmers->register_parameter("weight", at::zeros({labels, counts_->size()}));
        kmer_bias_ = kmers->register_parameter("bias", at::zeros({labels}));
    }
    module_->to(device);
    if (shape.kmers) {
        const auto parameters = module_->named_parameters();
        kmer_weight_ = parameters["kmers.weight"];
        kmer_bias_ = parameters["kmers.bias"];
    }
}

at::Tensor SequenceNetwork::output_bias() const {
    return members_.empty() ? kmer_bias_ : members_.front()->output_bias();
}

EncodedWindow SequenceNetwork::encode(std::string_view dna, bool reverse) const {
    EncodedWindow window;
    if (dna.find_first_not_of('N') == std::string_view::npos) return window;
    const auto longest = static_cast<std::size_t>(shape_.member.longest);
    if (dna.size() > longest) {
        dna = dna.substr((dna.size() - longest) / 2, longest);
        window.truncated = true;
    }
    window.ids = baselines::base_codes(reverse ? genome::reverse_complement(dna) : std::string(dna));
    return window;
}

std::string SequenceNetwork::encoding_key() const {
    return "records of at most " + std::to_string(shape_.member.longest) + " bases";
}

std::vector<std::vector<std::size_t>> SequenceNetwork::group(std::span<const EncodedWindow> windows,
                                                             std::int64_t batch_tokens,
                                                             model::GroupSizes sizes) const {
    std::map<std::int64_t, std::vector<std::size_t>> by_length;
    for (std::size_t i = 0; i < windows.size(); ++i)
        by_length[shape_.member.padded(std::ssize(windows[i].ids))].push_back(i);
    std::vector<std::vector<std::size_t>> groups;
    for (const auto& [length, members] : by_length) {
        const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, batch_tokens / length));
        const bool equal = sizes == model::GroupSizes::equal;
        std::ranges::move(
            model::cut_into_groups(members, equal ? std::bit_floor(std::min(most, records_together)) : most,
                                   sizes),
            std::back_inserter(groups));
    }
    return groups;
}

at::Tensor SequenceNetwork::of_members(std::span<const EncodedWindow> windows,
                                       std::span<const std::size_t> group,
                                       const model::DropoutKey& key) const {
    at::Tensor sum;
    const bool both = shape_.member.both_strands && !module_->is_training();
    for (const bool reverse : {false, true}) {
        if (reverse && !both) break;
        const Codes codes = codes_of(windows, group, shape_.member, reverse, device());
        for (sequences::Network& member : members_) {
            const at::Tensor logits = member->forward(codes.bases, codes.lengths, key);
            sum = sum.defined() ? sum + logits : logits;
        }
    }
    const std::int64_t passes = shape_.members * (both ? 2 : 1);
    return passes == 1 ? sum : sum / passes;
}

at::Tensor SequenceNetwork::letter_logits(const at::Tensor& letters) const {
    const std::int64_t length = letters.size(1), padding = shape_.member.padded(length) - length;
    const std::vector<std::int64_t> lengths(static_cast<std::size_t>(letters.size(0)), length);
    std::vector<at::Tensor> all;
    for (const bool reverse : {false, true}) {
        if (reverse && !shape_.member.both_strands) break;
        const at::Tensor strand =
            at::constant_pad_nd(reverse ? letters.flip({1, 2}) : letters, {0, 0, 0, padding});
        for (sequences::Network& member : members_)
            all.push_back(member->forward(strand, lengths, {}));
    }
    return at::stack(all).mean(0);
}

at::Tensor SequenceNetwork::of_kmers(std::span<const EncodedWindow> windows,
                                     std::span<const std::size_t> group) const {
    const at::Tensor weight = kmer_weight_.detach().cpu(), bias = kmer_bias_.detach().cpu();
    const std::int64_t labels = weight.size(0), features = weight.size(1);
    const auto *const by = weight.const_data_ptr<float>(), *const first = bias.const_data_ptr<float>();
    at::Tensor logits = at::empty({std::ssize(group), labels});
    auto* out = logits.mutable_data_ptr<float>();
    for (const std::size_t index : group) {
        const std::vector<baselines::Feature> found = counts_->count(windows[index].ids);
        for (std::int64_t label = 0; label < labels; ++label) {
            double sum = static_cast<double>(first[label]);
            for (const baselines::Feature& feature : found)
                sum += static_cast<double>(feature.value) *
                       static_cast<double>(by[label * features + feature.index]);
            *out++ = static_cast<float>(sum);
        }
    }
    return logits.to(device());
}

at::Tensor SequenceNetwork::logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                                   const model::DropoutKey& key) const {
    if (members_.empty()) return of_kmers(windows, group).unsqueeze(1);
    at::Tensor logits = of_members(windows, group, key);
    if (counts_) logits = (1 - shape_.kmer_share) * logits + shape_.kmer_share * of_kmers(windows, group);
    return logits.unsqueeze(1);
}

void SequenceNetwork::write(const TaskInfo& info, const fs::path& directory) const {
    TaskInfo written = info;
    written.network = to_json(shape_);
    write_folder(*this, "bigbird_dna_sequence", written, directory);
}

std::shared_ptr<TaskNetwork> SequenceNetwork::twin() const {
    auto other = std::make_shared<SequenceNetwork>(shape_, labels(), device());
    model::copy_parameters(*other->module_, *module_);
    return other;
}

std::shared_ptr<SequenceNetwork> new_sequence_network(const sequences::Config& config, std::int64_t labels,
                                                      std::uint64_t seed, const at::Device& device) {
    auto network =
        std::make_shared<SequenceNetwork>(SequenceShape{.member = config, .members = 1}, labels, device);
    sequences::Network member = network->members().front();
    sequences::initialise(*member, seed);
    return network;
}

std::shared_ptr<SequenceNetwork> kmer_network(const baselines::KmerWords& words, const at::Tensor& weight,
                                              const at::Tensor& bias, const at::Device& device) {
    auto network = std::make_shared<SequenceNetwork>(
        SequenceShape{.member = {}, .kmers = words, .kmer_share = 1}, weight.size(0), device);
    const at::NoGradGuard no_gradients;
    network->kmer_weight().copy_(weight);
    network->kmer_bias().copy_(bias);
    network->module()->eval();
    return network;
}

std::shared_ptr<SequenceNetwork> mean_network(std::span<const std::shared_ptr<SequenceNetwork>> networks,
                                              const std::shared_ptr<SequenceNetwork>& kmers, double share) {
    const SequenceNetwork& first = *networks.front();
    SequenceShape shape{.member = first.shape().member, .members = std::ssize(networks)};
    if (kmers) {
        shape.kmers = kmers->shape().kmers;
        shape.kmer_share = share;
    }
    auto mean = std::make_shared<SequenceNetwork>(shape, first.labels(), first.device());
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < networks.size(); ++i) {
        sequences::Network to = mean->members()[i], from = networks[i]->members().front();
        model::copy_parameters(*to, *from);
    }
    if (kmers) {
        mean->kmer_weight().copy_(kmers->kmer_weight());
        mean->kmer_bias().copy_(kmers->kmer_bias());
    }
    mean->module()->eval();
    return mean;
}

}  // namespace bigbird::tasks
