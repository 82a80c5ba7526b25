// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/task_network.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

namespace bigbird::tasks {

namespace {

/// The bases of tokens that follow one another, from `begin`.
std::vector<TokenSpan> spans_by_length(std::span<const std::int32_t> ids,
                                       const tokenizer::DnaTokenizer& tokenizer, std::int64_t begin) {
    std::vector<TokenSpan> spans;
    for (const std::int32_t id : ids) {
        spans.push_back({begin, begin + tokenizer.piece_length(id)});
        begin = spans.back().end;
    }
    return spans;
}

/// Tokens of a stretch, and their bases in a window in which it begins at `first`.
struct Tokens {
    std::vector<std::int32_t> ids;
    std::vector<TokenSpan> spans;
};

Tokens tokens_of(std::string_view dna, const tokenizer::DnaTokenizer& tokenizer, std::int64_t first) {
    if (tokenizer.has_fixed_lengths()) {
        std::vector<std::int32_t> ids = tokenizer.encode(dna);
        std::vector<TokenSpan> spans = spans_by_length(ids, tokenizer, first);
        return {std::move(ids), std::move(spans)};
    }
    tokenizer::Encoding encoding = tokenizer.encode_with_spans(dna);
    Tokens tokens{std::move(encoding.ids), {}};
    for (const tokenizer::TextSpan& span : encoding.spans)
        tokens.spans.push_back(
            {first + static_cast<std::int64_t>(span.begin), first + static_cast<std::int64_t>(span.end)});
    return tokens;
}

/// Index of the token that spells a base of the window, or the last one.
std::size_t token_at(const std::vector<TokenSpan>& spans, std::int64_t base) {
    for (std::size_t i = 0; i < spans.size(); ++i)
        if (spans[i].end > base) return i;
    return spans.size() - 1;
}

}  // namespace

ComputeOptions parse_compute_options(const std::string& type, const at::Device& device) {
    return {training::parse_compute_type(type, device), type == "auto"};
}

std::int64_t batch_tokens_on(const at::Device& device, std::int64_t asked, bool gradients) {
    constexpr std::int64_t fits_cpu = 16'384, fits_gpu = 262'144;
    if (asked > 0) return asked;
    if (device.is_cpu()) return fits_cpu;
    return gradients ? fits_gpu / 2 : fits_gpu;
}

Job open_job(const ComputeSpec& spec) {
    const int threads = resolve_threads(spec.threads);
    model::set_compute_threads(threads);
    const at::Device device = model::open_device(spec.device);
    return {device, parse_compute_options(spec.dtype, device), batch_tokens_on(device, spec.batch_tokens),
            threads, spec.component};
}

EncodedWindow encode_window(std::string_view dna, const tokenizer::DnaTokenizer& tokenizer,
                            std::int64_t max_tokens) {
    BIGBIRD_EXPECTS(max_tokens >= 3, "a window needs room for [CLS], one piece and [SEP]");
    EncodedWindow window;
    const std::size_t first = dna.find_first_not_of('N');
    if (first == std::string_view::npos) return window;
    const std::size_t last = dna.find_last_not_of('N');
    const auto [pieces, spans] =
        tokens_of(dna.substr(first, last - first + 1), tokenizer, static_cast<std::int64_t>(first));
    if (pieces.empty()) return window;
    const auto room = static_cast<std::size_t>(max_tokens - tokenizer.frame());
    std::size_t begin = 0, count = pieces.size();
    if (count > room) {
        const std::size_t centre = token_at(spans, static_cast<std::int64_t>(dna.size() / 2));
        begin = std::min(centre - std::min(centre, room / 2), count - room);
        count = room;
        window.truncated = true;
    }
    window.first_base = spans[begin].begin;
    const bool has_end = tokenizer.frame() > 1;
    const auto part = [&](const auto& all) { return std::span(all).subspan(begin, count); };
    window.ids.reserve(count + 2);
    window.ids.push_back(tokenizer.special_ids().cls);
    std::ranges::copy(part(pieces), std::back_inserter(window.ids));
    if (has_end) window.ids.push_back(tokenizer.special_ids().sep);
    if (tokenizer.has_fixed_lengths()) return window;
    window.spans.push_back({window.first_base, window.first_base});
    std::ranges::copy(part(spans), std::back_inserter(window.spans));
    if (has_end) window.spans.push_back({window.spans.back().end, window.spans.back().end});
    return window;
}

std::vector<TokenSpan> token_spans(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer) {
    return window.spans.empty() ? spans_by_length(window.ids, tokenizer, window.first_base) : window.spans;
}

void mark_anchor(EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer, std::int64_t begin,
                 std::int64_t end) {
    if (window.all_n()) return;
    const std::vector<TokenSpan> spans = token_spans(window, tokenizer);
    const auto last_piece = static_cast<std::int32_t>(spans.size()) - tokenizer.frame();
    std::int32_t first = last_piece + 1, last = 0;  // marked, [first, last)
    for (std::int32_t id = 1; id <= last_piece; ++id) {
        const TokenSpan& span = spans[static_cast<std::size_t>(id)];
        if (span.begin >= end || span.end <= begin) continue;
        first = std::min(first, id);
        last = id + 1;
    }
    if (first >= last) {  // the anchor's tokens were cut off
        first = begin >= spans.back().end ? last_piece : 1;
        last = first + 1;
    }
    window.marked_begin = first;
    window.marked_end = last;
}

std::vector<std::vector<std::size_t>> BinNetwork::group(std::span<const EncodedWindow> windows,
                                                        std::int64_t batch_tokens,
                                                        model::GroupSizes sizes) const {
    std::vector<std::size_t> all(windows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::int64_t tokens = windows_at_once(batch_tokens) * window_positions();
    return model::cut_into_groups(all, model::members_per_group(window_positions(), tokens, sizes), sizes);
}

at::Tensor BinNetwork::logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                              const model::DropoutKey& key) const {
    std::vector<EncodedWindow> chosen;
    for (const std::size_t index : group)
        chosen.push_back(windows[index]);
    return logits(chosen, key);
}

at::Tensor batched_logits(const TaskNetwork& network, std::span<const EncodedWindow> windows,
                          std::int64_t batch_tokens, const std::function<void(std::int64_t)>& after_batch,
                          std::optional<model::GroupSizes> sizes) {
    const at::NoGradGuard no_gradients;
    if (network.module()->is_training()) network.module()->eval();
    at::Tensor logits = at::empty({std::ssize(windows), 1, network.labels()});
    const auto groups =
        network.group(windows, batch_tokens, sizes.value_or(model::sizes_for_scores(network.device())));
    const auto finish = [&](const std::vector<std::size_t>& group, model::HostCopy& copy) {
        const at::Tensor some = copy.get();
        if (some.size(1) != logits.size(1)) logits.resize_({logits.size(0), some.size(1), some.size(2)});
        const std::vector<std::int64_t> indices(group.begin(), group.end());
        logits.index_copy_(0, at::tensor(indices, at::kLong), some);
        // A group may name its last window several times.
        const auto last = std::ranges::find(group, group.back());
        if (after_batch) after_batch(std::distance(group.begin(), last) + 1);
    };
    if (network.shares_passes()) {
        std::mutex mutex;
        // At least as many as threads, so that a pass always runs on one: its sums are rounded by their
        // number.
        const auto passes = std::max<std::int64_t>(std::ssize(groups), at::get_num_threads());
        model::for_each_pass(passes, true, [&](std::int64_t i) {
            stop_if_asked();
            if (i >= std::ssize(groups)) return;
            const std::vector<std::size_t>& group = groups[static_cast<std::size_t>(i)];
            model::HostCopy some(network.logits(windows, group).to(at::kFloat));
            const std::lock_guard lock(mutex);
            finish(group, some);
        });
        return logits;
    }
    // Waits for a group's logits only after the next group was started on the device.
    std::optional<model::HostCopy> before;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        stop_if_asked();
        model::HostCopy some(network.logits(windows, groups[i]).to(at::kFloat));
        if (before) finish(groups[i - 1], *before);
        before = std::move(some);
    }
    if (before) finish(groups.back(), *before);
    return logits;
}

