// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/row_scorer.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t bases_a_token = 4;  // about: for the size of a chunk alone
constexpr std::int64_t batches_a_chunk = 4, fewest_rows = 32, most_rows = 8192;

struct EncodedRows : PreparedRows {
    Predictor::Encoded encoded;
};

class WindowScorer : public RowScorer {
public:
    explicit WindowScorer(Predictor predictor) : predictor_(std::move(predictor)) {}

    std::span<const TaskModel> models() const override { return predictor_.models(); }
    rows::RegionOptions region_options(rows::Anchor anchor) const override {
        const bool promoter = predictor_.info().task == examples::Task::promoter;
        return {.anchor = promoter ? rows::Anchor::tss : anchor,
                .bounds = predictor_.info().window,
                .use_strand = promoter,
                .tile_both_strands = promoter};
    }
    std::int64_t rows_a_chunk() const override {
        const std::int64_t tokens =
            std::max<std::int64_t>(1, predictor_.info().window.size() / bases_a_token);
        return std::clamp(batches_a_chunk * predictor_.batch_tokens() / tokens, fewest_rows, most_rows);
    }
    std::unique_ptr<PreparedRows> prepare(std::span<rows::RegionRow> rows, int threads) const override {
        std::vector<std::string> sequences;
        for (rows::RegionRow& row : rows) {
            sequences.push_back(rows::is_scored(row.head.status) ? std::move(row.sequence) : std::string());
            row.sequence.clear();
        }
        auto prepared = std::make_unique<EncodedRows>();
        prepared->encoded = predictor_.encode(sequences, threads);
        prepared->truncated = prepared->encoded.truncated;
        return prepared;
    }
    std::int64_t new_windows(const rows::RegionRow*, const rows::RegionRow& row) const override {
        return rows::is_scored(row.head.status) ? 1 : 0;
    }
    std::vector<float> score(const PreparedRows& rows,
                             const std::function<void(double)>& after_batch) override {
        return predictor_.score(dynamic_cast<const EncodedRows&>(rows).encoded, after_batch);
    }

private:
    Predictor predictor_;
};

}  // namespace

std::unique_ptr<RowScorer> window_scorer(Predictor predictor) {
    return std::make_unique<WindowScorer>(std::move(predictor));
}

}  // namespace bigbird::task_models
