// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/scoring/score_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace bigbird::tasks {

namespace {

void set_status(rows::RegionRow& row) {
    row.head.n_fraction = genome::n_fraction(row.sequence);
    row.head.status = rows::status_of(row.sequence);
}

/// A row of a sequence that is not read yet.
rows::RegionRow row_of_record(const std::string& id, std::int64_t number, std::int64_t bases,
                              const RecordFit& fit) {
    rows::RegionRow row;
    row.head.where = {id, 0, bases};
    row.window = {std::to_string(number), 0, bases};
    row.line = number;
    if (bases < fit.shortest) {
        row.head.status = rows::RowStatus::bad_interval;
        row.head.n_fraction = std::numeric_limits<double>::quiet_NaN();
    }
    return row;
}

/// Makes the window from the full sequence, row.sequence.
void fit_record(rows::RegionRow& row, const RecordFit& fit) {
    if (row.head.status == rows::RowStatus::bad_interval) return row.sequence.clear();
    row.head.n_fraction = genome::n_fraction(row.sequence);
    const std::int64_t bases = row.head.where.size();
    row.head.status = rows::status_of(row.sequence, fit.window > bases);
    if (fit.window == 0 || fit.window == bases) return;
    row.sequence = cut_out(row.sequence, genome::window_around(row.head.where, fit.window));
    if (fit.window > bases) return;
    const rows::RowStatus status = rows::status_of(row.sequence);
    row.head.status = status == rows::RowStatus::all_n ? status : rows::RowStatus::truncated;
}

class RecordSource : public rows::RowSource {
public:
    RecordSource(std::filesystem::path path, rows::SequenceColumns columns, const RecordFit& fit)
        : columns_(std::move(columns)), fit_(fit), reader_(std::move(path), columns_) {
        reader_.tell_header();
    }
    std::optional<rows::RegionRow> next() override {
        auto record = reader_.next();
        if (!record) return std::nullopt;
        rows::normalise(*record, letters_, reader_.path());
        const std::int64_t bases = std::ssize(record->sequence);
        if (bases < fit_.shortest && !fit_.skip_invalid) {
            throw InputError("has a sequence of " + counted(bases, "base") + "; the model scores bins of " +
                                 std::to_string(fit_.shortest) +
                                 (fit_.can_skip ? " (--skip-invalid marks such rows and goes on)" : ""),
                             reader_.path(), record->line);
        }
        rows::RegionRow row = row_of_record(record->id, ++rows_, bases, fit_);
        row.sequence = std::move(record->sequence);
        return row;
    }
    void fill(rows::RegionRow& row) const override { fit_record(row, fit_); }
    void report() const override {
        if (letters_.others() > 0) log_warning("{}: {}", reader_.path().string(), letters_.complaint());
    }
    std::int64_t total() const override {
        std::error_code error;
        if (!std::filesystem::is_regular_file(reader_.path(), error)) return 0;
        rows::SequenceReader reader(reader_.path(), columns_);
        std::int64_t count = 0;
        while (reader.next())
            ++count;
        return count;
    }

private:
    rows::SequenceColumns columns_;
    RecordFit fit_;
    rows::SequenceReader reader_;
    rows::LetterCounts letters_;
    std::int64_t rows_ = 0;
};

/// Rows of an example set. Windows on a genome, or records if there is a fit.
class ExampleSource : public rows::RowSource {
public:
    ExampleSource(const examples::ExampleSet& examples, std::optional<examples::Split> split,
                  const rows::WindowBounds& window, std::optional<RecordFit> fit)
        : examples_(examples), window_(window), fit_(fit) {
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
        if (fit_) return row_of_record(example.name, index, examples_.length(index), *fit_);
        rows::RegionRow row;
        row.head.where = example.where;
        row.head.name = example.name;
        row.head.strand = example.strand;
        row.window = example.where;
        row.line = index;
        return row;
    }
    void fill(rows::RegionRow& row) const override {
        row.sequence = examples_.sequence(row.line);
        if (fit_) return fit_record(row, *fit_);
        row.sequence = row.sequence.substr(static_cast<std::size_t>(window_.begin - examples_.bounds().begin),
                                           static_cast<std::size_t>(window_.size()));
        set_status(row);
    }
    void report() const override {
        if (rows_.empty()) {
            log_warning("--examples holds no row of this split: the output has {}",
                        fit_ ? "a header only" : "only a header");
        }
    }
    std::int64_t total() const override { return std::ssize(rows_); }

private:
    const examples::ExampleSet& examples_;
    rows::WindowBounds window_;
    std::optional<RecordFit> fit_;
    std::vector<std::int64_t> rows_;
    std::size_t next_ = 0;
};

/// The records of a FASTA, without changes.
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
        set_status(row);
    }
    void report() const override {}
    std::int64_t total() const override { return std::ssize(genome_.contigs()); }

private:
    const genome::ReferenceGenome& genome_;
    std::size_t next_ = 0;
};

class CoreRows : public rows::RowSource {
public:
    CoreRows(std::unique_ptr<rows::RowSource> all, const bins::Grid& grid)
        : all_(std::move(all)), grid_(grid) {}

    std::optional<rows::RegionRow> next() override {
        if (!rest_) rest_ = all_->next();
        if (!rest_ || !rows::is_scored(rest_->head.status)) return std::exchange(rest_, std::nullopt);
        rows::RegionRow row = *rest_;
        if (row.window.size() == 0) row.head.status = rows::RowStatus::all_n;
        const std::int64_t core = grid_.window_of(row.window.begin);
        row.window.end = std::min(row.window.end, (core + 1) * grid_.core_bins());
        rest_->window.begin = row.window.end;
        row.head.where = {row.head.where.contig, row.window.begin, row.window.end};
        row.last_of_line = rest_->window.size() == 0;
        if (row.last_of_line) rest_.reset();
        return row;
    }
    void fill(rows::RegionRow& row) const override { all_->fill(row); }
    void report() const override { all_->report(); }
    std::int64_t total() const override { return 0; }

private:
    std::unique_ptr<rows::RowSource> all_;
    bins::Grid grid_;
    std::optional<rows::RegionRow> rest_;  ///< what is left of a row
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
                                                const rows::WindowBounds& window,
                                                std::optional<RecordFit> fit) {
    return std::make_unique<ExampleSource>(examples, split, window, fit);
}

std::unique_ptr<rows::RowSource> record_source(const std::filesystem::path& path,
                                               const rows::SequenceColumns& columns, const RecordFit& fit) {
    return std::make_unique<RecordSource>(path, columns, fit);
}

std::unique_ptr<rows::RowSource> sequence_source(const genome::ReferenceGenome& records) {
    return std::make_unique<SequenceSource>(records);
}

std::unique_ptr<rows::RowSource> core_rows(std::unique_ptr<rows::RowSource> all, const bins::Grid& grid) {
    return std::make_unique<CoreRows>(std::move(all), grid);
}

std::unique_ptr<rows::RowSource> shard_rows(std::unique_ptr<rows::RowSource> all, const Shard& shard,
                                            AsBefore as_before) {
    return std::make_unique<ShardRows>(std::move(all), shard, std::move(as_before));
}

}  // namespace bigbird::tasks
