// SPDX-License-Identifier: Apache-2.0
// The loop that all predict-* commands share, and the common parts of their outputs.
#pragma once

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/label_table.hpp"

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::task_models {

/// A pipeline over chunks: while one chunk is scored, the next is read and encoded, and the previous is
/// written. `read` returns chunks with `rows`, and an empty one at the end; `write` gets each chunk with the
/// result of `score`. Throws Stopped between chunks after a signal.
template <typename Read, typename Score, typename Write>
void score_rows(const Read& read, const Score& score, const Write& write) {
    auto coming = std::async(std::launch::async, std::cref(read));
    std::future<void> writing;
    while (true) {
        auto chunk = coming.get();
        if (chunk.rows.empty()) break;
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

/// At most `most` rows of a source (rows::RowSource, VariantSource), filled on `threads` threads.
template <typename Source>
auto read_rows(Source& source, std::size_t most, int threads) {
    std::vector<typename decltype(source.next())::value_type> rows;
    while (rows.size() < most) {
        auto row = source.next();
        if (!row) break;
        rows.push_back(std::move(*row));
    }
    parallel_for(std::ssize(rows), threads,
                 [&](std::int64_t i) { source.fill(rows[static_cast<std::size_t>(i)]); });
    return rows;
}

/// The labels that become columns, and the columns that become tracks.
struct LabelChoice {
    std::vector<std::size_t> labels, tracks;
};
/// `selection` (LabelTable::select; "": all) and `tracks` among it ("": the same). Throws ConfigError.
LabelChoice choose_labels(const rows::LabelTable& labels, const std::string& selection,
                          const std::string& tracks = "");

/// A checksum of names and lengths, for provenance.
std::string contigs_checksum(const genome::ReferenceGenome& reference);

}  // namespace bigbird::task_models
