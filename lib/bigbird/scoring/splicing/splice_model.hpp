// SPDX-License-Identifier: Apache-2.0
// What scores of splice variants ask of a network.
#pragma once

#include "bigbird/networks/splicing/splice_network.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::splicing {

/// A network, or what a test puts in its place. Each function is that of networks::SpliceNetwork.
class SpliceModel {
public:
    virtual ~SpliceModel() = default;
    virtual std::int64_t context() const = 0;
    virtual std::int64_t channels() const = 0;
    virtual const std::string& family() const = 0;
    virtual const std::string& sha256() const = 0;
    virtual std::vector<std::vector<float>> edited(std::span<const std::uint8_t> codes,
                                                   std::span<const networks::SpliceEdit> edits,
                                                   int threads) const = 0;
};

std::unique_ptr<SpliceModel> model_of(networks::SpliceNetwork network);

}  // namespace bigbird::splicing
