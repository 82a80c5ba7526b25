// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/task_models/windows/window_network.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::task_models {

/// The windows of some rows of an example set as a network reads them, held compactly: two bytes an id where
/// all ids fit. Immutable once made; const calls are thread-safe.
class EncodedExamples {
public:
    /// Encodes the part `window` of the windows of `rows` on `threads` threads. Rows where it is all N are
    /// left out. With `both_strands` the reverse complements are held too.
    EncodedExamples(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                    const WindowNetwork& network, const rows::WindowBounds& window, bool both_strands,
                    int threads);

    /// Windows held, and the row of the example set that each stands for, ascending as given.
    std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
    std::int64_t row(std::int64_t index) const { return rows_[static_cast<std::size_t>(index)]; }
    std::int64_t truncated() const { return truncated_; }
    std::int64_t left_out() const { return left_out_; }

    /// Ids and marks of a window. `reverse` needs both strands.
    EncodedWindow window(std::int64_t index, bool reverse = false) const;

private:
    void append(const EncodedWindow& window);
    void widen();

    bool wide_ = false;  ///< four bytes an id
    bool both_strands_ = false;
    std::vector<std::int64_t> rows_;
    std::vector<std::int64_t> offsets_{
        0};  ///< one window after the other; with both strands two for each row
    std::vector<std::uint16_t> narrow_ids_;
    std::vector<std::int32_t> wide_ids_;
    std::vector<std::pair<std::int32_t, std::int32_t>> marks_;  ///< a window each, as offsets_
    std::int64_t truncated_ = 0, left_out_ = 0;
};

/// The part of an example's window (its sequence as ExampleSet gives it) that a network of a narrower window
/// sees. Expects `part` inside `bounds`.
std::string_view cut_window(std::string_view dna, const rows::WindowBounds& bounds,
                            const rows::WindowBounds& part);

}  // namespace bigbird::task_models
