// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/middle_bin.hpp"

#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <numeric>

namespace bigbird::task_models {

namespace {

class MiddleBin : public WindowNetwork {
public:
    MiddleBin(std::shared_ptr<BinNetwork> network, const TaskInfo& info)
        : network_(std::move(network)), info_(info) {
        const bins::Grid grid = network_->grid();
        const std::int64_t begin = grid.window_bases() / 2 - grid.bin / 2;
        shares_ = bins::shares_of(begin, begin + grid.bin, grid.bin);
    }
    torch::nn::Module& module() override { return *network_->module(); }
    std::vector<at::Tensor> trained_parameters() override { return network_->trained_parameters(); }
    at::Tensor output_bias() override { return network_->output_bias(); }
    std::int64_t labels() const override { return network_->labels(); }
    at::Device device() const override { return network_->device(); }
    EncodedWindow encode(std::string_view dna, bool reverse) const override {
        if (dna.find_first_not_of('N') == std::string_view::npos) return {};
        return network_->encode(reverse ? genome::reverse_complement(dna) : dna);
    }
    std::string encoding_key() const override { return network_->encoding_key(); }
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens,
                                                model::GroupSizes sizes) const override {
        std::vector<std::size_t> all(windows.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return model::cut_into_groups(
            all, model::members_a_group(network_->window_positions(), batch_tokens, sizes), sizes);
    }
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key) override {
        std::vector<EncodedWindow> chosen;
        for (const std::size_t index : group)
            chosen.push_back(windows[index]);
        const at::Tensor all = network_->logits(chosen, key);  // (group, bins, labels)
        at::Tensor sum = at::zeros({all.size(0), all.size(2)}, all.options());
        for (const bins::BinShare& share : shares_)
            sum += all.select(1, share.bin) * share.weight;
        return sum;
    }
    void write(const std::filesystem::path& directory) const override { network_->write(info_, directory); }

private:
    std::shared_ptr<BinNetwork> network_;
    TaskInfo info_;
    std::vector<bins::BinShare> shares_;
};

}  // namespace

std::shared_ptr<WindowNetwork> bin_in_the_middle(std::shared_ptr<BinNetwork> network, const TaskInfo& info) {
    return std::make_shared<MiddleBin>(std::move(network), info);
}

}  // namespace bigbird::task_models
