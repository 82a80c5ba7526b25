// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/base_data.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>

namespace bigbird::tasks {

namespace {

constexpr std::int64_t shortest_gap = 64, piece_bases = 1 << 20;
constexpr std::int64_t most_validation_bases = 4'000'000;

/// Runs of N of shortest_gap and more letters.
std::vector<genome::Interval> gaps_in(const genome::Interval& where, const std::string& dna) {
    std::vector<genome::Interval> gaps;
    for (std::size_t begin = dna.find('N'); begin != std::string::npos; begin = dna.find('N', begin)) {
        const std::size_t end = std::min(dna.find_first_not_of('N', begin), dna.size());
        if (static_cast<std::int64_t>(end - begin) >= shortest_gap) {
            gaps.push_back({where.contig, where.begin + static_cast<std::int64_t>(begin),
                            where.begin + static_cast<std::int64_t>(end)});
        }
        begin = end;
    }
    return gaps;
}

genome::IntervalSet gaps_of(const genome::ReferenceGenome& reference, const genome::IntervalSet& bases,
                            int threads) {
    std::vector<genome::Interval> pieces;
    for (const genome::Interval& where : bases.intervals())
        for (std::int64_t begin = where.begin; begin < where.end; begin += piece_bases)
            pieces.push_back({where.contig, begin, std::min(begin + piece_bases, where.end)});
    std::vector<std::vector<genome::Interval>> found(pieces.size());
    parallel_for(std::ssize(pieces), threads, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        found[at] = gaps_in(pieces[at], reference.fetch(pieces[at]));
    });
    std::vector<genome::Interval> all;
    for (const auto& some : found)
        all.insert(all.end(), some.begin(), some.end());
    return genome::IntervalSet(all);
}

/// Returns every k-th window, so that together they score at most most_validation_bases.
std::vector<LabelWindow> evenly_spaced(std::vector<LabelWindow> windows, std::int64_t bases) {
    const std::int64_t stride = (bases + most_validation_bases - 1) / most_validation_bases;
    if (stride <= 1) return windows;
    std::vector<LabelWindow> some;
    for (std::size_t i = 0; i < windows.size(); i += static_cast<std::size_t>(stride))
        some.push_back(std::move(windows[i]));
    return some;
}

}  // namespace

LabelWindows::LabelWindows(const genome::ReferenceGenome& reference, const examples::BaseLabels& labels,
                           const genome::IntervalSet& bases, int threads)
    : reference_(reference),
      labels_(labels),
      stretches_(bases.without(gaps_of(reference, bases, threads)).intervals()),
      counts_(labels.names().size(), 0) {
    for (const genome::Interval& stretch : stretches_) {
        bases_ += stretch.size();
        ends_.push_back(bases_);
        const std::vector<std::int64_t> some = labels.counts(stretch);
        for (std::size_t i = 0; i < some.size(); ++i)
            counts_[i] += some[i];
    }
}

std::vector<std::string> LabelWindows::samples(std::int64_t count, std::int64_t length) const {
    std::vector<std::string> all, shorter;
    const std::int64_t distance = std::max(length, bases_ / count);
    for (const genome::Interval& stretch : stretches_) {
        for (std::int64_t begin = stretch.begin; begin < stretch.end; begin += distance) {
            const std::int64_t end = std::min(begin + length, stretch.end);
            (end - begin < length / 2 ? shorter : all)
                .push_back(reference_.fetch({stretch.contig, begin, end}));
        }
    }
    return all.empty() ? shorter : all;
}

LabelWindow LabelWindows::draw(Rng rng, std::int64_t size, bool both_strands) const {
    BIGBIRD_EXPECTS(bases_ > 0, "no base to draw");
    const std::int64_t place = rng.between(0, bases_ - 1);
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), place);
    const genome::Interval& stretch = stretches_[static_cast<std::size_t>(found - ends_.begin())];
    const std::int64_t base = stretch.end - (*found - place);
    const std::int64_t least = std::max(stretch.begin, base - size + 1),
                       most = std::min(base, stretch.end - size);
    LabelWindow window{.where = {stretch.contig, most < least ? stretch.begin : rng.between(least, most), 0}};
    window.where.end = std::min(window.where.begin + size, stretch.end);
    window.counted_end = window.where.size();
    window.reverse = both_strands && rng.between(0, 1) == 1;
    return window;
}

