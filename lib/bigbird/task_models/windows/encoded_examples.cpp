// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/windows/encoded_examples.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t rows_a_task = 64;  // enough work for a thread to pick up at once

struct Encoded {
    std::vector<EncodedWindow> forward, reverse;
};

}  // namespace

EncodedExamples::EncodedExamples(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                                 const WindowNetwork& network, const rows::WindowBounds& window,
                                 bool both_strands, int threads)
    : both_strands_(both_strands) {
    const auto total = static_cast<std::int64_t>(rows.size());
    const auto encode_some = [&](std::int64_t task) {
        Encoded encoded;
        for (std::int64_t i = task * rows_a_task; i < std::min(total, (task + 1) * rows_a_task); ++i) {
            const std::string whole = examples.sequence(rows[static_cast<std::size_t>(i)]);
            const std::string_view dna = cut_window(whole, examples.bounds(), window);
            encoded.forward.push_back(network.encode(dna, false));
            if (both_strands) encoded.reverse.push_back(network.encode(dna, true));
        }
        return encoded;
    };
    Progress progress("Encoding windows", "windows", total);
    std::int64_t done = 0;
    const auto keep = [&](Encoded&& encoded) {
        stop_if_asked();
        for (std::size_t i = 0; i < encoded.forward.size(); ++i, ++done) {
            const EncodedWindow& forward = encoded.forward[i];
            if (forward.all_n()) {
                ++left_out_;
                continue;
            }
            rows_.push_back(rows[static_cast<std::size_t>(done)]);
            truncated_ += forward.truncated ? 1 : 0;
            append(forward);
            if (both_strands) {
                append(encoded.reverse[i]);
            }
        }
        progress.update(done);
    };
    ordered_pipeline<Encoded>((total + rows_a_task - 1) / rows_a_task, threads, encode_some, keep);
    progress.finish();
}

void EncodedExamples::append(const EncodedWindow& window) {
    const auto narrow_most = std::int32_t{std::numeric_limits<std::uint16_t>::max()};
    if (!wide_ && std::ranges::any_of(window.ids, [&](std::int32_t id) { return id > narrow_most; })) widen();
    if (wide_) {
        wide_ids_.insert(wide_ids_.end(), window.ids.begin(), window.ids.end());
    } else {
        std::transform(window.ids.begin(), window.ids.end(), std::back_inserter(narrow_ids_),
                       [](std::int32_t id) { return static_cast<std::uint16_t>(id); });
    }
    offsets_.push_back(offsets_.back() + std::ssize(window.ids));
    marks_.emplace_back(window.marked_begin, window.marked_end);
}

void EncodedExamples::widen() {
    wide_ids_.assign(narrow_ids_.begin(), narrow_ids_.end());
    narrow_ids_ = {};
    wide_ = true;
}

EncodedWindow EncodedExamples::window(std::int64_t index, bool reverse) const {
    BIGBIRD_EXPECTS(!reverse || both_strands_, "the reverse complements were not encoded");
    const auto place = static_cast<std::size_t>(both_strands_ ? 2 * index + (reverse ? 1 : 0) : index);
    const auto begin = static_cast<std::ptrdiff_t>(offsets_[place]);
    const auto end = static_cast<std::ptrdiff_t>(offsets_[place + 1]);
    EncodedWindow window;
    if (wide_) {
        window.ids.assign(wide_ids_.begin() + begin, wide_ids_.begin() + end);
    } else {
        window.ids.assign(narrow_ids_.begin() + begin, narrow_ids_.begin() + end);
    }
    std::tie(window.marked_begin, window.marked_end) = marks_[place];
    return window;
}

std::string_view cut_window(std::string_view dna, const rows::WindowBounds& bounds,
                            const rows::WindowBounds& part) {
    BIGBIRD_EXPECTS(bounds.begin <= part.begin && part.end <= bounds.end, "a part of the window");
    return dna.substr(static_cast<std::size_t>(part.begin - bounds.begin),
                      static_cast<std::size_t>(part.size()));
}

}  // namespace bigbird::task_models
