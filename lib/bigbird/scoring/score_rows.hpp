// SPDX-License-Identifier: Apache-2.0
// Sources of rows besides BED (rows/region_rows.hpp), the loop that all predict-* commands share, and its
// trial on some rows.
#pragma once

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/sequence_reader.hpp"
#include "bigbird/scoring/scorers.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::tasks {

/// Records of a FASTA, CSV or TSV, or of standard input ("-"). A row's contig is the record's id. Its
/// window's contig is the record's number, because ids may repeat. total() reads the file again.
/// Throws as rows::SequenceReader and normalise().
std::unique_ptr<rows::RowSource> record_source(const std::filesystem::path& path,
                                               const rows::SequenceColumns& columns, const RecordFit& fit);

/// Rows of an example set, which must outlive the source: the part `window` of their windows or, for examples
/// for sequences, records with a `fit`. Without a split, all rows.
std::unique_ptr<rows::RowSource> example_source(const examples::ExampleSet& examples,
                                                std::optional<examples::Split> split,
                                                const rows::WindowBounds& window,
                                                std::optional<RecordFit> fit = std::nullopt);

/// The unchanged records of a FASTA, which must outlive the source.
std::unique_ptr<rows::RowSource> sequence_source(const genome::ReferenceGenome& records);

/// The rows of `all`, cut where the cores of a grid with bins of one base begin, so that one window scores
/// each. Rows of unknown number.
std::unique_ptr<rows::RowSource> core_rows(std::unique_ptr<rows::RowSource> all, const bins::Grid& grid);

/// Whether a row must be in the same part as the row before it.
using AsBefore = std::function<bool(const rows::RegionRow& before, const rows::RegionRow& row)>;

/// The rows of `all` that a part takes (core/parts/shard.hpp), with their segments. Needs a source
/// that knows its total.
std::unique_ptr<rows::RowSource> shard_rows(std::unique_ptr<rows::RowSource> all, const Shard& shard,
                                            AsBefore as_before);

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

inline constexpr std::size_t rows_per_chunk = 256;

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

}  // namespace bigbird::tasks
