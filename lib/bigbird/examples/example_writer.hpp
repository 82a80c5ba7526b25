// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/examples/label_matrix.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

/// Windows with a larger share of N do not become rows.
inline constexpr double most_n = 0.5;

/// Writes an example folder, except for its sequences.2bit: rows and labels one by one, the rest at the end.
/// Memory does not grow with the rows. Not thread-safe.
class ExampleWriter {
public:
    /// `folder`, a PendingOutput's, exists and becomes the example folder. `labels`: 0 for rows with numbers,
    /// whose targets.npy the caller writes before finish(). All members throw WriteError.
    ExampleWriter(std::filesystem::path folder, Task task, const rows::WindowBounds& bounds,
                  std::size_t labels);

    /// `labels` are the row's bits in full bytes, as BitRows holds them. With `listed`, the row is also
    /// written to the BED file of its split, which is meant for prediction; synthetic sequences are not
    /// listed.
    void add(const ExampleRow& row, std::span<const std::uint8_t> labels, bool listed = true);

    /// Writes labels.tsv, with the counts of positives where rows have labels, and manifest.json; `details`
    /// (parameters, inputs, contigs) follow the writer's own entries.
    void finish(const rows::LabelTable& labels, const Json& details);

    std::int64_t rows() const { return split_rows_[0] + split_rows_[1] + split_rows_[2]; }
    std::int64_t rows(Split split) const { return split_rows_[static_cast<std::size_t>(split)]; }
    /// Whether some label is 1 in one row of a split and 0 in another, so that figures such as AUROC exist.
    bool tells_apart(Split split) const;
    /// Whether any row has a label.
    bool any_label() const;

private:
    void require_good() const;

    std::filesystem::path folder_;
    Task task_;
    rows::WindowBounds bounds_;
    std::optional<LabelWriter> matrix_;
    std::vector<std::int64_t> positives_;  ///< positives of each label
    std::ofstream rows_;
    std::array<std::ofstream, 3> lists_;
    std::array<std::int64_t, 3> split_rows_{};
    std::array<std::vector<std::uint8_t>, 3> any_, all_;  ///< bits that are 1 in any row, and in all rows
};

/// The SHA-256 of an input, or null if it is a pipe, which can be read only once.
Json checksum_of_input(const std::filesystem::path& path);

/// A record of an example folder for sequences.
struct SequenceExample {
    std::string id{}, group = ".";  ///< neither empty nor with tabs or line breaks
    Split split = Split::train;
    std::string sequence{};               ///< normalized, 1 to rows::longest_window letters
    std::vector<std::uint32_t> labels{};  ///< the class, or the labels that are 1
    std::vector<float> numbers{};         ///< a finite one for each entry of the label table
};

/// Writes an example folder for sequences (FORMAT.md) into the empty `folder`, a PendingOutput's; there
/// is at least one record. `details` follow the writer's own entries. Throws WriteError.
void write_sequence_examples(const std::filesystem::path& folder, TargetKind target,
                             const rows::LabelTable& labels, std::span<const SequenceExample> records,
                             const Json& details);

}  // namespace bigbird::examples