std::vector<LabelWindow> LabelWindows::tiles(std::int64_t size, std::int64_t margin) const {
    BIGBIRD_EXPECTS(size > 2 * margin, "a window has bases that count");
    std::vector<LabelWindow> all;
    for (const genome::Interval& stretch : stretches_) {
        for (std::int64_t begin = stretch.begin, next = begin; begin < stretch.end; begin = next) {
            LabelWindow window{.where = {stretch.contig, std::max(stretch.begin, begin - margin), 0}};
            window.where.end = std::min(window.where.begin + size, stretch.end);
            next = window.where.end == stretch.end ? stretch.end : window.where.end - margin;
            window.counted_begin = begin - window.where.begin;
            window.counted_end = next - window.where.begin;
            all.push_back(std::move(window));
        }
    }
    return all;
}

std::string LabelWindows::sequence(const LabelWindow& window) const {
    std::string dna = reference_.fetch(window.where);
    return window.reverse ? genome::reverse_complement(dna) : dna;
}

std::vector<std::int32_t> LabelWindows::labels(const LabelWindow& window) const {
    std::vector<std::int32_t> all = labels_.labels(window.where);
    std::fill(all.begin(), all.begin() + window.counted_begin, -1);
    std::fill(all.begin() + window.counted_end, all.end(), -1);
    if (window.reverse) std::ranges::reverse(all);
    return all;
}

std::vector<double> balanced_weights(const std::vector<std::int64_t>& counts) {
    std::vector<double> all(counts.size(), 1.0);
    const std::int64_t most = *std::ranges::max_element(counts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        all[i] =
            std::min(largest_balanced_weight, static_cast<double>(most) / static_cast<double>(counts[i]));
    }
    return all;
}

at::Tensor label_counts(std::span<const TokenSpan> spans, std::span<const std::int32_t> labels,
                        std::int64_t label_count, std::int64_t length) {
    BIGBIRD_EXPECTS(length >= std::ssize(spans), "room for every id");
    at::Tensor counts = at::zeros({length, label_count});
    float* values = counts.mutable_data_ptr<float>();
    for (const TokenSpan& span : spans) {
        for (std::int64_t base = span.begin; base < span.end; ++base) {
            const std::int32_t label = labels[static_cast<std::size_t>(base)];
            if (label >= 0) values[label] += 1;
        }
        values += label_count;
    }
    return counts;
}

BaseData::BaseData(std::shared_ptr<const TaskNetwork> network, const LabelSplits& splits,
                   const TaskInfo& info, rows::LabelTable labels, const ClassifierSpec& spec, int threads)
    : network_(std::move(network)),
      splits_(splits),
      window_(info.window.size()),
      labels_(std::move(labels)),
      seed_(spec.seed),
      both_strands_(spec.both_strands),
      threads_(threads),
      weights_(spec.positive_weight ? std::vector(splits.train.counts().size(), 1.0)
                                    : balanced_weights(splits.train.counts())),
      tiles_(evenly_spaced(splits.validation.tiles(window_, info.margin.value_or(0)),
                           splits.validation.bases())) {
    if (splits.train.bases() == 0)
        throw InputError("no base is left to learn from that is neither N nor held out");
    if (splits.train.counts()[0] == splits.train.bases())
        throw InputError("no base of train has a label: there is nothing to learn");
}

std::unique_ptr<Target> BaseData::target(const at::Device& device) const {
    return softmax_target(weights_, device);
}

void BaseData::start(TaskNetwork& network, const Target& target, bool) const {
    std::vector<double> rates;
    for (const std::int64_t count : splits_.train.counts())
        rates.push_back(static_cast<double>(count) + 0.5);
    start_at(rates, network, target);
}

