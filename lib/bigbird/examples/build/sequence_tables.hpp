// SPDX-License-Identifier: Apache-2.0
// Reads the files of build-sequences as records in memory, with uninterpreted labels.
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/examples/build/sequences.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/rows/sequence_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::examples {

struct LabelledSequences {
    struct Source {
        std::size_t file = 0;  ///< index into `files`
        std::int64_t line = 0;
    };
    std::vector<std::filesystem::path> files;
    std::vector<SequenceExample> records;          ///< without labels and numbers
    std::vector<std::vector<std::string>> values;  ///< label columns of each record
    std::vector<std::string> split_words;          ///< with --split-by column:NAME; else empty
    std::vector<Source> sources;                   ///< source of each record's labels
    rows::LetterCounts letters;

    InputError fault(std::size_t record, const std::string& what) const {
        return {what, files[sources[record].file], sources[record].line};
    }
    /// "dev.csv:17"
    std::string place(std::size_t record) const;
};

/// The names of the label columns; "class" for FASTA files that are classes.
std::vector<std::string> label_columns(const SequencesOptions& options);

/// Records in the order of train's, validation's and test's tables, or of the FASTA files; their split is the
/// file's. Throws InputError: errors of SequenceReader and normalise(), protein sequences, an id that occurs
/// twice in a split, a record without labels in --table.
LabelledSequences read_sequences(const SequencesOptions& options);

}  // namespace bigbird::examples
