// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/letter_scores.hpp"

#include "bigbird/bins/letter_window.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/task_models/network/sequence_network.hpp"
#include "bigbird/task_models/score/scorers.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <memory>
#include <typeinfo>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

/// Limits of a batch: bases in the stem, and numbers in the encoder.
constexpr std::int64_t most_bases = 65'536, most_encoded = std::int64_t{1} << 26;

/// The part of a region's score that one window contributes.
struct WindowScore {
    std::shared_ptr<bins::LetterWindow> window;
    std::int64_t first = 0, count = 0;  ///< the region's bases that the window reads
    bool reverse = false;               ///< whether the window is the reverse complement
    at::Tensor weights;                 ///< (window_bins, 1) float32 on the device
    rows::LabelTable labels{};          ///< empty without strand pairs

    at::Tensor of(const at::Tensor& letters) const {
        const at::Tensor seen = letters.narrow(1, first, count);
        const at::Tensor scores = (window->logits(reverse ? seen.flip({1, 2}) : seen) * weights).sum(1);
        return reverse ? on_other_strand(scores, labels) : scores;
    }
};

WindowScore window_score(const BinNetwork& network, std::int64_t begin, const at::Tensor& weights,
                         bool reverse, const genome::Interval& where, const std::string& dna) {
    const std::int64_t bases = network.grid().window_bases();
    const std::int64_t first = std::max(begin, where.begin), end = std::min(begin + bases, where.end);
    WindowScore score{.first = first - where.begin, .count = end - first, .reverse = reverse};
    const at::Tensor codes =
        bins::codes_of(reverse ? genome::reverse_complement(dna) : dna).to(network.device());
    const std::int64_t from = reverse ? begin + bases - end : first - begin;
    score.window =
        std::make_shared<bins::LetterWindow>(network.base_network(), codes, from, from + score.count);
    score.weights = (reverse ? weights.flip(0) : weights).to(network.device());
    return score;
}

std::int64_t at_once_of(const BinNetwork& network, std::int64_t stem_bases) {
    const std::int64_t layers = network.base_network()->config().encoder.num_hidden_layers;
    return std::max<std::int64_t>(
        1, std::min(most_bases / stem_bases,
                    most_encoded / (network.window_positions() * network.hidden_size() * (layers + 1))));
}

void require_letters(const ModelFolder& model, const fs::path& path) {
    const auto records = std::dynamic_pointer_cast<SequenceNetwork>(model.network);
    const std::string& architecture = model.info.architecture;
    if ((records && records->members().empty()) || architecture.starts_with("kmer") ||
        architecture.starts_with("gkm")) {
        throw ConfigError(path.string() +
                          " is a model of k-mers, whose scores have no gradients; predict-mutagenesis and "
                          "predict tell the effects of changes without them");
    }
    if (model.network->reads_tokens()) {
        if (model.network->segments() != Segments::tokens) return;
        throw ConfigError(path.string() +
                          " labels bases, which attribute does not take; predict-tokens scores them");
    }
    if (!records && !model.bins()) {
        throw ConfigError(path.string() + " is a baseline (" + architecture +
                          "), and attribute takes bin models (bigbird-bins) and sequence models");
    }
    if (records && records->shape().kmers) {
        log_warning("{}: k-mers make {:.0f}% of its scores; they have no gradients and are not attributed",
                    path.string(), 100 * records->shape().kmer_share);
    }
}

}  // namespace

std::map<std::int64_t, at::Tensor> bin_weights_of(const bins::Grid& grid, const genome::Interval& where) {
    std::map<std::int64_t, at::Tensor> windows;
    for (const bins::BinShare& share : bins::shares_of(where.begin, where.end, grid.bin)) {
        at::Tensor& weights = windows[grid.begin_of(grid.window_of(share.bin))];
        if (!weights.defined()) weights = at::zeros({grid.window_bins, 1});
        weights[grid.place_of(share.bin)][0] = share.weight;
    }
    return windows;
}

std::vector<ModelFolder> open_letter_models(std::span<const fs::path> paths, const at::Device& device,
                                            const ComputeOptions& computing) {
    std::vector<ModelFolder> models;
    for (const fs::path& path : paths) {
        const TaskInfo info = read_task_info(training::find_model(path));
        const ModelFolder& model = models.emplace_back(open_model(path, info.task, device, computing));
        require_letters(model, path);
        model.network->module()->eval();
        for (at::Tensor& parameter : model.network->module()->parameters())
            parameter.requires_grad_(false);
        if (typeid(*model.network) != typeid(*models.front().network))
            throw ConfigError("models that are averaged must be of one kind: bin, sequence or token models");
        if (model.bins() && model.bins()->grid() != models.front().bins()->grid())
            throw ConfigError("models that are averaged must have equal bins and windows");
    }
    require_agreement(models);
    return models;
}

RowScore region_score(std::span<const ModelFolder> models, Strands strands, const genome::Interval& where,
                      const SequenceOf& sequence_of) {
    const bins::Grid grid = models.front().bins()->grid();
    std::vector<WindowScore> parts;
    std::int64_t at_once = most_bases, means = 0;
    for (const auto& [begin, weights] : bin_weights_of(grid, where)) {
        const std::string dna = sequence_of({where.contig, begin, begin + grid.window_bases()});
        means = 0;
        for (const ModelFolder& model : models) {
            for (const bool reverse : {false, true}) {
                if (strands == (reverse ? Strands::none : Strands::only)) continue;
                parts.push_back(window_score(*model.bins(), begin, weights, reverse, where, dna));
                if (model.labels.has_strand_pairs()) parts.back().labels = model.labels;
                at_once = std::min(at_once, at_once_of(*model.bins(), parts.back().window->stem_bases()));
                ++means;
            }
        }
    }
    const auto scores = [parts, means](const at::Tensor& letters) {
        at::Tensor sum;
        for (const WindowScore& part : parts) {
            const at::Tensor own = part.of(letters);
            sum = sum.defined() ? sum + own : own;
        }
        return sum / means;
    };
    return {scores, at_once};
}

RowScore record_score(std::span<const ModelFolder> models, std::int64_t length) {
    std::vector<std::shared_ptr<SequenceNetwork>> networks;
    for (const ModelFolder& model : models)
        networks.push_back(std::dynamic_pointer_cast<SequenceNetwork>(model.network));
    const auto scores = [networks](const at::Tensor& letters) {
        at::Tensor sum;
        for (const auto& network : networks) {
            const std::int64_t read = std::min(letters.size(1), network->shape().member.longest);
            const at::Tensor own =
                network->letter_logits(letters.narrow(1, (letters.size(1) - read) / 2, read));
            sum = sum.defined() ? sum + own : own;
        }
        return sum / std::ssize(networks);
    };
    return {scores, std::max<std::int64_t>(1, most_bases / length)};
}

}  // namespace bigbird::task_models