void BaseData::say(const TaskNetwork&, std::int64_t steps, std::int64_t batch_size) const {
    const LabelWindows& train = splits_.train;
    const double seen = static_cast<double>(steps * batch_size * window_);
    log_info("{} bases to learn from, {} for validation; {} of {} of {} bases, each seen {:.1f} times",
             train.bases(), splits_.validation.bases(), counted(steps, "step"), counted(batch_size, "window"),
             window_, seen / static_cast<double>(train.bases()));
    for (std::size_t i = 0; i < train.counts().size(); ++i) {
        log_info("label {}: {:.3g} % of the bases to learn from", labels_[i].name,
                 100.0 * static_cast<double>(train.counts()[i]) / static_cast<double>(train.bases()));
    }
}

LabelWindow BaseData::sample(std::int64_t number) const {
    const Rng stream = Rng(seed_).split("windows of labels").split(static_cast<std::uint64_t>(number));
    return splits_.train.draw(stream, window_, both_strands_);
}

Batch BaseData::batch_of(const LabelWindows& source, std::span<const LabelWindow> windows) const {
    Batch batch;
    batch.windows.resize(windows.size());
    batch.labels.resize(windows.size());
    parallel_for(std::ssize(windows), threads_, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        batch.windows[at] = network_->encode(source.sequence(windows[at]));
        batch.labels[at] = source.labels(windows[at]);
    });
    return batch;
}

Batch BaseData::train(std::int64_t begin, std::int64_t end) {
    std::vector<LabelWindow> windows;
    for (std::int64_t number = begin; number < end; ++number)
        windows.push_back(sample(number));
    return batch_of(splits_.train, windows);
}

double BaseData::weight(std::int64_t begin, std::int64_t end) const {
    double sum = 0;
    for (std::int64_t number = begin; number < end; ++number)
        for (const std::int32_t label : splits_.train.labels(sample(number)))
            sum += weights_[static_cast<std::size_t>(label)];
    return sum;
}

Wanted BaseData::wanted(const Batch& batch, std::span<const std::size_t> group, std::int64_t segments) const {
    std::vector<at::Tensor> counts;
    for (const std::size_t index : group) {
        counts.push_back(label_counts(network_->spans(batch.windows[index]), batch.labels[index],
                                      network_->labels(), segments));
    }
    return {at::stack(counts), {}};
}

Batch BaseData::validation(std::int64_t begin, std::int64_t end) const {
    return batch_of(splits_.validation, std::span(tiles_).subspan(static_cast<std::size_t>(begin),
                                                                  static_cast<std::size_t>(end - begin)));
}

ScoredRows BaseData::score(const TaskNetwork& network, const Target&, const Batch& batch,
                           std::int64_t batch_tokens) const {
    std::vector<at::Tensor> logits{at::empty({0, network.labels()})}, truth{at::empty({0}, at::kLong)};
    for (const auto& group : network.group(batch.windows, batch_tokens, model::GroupSizes::few)) {
        const at::Tensor values = network.logits(batch.windows, group).to(at::kCPU);
        for (std::size_t row = 0; row < group.size(); ++row) {
            const std::vector<TokenSpan> spans = network.spans(batch.windows[group[row]]);
            std::vector<std::int64_t> tokens, labels;  // token and label of each counted base
            for (std::size_t token = 0; token < spans.size(); ++token) {
                for (std::int64_t base = spans[token].begin; base < spans[token].end; ++base) {
                    const std::int32_t label = batch.labels[group[row]][static_cast<std::size_t>(base)];
                    if (label < 0) continue;
                    tokens.push_back(static_cast<std::int64_t>(token));
                    labels.push_back(label);
                }
            }
            logits.push_back(
                values[static_cast<std::int64_t>(row)].index_select(0, at::tensor(tokens, at::kLong)));
            truth.push_back(at::tensor(labels, at::kLong));
        }
    }
    return {at::cat(logits), at::cat(truth)};
}

}  // namespace bigbird::tasks
