// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/network.hpp"
#include "bigbird/scoring/letters/letter_rows.hpp"
#include "bigbird/tasks/profile_network.hpp"

#include <algorithm>

namespace bigbird::tasks {

namespace {

/// Limit of a batch: numbers in its trunk. With gradients, each layer keeps its own.
constexpr std::int64_t most_in_trunk = std::int64_t{1} << 26;

/// A window with letters that are given, and others around them.
class LettersInWindow {
public:
    LettersInWindow(const genome::Interval& window, const genome::Interval& given, const std::string& dna,
                    const at::Device& device)
        : all_(bins::base_channels(bins::codes_of(dna).unsqueeze(0)).to(device)) {
        const std::int64_t begin = std::max(window.begin, given.begin), end = std::min(window.end, given.end);
        begin_ = begin - window.begin;
        count_ = end - begin;
        first_ = begin - given.begin;
    }
    /// (1, window, 4) as the sequence has it.
    const at::Tensor& own() const { return all_; }
    /// (batch, window, 4) with the given letters, (batch, given, 4).
    at::Tensor with(const at::Tensor& bases) const {
        const auto around = [&](std::int64_t begin, std::int64_t end) {
            return all_.slice(1, begin, end).expand({bases.size(0), -1, -1});
        };
        return at::cat(
            {around(0, begin_), bases.narrow(1, first_, count_), around(begin_ + count_, all_.size(1))}, 1);
    }

private:
    at::Tensor all_;
    std::int64_t begin_, count_;  ///< of the given letters that the window holds, in the window
    std::int64_t first_;          ///< and among the given ones
};

/// Logits of each group, (windows, positions * columns), minus their mean.
std::vector<at::Tensor> centered_logits(const at::Tensor& profile, const networks::ProfileShape& shape) {
    std::vector<at::Tensor> groups;
    for (const at::Tensor& group : profile.split_with_sizes(shape.groups, 2)) {
        const at::Tensor logits = group.flatten(1);
        groups.push_back(logits - logits.mean(1, true));
    }
    return groups;
}

/// Scores of windows, (windows, 4 letters a base), of one network.
bins::LetterScores scores_of(const networks::ProfileNet& net, AttributionTarget target,
                             const at::Tensor& own) {
    if (target == AttributionTarget::counts)
        return [net](const at::Tensor& bases) { return net.ptr()->forward(bases).counts; };
    const at::NoGradGuard no_gradients;
    std::vector<at::Tensor> weights;
    for (const at::Tensor& logits : centered_logits(net.ptr()->forward(own).profile, net.ptr()->shape()))
        weights.push_back(logits.softmax(1));
    return [net, weights](const at::Tensor& bases) {
        const std::vector<at::Tensor> logits =
            centered_logits(net.ptr()->forward(bases).profile, net.ptr()->shape());
        std::vector<at::Tensor> scores;
        for (std::size_t group = 0; group < weights.size(); ++group)
            scores.push_back((weights[group] * logits[group]).sum(1));
        return at::stack(scores, 1);
    };
}

}  // namespace

std::vector<RowScore> profile_scores(std::span<const ModelFolder> models, Strands strands,
                                     AttributionTarget target, const genome::Interval& where,
                                     const SequenceOf& sequence_of) {
    const genome::Interval window = Placement(models, true).parts(where, genome::Strand::none).front().window;
    const LettersInWindow in_window(window, where, sequence_of(window), models.front().network->device());
    std::vector<RowScore> all;
    for (const auto& network : profile_networks(models)) {
        const networks::ProfileShape& shape = network->shape();
        const std::int64_t in_trunk = shape.filters * (shape.layers + 1) * shape.input;
        for (const bool reverse : directions_of(strands)) {
            const auto turned = [reverse](const at::Tensor& bases) {
                return reverse ? bases.flip({1, 2}) : bases;
            };
            const bins::LetterScores scores = scores_of(network->net(), target, turned(in_window.own()));
            all.push_back({[in_window, turned, scores](const at::Tensor& given) {
                               return scores(turned(in_window.with(given)));
                           },
                           std::max<std::int64_t>(1, most_in_trunk / in_trunk)});
        }
    }
    return all;
}

}  // namespace bigbird::tasks
