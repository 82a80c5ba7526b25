// SPDX-License-Identifier: Apache-2.0
// The interface of every task model in training and scoring: windows of DNA in, logits on a grid of segments
// out. BigBird reads windows as tokens (bigbird_network.hpp); bigbird-bins, the convolutional baselines and
// linear models of k-mers read them as bases (bases_network.hpp).
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/bins/motifs.hpp"
#include "bigbird/bins/substitutions.hpp"
#include "bigbird/model/batching.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/networks/files/profile_model.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/training/device/autocast.hpp"

#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

/// How an encoder computes; its parameters and what follows it are float32.
struct ComputeOptions {
    training::ComputeType type = training::ComputeType::fp32;
    bool is_default = false;  ///< nobody chose the type
};

/// From the value of --dtype (training::parse_compute_type).
ComputeOptions parse_compute_options(const std::string& type, const at::Device& device);

/// Padded tokens per forward pass: the requested number, or with 0 the number that fits. Half of it if
/// gradients are kept on a GPU.
std::int64_t batch_tokens_on(const at::Device& device, std::int64_t asked, bool gradients = false);

/// Where and how a verb computes.
struct Job {
    at::Device device = at::kCPU;
    ComputeOptions computing{};
    std::int64_t batch_tokens = 0;
    int threads = 1;                                              ///< threads for work outside LibTorch
    std::optional<networks::Component> component = std::nullopt;  ///< of ChromBPNet; unset: nobias
};

/// Opens the device and tells LibTorch how many threads it may use. Throws ConfigError, DeviceError.
Job open_job(const ComputeSpec& spec);

/// The bases of an id of a window, [begin, end) of the window; empty for [CLS] and [SEP].
struct TokenSpan {
    std::int64_t begin = 0, end = 0;
};

/// Encodes a stretch of DNA as the ids that the network reads: [CLS] tokens [SEP], or [CLS] tokens.
struct EncodedWindow {
    std::vector<std::int32_t> ids;  ///< [CLS] and [SEP] included; empty if the window is all N
    bool truncated = false;         ///< tokens were left out to fit max_tokens
    std::int64_t first_base = 0;    ///< base of the window where the first token begins
    /// Ids with bases of the window's anchor (mark_anchor), [begin, end); both 0: none marked.
    std::int32_t marked_begin = 0, marked_end = 0;
    /// By id, where a tokenizer's ids do not tell (DnaTokenizer::has_fixed_lengths); else empty.
    std::vector<TokenSpan> spans{};

    bool all_n() const { return ids.empty(); }
};

/// Encodes a window of normalized sequence. Its outer runs of N (beyond a contig's end, assembly gaps) are
/// left out, because thousands of N tokens hold no information and cost time. Inner N stay. A window of more
/// than `max_tokens` tokens (with [CLS] and [SEP]; at least 3) keeps the tokens around its middle base,
/// equally many on each side. If a side has fewer tokens, the other side gets the remaining room.
/// Thread-safe.
EncodedWindow encode_window(std::string_view dna, const tokenizer::DnaTokenizer& tokenizer,
                            std::int64_t max_tokens);

/// By id of the window.
std::vector<TokenSpan> token_spans(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer);

/// Marks the ids of an encoded window (encode_window()) that contain any of its bases [begin, end). If
/// truncation removed all of these ids, marks the nearest remaining id.
void mark_anchor(EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer, std::int64_t begin,
                 std::int64_t end);

struct TaskInfo;

/// The unit of a row of logits: a window, a bin of its grid, or a token, whose bases all have its logits.
enum class Segments : std::uint8_t { window, bins, tokens };

/// A window of normalized sequence as a network reads it, or its reverse complement, and its logits after
/// edits. Edits, segments and labels are those of the window's own strand, whichever is read. Not
/// thread-safe.
class NetworkWindow {
public:
    virtual ~NetworkWindow() = default;
    /// Logits of the unchanged window, (segments, labels).
    virtual at::Tensor logits() const = 0;
    /// (substitutions, chosen, labels) logits with each substitution applied separately, at its chosen
    /// segments, (substitutions, chosen) int64 on the CPU. A row does not depend on the others.
    virtual at::Tensor logits(std::span<const bins::Substitution> each, const at::Tensor& segments) const = 0;
    /// (texts, segments, labels) logits of the same window with other edits; NaN where the network reads only
    /// N.
    virtual at::Tensor logits(std::span<const std::string> edited) const = 0;
};

class TaskNetwork {
public:
    virtual ~TaskNetwork() = default;

