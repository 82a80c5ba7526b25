// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/sources.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parts/segment_counter.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <numeric>
#include <utility>

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
        const std::string whole = examples_.sequence(row.line);
        row.sequence = whole.substr(static_cast<std::size_t>(window_.begin - examples_.bounds().begin),
                                    static_cast<std::size_t>(window_.size()));
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

/// The records of a FASTA, each as it is.
class SequenceSource : public rows::RowSource {
public:
    explicit SequenceSource(const genome::ReferenceGenome& genome) : genome_(genome) {}
    std::optional<rows::RegionRow> next() override {
        if (next_ >= genome_.contigs().size()) return std::nullopt;
        const genome::Contig& contig = genome_.contigs()[next_++];
        rows::RegionRow row;
        row.window = {contig.name, 0, contig.length};
        row.head.where = row.window;
        return row;
    }
    void fill(rows::RegionRow& row) const override {
        row.sequence = genome_.fetch(row.window);
        row.head.n_fraction = genome::n_fraction(row.sequence);
        row.head.status = rows::status_of(row.sequence);
    }
    void report() const override {}
    std::int64_t total() const override { return std::ssize(genome_.contigs()); }

private:
    const genome::ReferenceGenome& genome_;
    std::size_t next_ = 0;
};

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

std::unique_ptr<rows::RowSource> example_source(const examples::ExampleSet& examples,
                                                std::optional<examples::Split> split,
                                                const rows::WindowBounds& window) {
    return std::make_unique<ExampleSource>(examples, split, window);
}

std::unique_ptr<rows::RowSource> sequence_source(const genome::ReferenceGenome& records) {
    return std::make_unique<SequenceSource>(records);
}

std::unique_ptr<rows::RowSource> shard_rows(std::unique_ptr<rows::RowSource> all, const Shard& shard,
                                            AsBefore as_before) {
    return std::make_unique<ShardRows>(std::move(all), shard, std::move(as_before));
}

}  // namespace bigbird::task_models
