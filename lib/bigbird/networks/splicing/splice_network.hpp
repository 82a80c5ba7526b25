// SPDX-License-Identifier: Apache-2.0
// Networks of SpliceAI's form (Jaganathan et al. 2019): SpliceAI, OpenSpliceAI, CI-SpliceAI, Pangolin.
// Dilated residual convolutions of 32 channels over single bases; probabilities of acceptors and donors.
// Inference on a CPU in float32 without LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::networks {

/// The mean of several networks (members) of one form.
class SpliceNetwork {
public:
    /// Files (.h5, .pt, .pth) or folders of them, or a model folder of ours: the members, in this order.
    /// Executes nothing of them. Throws InputError, ConfigError where they do not fit together.
    static SpliceNetwork open(std::span<const std::filesystem::path> paths);

    std::int64_t context()
        const;  ///< bases that the outputs lose at both ends together: 80, 400, 2,000 or 10,000
    std::int64_t channels()
        const;  ///< 3: none, acceptor, donor; Pangolin: a probability of a splice site for each of 4 tissues
    const std::string& family() const;  ///< "SpliceAI", "OpenSpliceAI", "CI-SpliceAI", "Pangolin"
    const std::string& sha256() const;  ///< of the weights of all members

    /// codes: bases 0 to 3 in the order A C G T, 4 for N. Returns (codes - context(), channels):
    /// probabilities, the mean over members, summed in their order in float32 as the program does.
    /// Thread-safe.
    std::vector<float> probabilities(std::span<const std::uint8_t> codes, int threads) const;
    struct State;

private:
    std::shared_ptr<const State> state_;
    friend class SpliceStretch;
};

/// A stretch of sequence whose activations are kept, with edits. Results are those of probabilities() of the
/// edited sequence, to 1e-6. Not thread-safe; memory: 4.2 kB a base and member.
class SpliceStretch {
public:
    SpliceStretch(SpliceNetwork network, std::vector<std::uint8_t> codes, int threads);
    /// Output positions [begin, end) of the unchanged stretch, position 0 being the base at context() / 2:
    /// (end - begin, channels).
    std::vector<float> reference(std::int64_t begin, std::int64_t end) const;
    /// The same after the `removed` bases from `at` on (of the stretch) have become `inserted`: output
    /// positions [begin, end) of the edited stretch. Only what the edit reaches is computed.
    std::vector<float> edited(std::int64_t at, std::int64_t removed, std::span<const std::uint8_t> inserted,
                              std::int64_t begin, std::int64_t end) const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace bigbird::networks
