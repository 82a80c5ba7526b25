// SPDX-License-Identifier: Apache-2.0
// Makes examples from labeled sequences: tables, or FASTA.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/examples.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::examples {

/// The values of --target.
inline constexpr Choices<std::optional<TargetKind>, 4> target_option_choices{
    {{std::nullopt, "auto"},
     {TargetKind::classes, "classes"},
     {TargetKind::labels, "labels"},
     {TargetKind::numbers, "number"}}};

struct SequencesOptions {
    /// Either a table (CSV or TSV) with a sequence and its labels in each line, and tables of the same
    /// columns for the other splits …
    std::filesystem::path table{}, validation{}, test{};
    /// … or FASTA files, each a class named after the file or, with `table`, the sequences of its ids.
    std::vector<std::filesystem::path> fasta{};

    /// Names, or numbers from 1 (rows::SequenceColumns).
    std::string sequence_column = "sequence", id_column = "id", label_column = "label";
    std::optional<bool> header{};  ///< of the tables (rows::SequenceColumns)
    std::string labels{};          ///< several columns, separated by commas, instead of label_column
    std::string group_column{};  ///< records of one group get the same split; intervals are drawn over groups
    std::optional<TargetKind> target{};  ///< nullopt: labels if `labels` is given, else classes
    std::string split_by{};              ///< parse_split_rule; empty: all is train
    std::uint64_t seed = 0;

    TargetKind target_kind() const;
    /// Throws ConfigError if fields do not go together.
    void validate() const;
};

/// Writes an example folder for sequences (FORMAT.md) into the empty `folder`. Classes are in numeric
/// order if all are whole numbers, else in byte order. Logs records, lengths, letters, class balance,
/// sequences with contradicting labels and what validation and test share with train; manifest.json has these
/// under "statistics". Throws InputError, with file and line where there is one, and ConfigError. Memory: all
/// records.
void build_sequences(const SequencesOptions& options, const std::filesystem::path& folder);

}  // namespace bigbird::examples
