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

/// An edit of a stretch, and the outputs that are wanted of it.
struct SpliceEdit {
    std::int64_t at = 0, removed = 0;  ///< bases of the stretch
    std::vector<std::uint8_t> inserted{};
    std::int64_t begin = 0,
                 end = 0;  ///< outputs of the edited stretch; output 0 is of the base at context() / 2
};

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

    /// For each edit of the stretch `codes`, the outputs [begin, end) of probabilities() of the edited
    /// stretch, up to rounding, which depends on the stretch and this edit only. An edit that changes nothing
    /// gives the stretch's own outputs. The stretch is computed once, an edit only where it reaches. Members
    /// are computed one after another; each calling thread keeps 4.3 kB for each base of its longest stretch.
    /// Throws ConfigError where an edit or its outputs are beyond the stretch. Thread-safe.
    std::vector<std::vector<float>> edited(std::span<const std::uint8_t> codes,
                                           std::span<const SpliceEdit> edits, int threads) const;

    /// Writes a model folder into a folder that is there (PendingOutput). Throws WriteError.
    void write(const std::filesystem::path& directory) const;

    struct State;

private:
    std::shared_ptr<const State> state_;
};

}  // namespace bigbird::networks
