// SPDX-License-Identifier: Apache-2.0
// A few rows to write.
#pragma once

#include "bigbird/outputs/sinks.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bigbird::testing {

inline outputs::TableSchema small_layout() {
    const rows::LabelTable labels({{"TF", "K562|CTCF", -1}, {"DHS", "A|B", -1}, {"DHS", "A|B", -1}});
    const std::vector<std::size_t> chosen{0, 2};
    return {outputs::region_head(), outputs::label_columns(labels, chosen), {{"task", "chromatin"}}};
}

/// The same with the first label only, which a track holds.
inline outputs::TableSchema one_label() {
    outputs::TableSchema layout = small_layout();
    layout.columns.resize(1);
    return layout;
}

/// Rows of `count` bins of 200 bp on contig "1", the third of every four without scores.
inline void write_rows(outputs::Sink& sink, int count) {
    for (int i = 0; i < count; ++i) {
        const rows::Row row{.where = {"1", 200 * i, 200 * i + 200},
                            .status = i % 4 == 2 ? rows::RowStatus::all_n : rows::RowStatus::ok};
        const std::vector<float> values{static_cast<float>(i) / 1024, 0.25F};
        sink.write(rows::fields_of(row),
                   i % 4 == 2 ? std::span<const float>() : std::span<const float>(values));
    }
}

/// Writes such rows to a sink, and its file.
inline void write_all(std::unique_ptr<outputs::Sink> sink, int count) {
    write_rows(*sink, count);
    sink->commit();
}

}  // namespace bigbird::testing
