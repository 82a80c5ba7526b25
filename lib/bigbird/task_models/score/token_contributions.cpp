// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/token_contributions.hpp"

#include "bigbird/bins/attributions.hpp"
#include "bigbird/task_models/network/bigbird_network.hpp"
#include "bigbird/task_models/score/letter_scores.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t most_numbers = std::int64_t{1} << 21;  ///< maximum numbers in the vectors of a batch

/// A window of a row as one model reads it, on one strand.
class TokenReading {
public:
    /// `weights`: of the window's segments in the score, (segments, 1).
    TokenReading(const TaskNetwork& network, const TokenRow& row, const genome::Interval& window,
                 const at::Tensor& weights, bool reverse)
        : vectors_of_(dynamic_cast<const TokenVectors&>(network)),
          window_(network.encode(row.sequence_of(window), reverse)),
          weights_((reverse ? weights.flip(0) : weights).to(network.device())) {
        const std::int64_t bases = window.size(), begin = row.where.begin - window.begin,
                           end = row.where.end - window.begin;
        const std::vector<TokenSpan> spans = network.spans(window_);
        for (std::int64_t id = 0; id < std::ssize(spans); ++id) {
            TokenSpan span = spans[static_cast<std::size_t>(id)];
            if (reverse) span = {bases - span.end, bases - span.begin};
            if (span.begin == span.end || span.begin >= end || span.end <= begin) continue;
            if (spans_.empty()) first_ = id;
            spans_.push_back({span.begin - begin, span.end - begin});
        }
        vectors_ = vectors_of_.word_vectors(window_);
    }
    bool reads_nothing() const { return spans_.empty(); }

    /// (labels, tokens) on the CPU.
    at::Tensor contributions(AttributionMethod method, std::span<const std::size_t> labels,
                             TokenContributions& sums) const {
        const std::int64_t count = std::ssize(spans_), ids = vectors_.size(0);
        const bins::LetterScores scores = [&](const at::Tensor& some) {
            const auto part = [&](std::int64_t begin, std::int64_t end) {
                return vectors_.slice(0, begin, end).expand({some.size(0), -1, -1});
            };
            const at::Tensor all = at::cat({part(0, first_), some, part(first_ + count, ids)}, 1);
            return (vectors_of_.vector_logits(window_, all) * weights_).sum(1);
        };
        const at::Tensor own = vectors_.narrow(0, first_, count);
        const bins::Attributed what{scores, own, labels,
                                    std::max<std::int64_t>(1, most_numbers / vectors_.numel())};
        if (method == AttributionMethod::saliency) return bins::gradients(what).norm(2, 2).cpu();
        if (method == AttributionMethod::input_x_gradient) return (bins::gradients(what) * own).sum(2).cpu();
        const at::Tensor nothing = at::zeros_like(own).unsqueeze(0);
        const at::Tensor found = (bins::integrated_gradients(what, nothing) * own).sum(2).cpu();
        const at::Tensor differences = bins::score_differences(what, nothing);
        sums.gap += (found.sum(1) - differences).abs().sum().item<double>();
        sums.difference += differences.abs().sum().item<double>();
        return found;
    }
    /// Adds contributions (labels, tokens) to those of bases, (labels, bases). A token's contribution is
    /// divided equally among its bases.
    void spread(const at::Tensor& contributions, at::Tensor& bases) const {
        for (std::int64_t token = 0; token < std::ssize(spans_); ++token) {
            const auto [begin, end] = spans_[static_cast<std::size_t>(token)];
            bases.slice(1, std::max<std::int64_t>(0, begin), std::min(end, bases.size(1))) +=
                contributions.narrow(1, token, 1) / (end - begin);
        }
    }

private:
    const TokenVectors& vectors_of_;
    EncodedWindow window_;
    at::Tensor weights_;
    std::vector<TokenSpan>
        spans_;               ///< tokens that cover bases of the row; coordinates from the row's first base
    std::int64_t first_ = 0;  ///< index of the first of these tokens
    at::Tensor vectors_;      ///< (ids, hidden)
};

}  // namespace

TokenContributions token_contributions(std::span<const ModelFolder> models, const AttributeSpec& spec,
                                       std::span<const std::size_t> labels, const TokenRow& row) {
    const bool both = models.front().info.task == examples::Task::chromatin;
    const auto bins = models.front().bins();
    std::map<std::int64_t, at::Tensor> windows{{row.window.begin, at::ones({1, 1})}};
    if (bins) windows = bin_weights_of(bins->grid(), row.where);
    const std::int64_t bases = bins ? bins->grid().window_bases() : row.window.size();
    TokenContributions all{at::zeros({std::ssize(labels), row.where.size()})};
    std::int64_t readings = 0;
    for (const ModelFolder& model : models) {
        for (const bool other : {false, true}) {
            if (both ? spec.strands == (other ? Strands::none : Strands::only) : other) continue;
            ++readings;
            for (const auto& [begin, weights] : windows) {
                const TokenReading reading(*model.network, row, {row.where.contig, begin, begin + bases},
                                           weights, other != row.reverse);
                if (reading.reads_nothing()) continue;
                reading.spread(reading.contributions(spec.method, labels, all), all.of_bases);
            }
        }
    }
    all.of_bases /= readings;
    return all;
}

}  // namespace bigbird::task_models
