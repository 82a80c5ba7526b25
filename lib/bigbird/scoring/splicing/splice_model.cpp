// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/splice_model.hpp"

#include <utility>

namespace bigbird::splicing {

namespace {

class NetworkModel : public SpliceModel {
public:
    explicit NetworkModel(networks::SpliceNetwork network) : network_(std::move(network)) {}
    std::int64_t context() const override { return network_.context(); }
    std::int64_t channels() const override { return network_.channels(); }
    const std::string& family() const override { return network_.family(); }
    const std::string& sha256() const override { return network_.sha256(); }
    std::vector<std::vector<float>> edited(std::span<const std::uint8_t> codes,
                                           std::span<const networks::SpliceEdit> edits,
                                           int threads) const override {
        return network_.edited(codes, edits, threads);
    }

private:
    networks::SpliceNetwork network_;
};

}  // namespace

std::unique_ptr<SpliceModel> model_of(networks::SpliceNetwork network) {
    return std::make_unique<NetworkModel>(std::move(network));
}

}  // namespace bigbird::splicing
