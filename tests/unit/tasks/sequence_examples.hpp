// SPDX-License-Identifier: Apache-2.0
// Made-up records for the tests of models of sequences.
#pragma once

#include "unit/tasks/tiny_task.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/examples.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::testing {

/// `rows` records of 60 to 100 bases, half train, a quarter validation, a quarter test. Class or label 1 (of
/// "without" and "with") holds TGACTCAGCA, planted on either strand; `by_strand`: 1 on the record's strand, 0
/// on the other. The number is 10 + 3 for each of none to
/// three GGGCGG.
inline examples::ExampleSet write_sequence_rows(const std::filesystem::path& directory, std::int64_t rows,
                                                std::uint64_t seed,
                                                examples::TargetKind target = examples::TargetKind::classes,
                                                bool by_strand = false) {
    using examples::TargetKind;
    std::filesystem::create_directories(directory);
    std::vector<examples::SequenceExample> records;
    Rng rng = Rng(seed).split("records");
    for (std::int64_t row = 0; row < rows; ++row) {
        examples::SequenceExample record;
        record.id = "r" + std::to_string(row + 1);
        record.split = row % 4 < 2    ? examples::Split::train
                       : row % 4 == 2 ? examples::Split::validation
                                      : examples::Split::test;
        const std::int64_t length = rng.between(60, 100);
        record.sequence = random_dna(length, seed + static_cast<std::uint64_t>(row) + 1);
        if (target == TargetKind::numbers) {
            const std::int64_t sites = rng.between(0, 3);
            for (std::int64_t site = 0; site < sites; ++site)
                record.sequence.replace(static_cast<std::size_t>(5 + 15 * site), 6, "GGGCGG");
            record.numbers = {static_cast<float>(10 + 3 * sites)};
        } else {
            const auto with = static_cast<std::uint32_t>(rng.between(0, 1));
            const bool forward = by_strand ? with == 1 : rng.between(0, 1) == 0;
            const std::string motif = forward ? "TGACTCAGCA" : "TGCTGAGTCA";
            const auto place = static_cast<std::size_t>(rng.between(0, length - 10));
            if (with == 1 || by_strand) record.sequence.replace(place, 10, motif);
            if (target == TargetKind::classes) record.labels = {with};
            if (target == TargetKind::labels && with == 1) record.labels = {1};
            if (target == TargetKind::labels && row % 3 == 0) record.labels.insert(record.labels.begin(), 0);
        }
        records.push_back(std::move(record));
    }
    std::vector<rows::Label> labels{{"class", "without", -1}, {"class", "with", -1}};
    if (target == TargetKind::numbers) labels = {{"number", "activity", -1}};
    examples::write_sequence_examples(directory, target, rows::LabelTable(labels), records, Json::object());
    return examples::ExampleSet::load(directory);
}

}  // namespace bigbird::testing
