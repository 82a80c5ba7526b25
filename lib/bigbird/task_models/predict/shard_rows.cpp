// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/shard_rows.hpp"

#include "bigbird/core/parts/segment_counter.hpp"

#include <utility>

namespace bigbird::task_models {

namespace {

class ShardRows : public rows::RowSource {
public:
    ShardRows(std::unique_ptr<rows::RowSource> all, const Shard& shard, AsBefore as_before)
        : all_(std::move(all)),
          rows_(all_->total()),
          share_((rows_ + shard.count - 1) / shard.count),
          as_before_(std::move(as_before)),
          segments_(rows_, shard) {}

    std::optional<rows::RegionRow> next() override {
        while (std::optional<rows::RegionRow> row = all_->next()) {
            row->segment = segments_.next(before_ && as_before_(*before_, *row));
            before_ = row;
            if (segments_.is_mine(row->segment)) return row;
        }
        return std::nullopt;
    }
    void fill(rows::RegionRow& row) const override { all_->fill(row); }
    void report() const override { all_->report(); }
    std::int64_t total() const override { return share_; }

private:
    std::unique_ptr<rows::RowSource> all_;
    std::int64_t rows_, share_;
    AsBefore as_before_;
    SegmentCounter segments_;
    std::optional<rows::RegionRow> before_;
};

}  // namespace

std::unique_ptr<rows::RowSource> shard_rows(std::unique_ptr<rows::RowSource> all, const Shard& shard,
                                            AsBefore as_before) {
    return std::make_unique<ShardRows>(std::move(all), shard, std::move(as_before));
}

}  // namespace bigbird::task_models
