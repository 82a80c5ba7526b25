// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/example_source.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/task_models/windows/encoded_examples.hpp"

#include <numeric>

namespace bigbird::task_models {

namespace {

class ExampleSource : public rows::RowSource {
public:
    ExampleSource(const examples::ExampleSet& examples, std::optional<examples::Split> split,
                  const rows::WindowBounds& window)
        : examples_(examples), window_(window) {
        if (split) {
            rows_ = examples.rows(*split);
        } else {
            rows_.resize(static_cast<std::size_t>(examples.size()));
            std::iota(rows_.begin(), rows_.end(), 0);
        }
    }
    std::optional<rows::RegionRow> next() override {
        if (next_ >= rows_.size()) return std::nullopt;
        const std::int64_t index = rows_[next_++];
        const examples::ExampleRow example = examples_.row(index);
        rows::RegionRow row;
        row.head.where = example.where;
        row.head.name = example.name;
        row.head.strand = example.strand;
        row.window = example.where;
        row.line = index;
        return row;
    }
    void fill(rows::RegionRow& row) const override {
        row.sequence = cut_window(examples_.sequence(row.line), examples_.bounds(), window_);
        row.head.n_fraction = genome::n_fraction(row.sequence);
        row.head.status = rows::status_of(row.sequence);
    }
    void report() const override {
        if (rows_.empty())
            log_warning("--examples holds no row of this split: the output has a header alone");
    }
    std::int64_t total() const override { return static_cast<std::int64_t>(rows_.size()); }

private:
    const examples::ExampleSet& examples_;
    rows::WindowBounds window_;
    std::vector<std::int64_t> rows_;
    std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<rows::RowSource> example_source(const examples::ExampleSet& examples,
                                                std::optional<examples::Split> split,
                                                const rows::WindowBounds& window) {
    return std::make_unique<ExampleSource>(examples, split, window);
}

}  // namespace bigbird::task_models
