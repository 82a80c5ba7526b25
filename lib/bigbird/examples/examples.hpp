// SPDX-License-Identifier: Apache-2.0
// Labeled examples of a task: a folder with everything that fine-tuning, prediction on held-out rows and
// evaluation need (FORMAT.md).
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/label_matrix.hpp"
#include "bigbird/examples/task.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/rows/label_table.hpp"
#include "bigbird/rows/window.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {

/// The kind of the labels in labels.tsv: mutually exclusive classes, independent labels (0 or 1 each), or
/// numbers.
enum class TargetKind : std::uint8_t { classes, labels, numbers };
enum class Split : std::uint8_t { train = 0, validation = 1, test = 2 };

inline constexpr Choices<Split, 3> split_words{
    {{Split::train, "train"}, {Split::validation, "validation"}, {Split::test, "test"}}};
inline constexpr std::array all_splits{Split::train, Split::validation, Split::test};
inline constexpr Choices<TargetKind, 3> target_choices{
    {{TargetKind::classes, "classes"}, {TargetKind::labels, "labels"}, {TargetKind::numbers, "numbers"}}};
inline std::string_view to_string(Split split) {
    return word_of(split_words, split);
}
/// Throws ConfigError naming the three.
Split parse_split(std::string_view text);

/// The position that a row scores. A promoter row is its TSS base, with its strand; the manifest's bounds
/// place its window. A synthetic negative has the position of its promoter, and the promoter's name followed
/// by ".negative". A chromatin row is its bin, the center of its window. A row of sequences is a record: its
/// contig is the record's id, its bases are the entire record.
struct ExampleRow {
    genome::Interval where;  ///< contig spelled as in the reference
    std::string name = ".";
    genome::Strand strand = genome::Strand::none;
    Split split = Split::train;
};

/// Reads an example folder. Rows are in genome order of the build (chromatin), in the order of the TSS file,
/// each promoter followed by its negative, or in the order of the tables (sequences). Const calls are
/// thread-safe; sequences are memory-mapped.
class ExampleSet {
public:
    /// Throws InputError: no manifest, another version, sizes that do not agree, a damaged store.
    static ExampleSet load(const std::filesystem::path& directory) { return ExampleSet(directory); }

    Task task() const { return task_; }
    const TaskTraits& traits() const { return traits_of(task_); }
    /// Labels for promoters and for bins with peaks; numbers for bins with coverage (build-tracks).
    TargetKind target() const { return target_; }
    std::int64_t size() const { return std::ssize(begin_); }
    /// The window's bounds around a row: from the TSS base, or from the middle of the bin. It has
    /// bounds().size() bases; for sequences the longest record's.
    const rows::WindowBounds& bounds() const { return bounds_; }
    /// For promoters one label, "promoter". For classes and numbers, one entry each.
    const rows::LabelTable& label_table() const { return labels_; }
    /// Parameters, checksums of inputs, counts, contigs of the reference (FORMAT.md).
    const Json& manifest() const { return manifest_; }

    ExampleRow row(std::int64_t row) const;
    Split split(std::int64_t row) const { return split_[static_cast<std::size_t>(row)]; }
    /// Rows of a split, ascending.
    std::vector<std::int64_t> rows(Split split) const;

    /// The group of a record whose members are not independent (--group-column): intervals resample groups.
    /// "." where there is none, and for all other tasks.
    const std::string& group(std::int64_t row) const;

    /// 0 or 1; for classes, 1 for the row's class. This and the next four functions are not for numbers.
    std::uint8_t label(std::int64_t row, std::size_t label) const;
    /// All labels of a row, 0 or 1 each.
    std::vector<std::uint8_t> labels(std::int64_t row) const;
    /// The same into `out`, of label_table().size() elements.
    void copy_labels(std::int64_t row, std::span<std::uint8_t> out) const;
    /// Rows of a split that have a label.
    std::int64_t positives(std::size_t label, Split split) const;
    /// The index of the row's class. Only for TargetKind::classes.
    std::size_t class_of(std::int64_t row) const;
    /// label_table().size() finite numbers. Only for TargetKind::numbers.
    std::span<const float> numbers(std::int64_t row) const;

    /// The window's normalized sequence (A C G T N), bounds().size() letters, reverse-complemented for rows
    /// on the minus strand. For sequences the record, length(row) letters.
    std::string sequence(std::int64_t row) const { return centred(row, length(row)); }
    std::int64_t length(std::int64_t row) const;
    /// `bases` letters around the middle of sequence(row): cut, or padded with N at both ends.
    std::string centred(std::int64_t row, std::int64_t bases) const;

private:
    explicit ExampleSet(const std::filesystem::path& directory);
    void read_rows(const std::filesystem::path& path);
    std::string_view add_row(std::span<const std::string_view> fields);
    void find_records(const std::filesystem::path& path);

    Json manifest_;
    Task task_;
    TargetKind target_ = TargetKind::labels;
    rows::WindowBounds bounds_;
    rows::LabelTable labels_;
    // The rows, by column. A column that is empty does not exist for the task.
    std::vector<std::string> names_;         ///< names of promoters and of records
    std::vector<std::string> places_;        ///< contigs, or groups of records, each once
    std::vector<std::uint32_t> place_;       ///< index into `places_`
    std::vector<std::int64_t> begin_, end_;  ///< for records 0 and the length
    std::vector<Split> split_;
    std::vector<genome::Strand> strand_;  ///< strands of promoters
    std::optional<LabelMatrix> matrix_;
    std::optional<TwoBitReader> store_;
    std::vector<std::int64_t> records_;  ///< of the store, by contig; empty if each row has its own record
};

}  // namespace bigbird::examples
