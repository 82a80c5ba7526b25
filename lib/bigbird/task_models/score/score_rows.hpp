// SPDX-License-Identifier: Apache-2.0
// The loop that all predict-* commands share.
#pragma once

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"

#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <utility>
#include <vector>

namespace bigbird::task_models {

/// A pipeline over chunks: while one chunk is scored, the next is read and encoded, and the previous is
/// written. `read` returns an empty chunk at the end; `write` gets each chunk with the result of `score`.
/// Throws Stopped between chunks after a signal.
template <typename Read, typename Score, typename Write>
void score_rows(const Read& read, const Score& score, const Write& write) {
    auto coming = std::async(std::launch::async, std::cref(read));
    std::future<void> writing;
    while (true) {
        auto chunk = coming.get();
        if (chunk.empty()) break;
        coming = std::async(std::launch::async, std::cref(read));
        stop_if_asked();
        auto scores = score(chunk);
        if (writing.valid()) writing.get();
        writing =
            std::async(std::launch::async, [&write, chunk = std::move(chunk),
                                            scores = std::move(scores)]() mutable { write(chunk, scores); });
    }
    if (writing.valid()) writing.get();
}

/// Fills rows of a source (rows::RowSource, rows::VariantRows) on `threads` threads.
template <typename Source, typename Row>
void fill_rows(const Source& source, std::span<Row> rows, int threads) {
    parallel_for(
        std::ssize(rows), threads, [&](std::int64_t i) { source.fill(rows[static_cast<std::size_t>(i)]); });
}

/// The next rows of a source, filled: at most `most`, or fewer once bases_of(row) add up to `most_bases`.
template <typename Source, typename BasesOf>
auto read_rows(Source& source, std::size_t most, int threads, std::int64_t most_bases,
               const BasesOf& bases_of) {
    std::vector<typename decltype(source.next())::value_type> rows;
    for (std::int64_t bases = 0; rows.size() < most && bases < most_bases;) {
        auto row = source.next();
        if (!row) break;
        bases += bases_of(*row);
        rows.push_back(std::move(*row));
    }
    fill_rows(source, std::span(rows), threads);
    return rows;
}
template <typename Source>
auto read_rows(Source& source, std::size_t most, int threads) {
    return read_rows(
        source, most, threads, 1, [](const auto&) { return 0; });
}

}  // namespace bigbird::task_models