namespace {

/// Computes every edited window as a whole.
class WholeWindows : public NetworkWindow {
public:
    WholeWindows(const TaskNetwork& network, std::string_view dna, bool reverse, const Job& job)
        : network_(network), dna_(dna), reverse_(reverse), threads_(job.threads) {
        // Rounding of a bin model's products on a CPU depends on the number of windows.
        const bool alone = network.segments() == Segments::bins && network.device().is_cpu();
        batch_tokens_ = alone ? 1 : job.batch_tokens;
    }
    at::Tensor logits() const override { return logits({&dna_, 1})[0]; }
    at::Tensor logits(std::span<const bins::Substitution> each, const at::Tensor& segments) const override {
        std::vector<std::string> texts;
        for (const auto& [at, code] : each)
            texts.emplace_back(dna_)[static_cast<std::size_t>(at)] = "ACGTN"[code];
        return logits(texts).gather(1, segments.unsqueeze(2).expand({-1, -1, network_.labels()}));
    }
    at::Tensor logits(std::span<const std::string> edited) const override {
        std::vector<EncodedWindow> all(edited.size()), read;
        parallel_for(std::ssize(edited), threads_, [&](std::int64_t i) {
            const auto at = static_cast<std::size_t>(i);
            all[at] = network_.encode(edited[at], reverse_);
        });
        std::vector<std::int64_t> places;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].all_n()) continue;
            places.push_back(static_cast<std::int64_t>(i));
            read.push_back(std::move(all[i]));
        }
        const at::Tensor some = batched_logits(network_, read, batch_tokens_);
        const at::Tensor logits = at::full({std::ssize(edited), some.size(1), some.size(2)}, NAN);
        logits.index_copy_(0, at::tensor(places, at::kLong), some);
        return reverse_ ? logits.flip(1) : logits;
    }

private:
    const TaskNetwork& network_;
    std::string dna_;
    bool reverse_;
    int threads_;
    std::int64_t batch_tokens_;
};

}  // namespace

std::unique_ptr<NetworkWindow> TaskNetwork::edit(std::string_view window, bool reverse,
                                                 const Job& job) const {
    return std::make_unique<WholeWindows>(*this, window, reverse, job);
}

}  // namespace bigbird::tasks
