// SPDX-License-Identifier: Apache-2.0
// Small example folders and score tables for the tests of evaluation.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::testing {

/// A score table of regions that is written row by row.
inline std::unique_ptr<outputs::Sink> score_table(const std::filesystem::path& path,
                                                  const std::vector<std::string>& columns,
                                                  const rows::Provenance& provenance = {}) {
    outputs::TableSchema layout{outputs::region_head(), {}, provenance};
    for (const std::string& name : columns)
        layout.columns.push_back({.name = name, .label = name, .id = name});
    return outputs::table_sink(path, Overwrite::allow, layout, 1);
}

/// Bins of 200 bp, one each kilobase of contig 22, with scores that tell labels more or less well. Group TF
/// has labels A and B (rare), HM has C (no positives) and D; a tenth of the rows are for training.
struct ScoredBins {
    std::vector<std::vector<float>> scores;  ///< by label, test rows
    std::vector<std::vector<std::uint8_t>> truths;
    std::vector<std::int64_t> begins;

    ScoredBins(const std::filesystem::path& examples, const std::filesystem::path& table, std::int64_t rows)
        : scores(4), truths(4) {
        std::filesystem::create_directory(examples);
        examples::ExampleWriter writer(examples, examples::Task::chromatin, {-100, 100}, 4);
        const auto out = score_table(table, {"D", "A", "C", "B", "other"}, {{"model", "x"}});
        Rng rng(5);
        for (std::int64_t i = 0; i < rows; ++i) {
            examples::ExampleRow row;
            row.where = {"22", i * 1000, i * 1000 + 200};
            row.split = i % 10 == 0 ? examples::Split::train : examples::Split::test;
            const bool labels[4] = {rng.uniform() < 0.4, rng.uniform() < 0.02, false, rng.uniform() < 0.5};
            std::uint8_t bits = 0;
            float values[4] = {};
            for (std::size_t l = 0; l < 4; ++l) {
                bits = static_cast<std::uint8_t>(bits | (labels[l] ? 1U << l : 0U));
                values[l] =
                    static_cast<float>(std::round(50 * (rng.uniform() + (labels[l] ? 0.3 : 0.0))) / 65);
                if (row.split == examples::Split::test) {
                    scores[l].push_back(values[l]);
                    truths[l].push_back(labels[l] ? 1 : 0);
                }
            }
            writer.add(row, std::vector<std::uint8_t>{bits});
            if (row.split == examples::Split::test) {
                begins.push_back(row.where.begin);
                const rows::Row head{.where = {"chr22", row.where.begin, row.where.end}};
                out->write(rows::fields_of(head),
                           std::vector<float>{values[3], values[0], values[2], values[1], 0.5F});
            }
        }
        out->commit();
        examples::TwoBitWriter store(examples / "sequences.2bit", {"22"}, false);
        store.add("22", std::string(500, 'A'));
        store.finish();
        writer.finish(rows::LabelTable({{"TF", "A", -1}, {"TF", "B", -1}, {"HM", "C", -1}, {"HM", "D", -1}}),
                      Json::object());
    }
};

/// Two rows a promoter, `promoters` of them every 60 kb, all test.
struct ScoredPromoters {
    std::vector<float> scores;
    std::vector<std::uint8_t> truths;

    ScoredPromoters(const std::filesystem::path& examples, const std::filesystem::path& table,
                    int promoters) {
        std::filesystem::create_directory(examples);
        examples::ExampleWriter writer(examples, examples::Task::promoter, {-10, 10}, 1);
        const auto out = score_table(table, {"promoter"});
        std::vector<std::string> names;
        for (int i = 0; i < 2 * promoters; ++i)
            names.push_back(std::to_string(i));
        examples::TwoBitWriter store(examples / "sequences.2bit", names, false);
        Rng rng(6);
        for (int i = 0; i < 2 * promoters; ++i) {
            const bool positive = i % 2 == 0;
            examples::ExampleRow row;
            row.where = {"1", 60'000 * (i / 2 + 1), 60'000 * (i / 2 + 1) + 1};
            row.name = "P" + std::to_string(i / 2) + (positive ? "" : ".negative");
            row.strand = genome::Strand::forward;
            row.split = examples::Split::test;
            writer.add(row, std::vector<std::uint8_t>{static_cast<std::uint8_t>(positive)}, positive);
            store.add(names[static_cast<std::size_t>(i)], std::string(20, 'A'));
            scores.push_back(static_cast<float>(0.7 * rng.uniform() + (positive ? 0.3 : 0.0)));
            truths.push_back(positive ? 1 : 0);
            const rows::Row head{.where = row.where, .name = row.name, .strand = row.strand};
            out->write(rows::fields_of(head), std::vector<float>{scores.back()});
        }
        out->commit();
        store.finish();
        writer.finish(rows::LabelTable({{"promoter", "promoter", -1}}),
                      {{"parameters", {{"negatives", "permuted"}}}});
    }
};

}  // namespace bigbird::testing