    /// The module with the model's parameters; its train() and eval() switch dropout on and off.
    virtual std::shared_ptr<torch::nn::Module> module() const = 0;
    /// The parameters that every loss depends on.
    virtual std::vector<at::Tensor> trained_parameters() const { return module()->parameters(); }
    /// (labels) of the last layer, added to the logits without change.
    virtual at::Tensor output_bias() const = 0;
    virtual Segments segments() const { return Segments::window; }
    std::int64_t labels() const { return output_bias().size(0); }
    at::Device device() const { return output_bias().device(); }

    /// Encodes a window of normalized sequence, or its reverse complement, for this network. Networks of
    /// windows have no ids for a window of only N. Thread-safe.
    virtual EncodedWindow encode(std::string_view dna, bool reverse = false) const = 0;
    /// Networks with equal keys encode every window in the same way.
    virtual std::string encoding_key() const = 0;
    /// Whether ids are tokens, not bases.
    virtual bool reads_tokens() const { return false; }
    /// Whether it reads complete records of any length. Other networks read a window of fixed length around
    /// the middle.
    virtual bool any_length() const { return reads_tokens(); }
    /// Whether several threads may call logits(), and threads gain more by passes of their own than by
    /// sharing one (for_each_pass): small networks on a CPU, in evaluation mode.
    virtual bool shares_passes() const { return false; }
    /// A separate network with the same weights, on the same device; null if this kind does not support it.
    virtual std::shared_ptr<TaskNetwork> twin() const { return nullptr; }
    /// The bases of each token of a window; none if ids are bases.
    virtual std::vector<TokenSpan> spans(const EncodedWindow&) const { return {}; }
    /// Groups of indices of windows that may go through the network together, with at most `batch_tokens` ids
    /// per group (but at least one window). The grouping does not change a window's logits. A group may be
    /// filled up by repeating its last window.
    virtual std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                        std::int64_t batch_tokens,
                                                        model::GroupSizes sizes) const = 0;
    /// (group, segments, labels) float32 logits of windows[group[0]], …, on the device; in the module's
    /// current mode, with gradients if they are enabled. `key` holds a sample for each window of the group
    /// (used in training mode only).
    virtual at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                              const model::DropoutKey& key = {}) const = 0;
    /// Writes config.json, model.safetensors and other files that the network needs (such as a tokenizer)
    /// into an existing folder. Throws WriteError.
    virtual void write(const TaskInfo& info, const std::filesystem::path& directory) const = 0;
    /// Opens a window for edits; the network must outlive the result. This default computes complete windows.
    virtual std::unique_ptr<NetworkWindow> edit(std::string_view window, bool reverse, const Job& job) const;
};

/// A network with segments of bins.
class BinNetwork : public TaskNetwork {
public:
    Segments segments() const final { return Segments::bins; }
    virtual bins::Grid grid() const = 0;
    /// The maximum number of a window's positions that the encoder reads.
    virtual std::int64_t window_positions() const = 0;
    /// Windows that go through the network at once: what `batch_tokens` positions hold, at least one.
    virtual std::int64_t windows_at_once(std::int64_t batch_tokens) const {
        return std::max<std::int64_t>(1, batch_tokens / window_positions());
    }
    bool shares_passes() const override {
        constexpr std::int64_t positions_of_small = 512;
        return device().is_cpu() && base_network() && window_positions() <= positions_of_small;
    }
    /// Size of the encoder's part of features(), which comes first.
    virtual std::int64_t hidden_size() const = 0;
    /// The network itself if it reads bases; null if it reads tokens.
    virtual bins::BinsNetwork base_network() const { return nullptr; }
    /// (windows, window_bins, hidden_size or more) float32: the head's input for each bin.
    virtual at::Tensor features(std::span<const EncodedWindow> windows,
                                const model::DropoutKey& key = {}) const = 0;
    /// Their logits, (windows, window_bins, labels) float32.
    virtual at::Tensor predict(const at::Tensor& features, const model::DropoutKey& key = {}) const = 0;
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens,
                                                model::GroupSizes sizes) const override;
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key = {}) const override;
    /// Logits of all windows at once.
    at::Tensor logits(std::span<const EncodedWindow> windows, const model::DropoutKey& key = {}) const {
        return predict(features(windows, key), key);
    }
};

/// Logits of windows, in their order: (windows, segments, labels) float32 on the CPU. Runs the network in
/// evaluation mode, without gradients, in groups, so that a window's logits do not depend on the others.
/// `after_batch` (may be empty) gets each group's number of windows. `sizes`: of groups; nullopt: those for
/// scoring (model::sizes_for_scores). Throws Stopped between groups after a signal. Segments are of windows
/// or bins.
at::Tensor batched_logits(const TaskNetwork& network, std::span<const EncodedWindow> windows,
                          std::int64_t batch_tokens,
                          const std::function<void(std::int64_t)>& after_batch = {},
                          std::optional<model::GroupSizes> sizes = std::nullopt);

}  // namespace bigbird::tasks
