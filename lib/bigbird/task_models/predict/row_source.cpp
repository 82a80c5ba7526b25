// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/row_source.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/task_models/encoded_examples.hpp"

#include <numeric>

namespace bigbird::task_models {

namespace {

/// Lines that look like rows, or their tiles; a guess that serves progress alone.
std::int64_t count_rows(const std::filesystem::path& regions, const rows::RegionOptions& options) {
    std::error_code error;
    if (regions == "-" || !std::filesystem::is_regular_file(regions, error)) return 0;
    genome::TextInput input(regions);
    std::string line;
    std::int64_t rows = 0;
    while (input.next(line)) {
        if (line.empty() || line[0] == '#' || line.starts_with("track") || line.starts_with("browser"))
            continue;
        std::int64_t tiles = 1;
        if (options.tile > 0) {
            const std::vector<std::string_view> fields = rows::split_fields(line, '\t');
            const auto begin = fields.size() > 2 ? rows::parse_integer(fields[1]) : std::nullopt;
            const auto end = fields.size() > 2 ? rows::parse_integer(fields[2]) : std::nullopt;
            if (begin && end && *begin < *end) tiles = (*end - *begin + options.tile - 1) / options.tile;
            const bool strand = fields.size() > 5 && fields[5] != ".";
            if (options.tile_both_strands && !strand) tiles *= 2;
        }
        rows += tiles;
    }
    return rows;
}

class RegionSource : public RowSource {
public:
    RegionSource(const std::filesystem::path& regions, const genome::ReferenceGenome& reference,
                 const rows::RegionOptions& options)
        : reader_(regions, reference, options), total_(count_rows(regions, options)) {}
    std::optional<rows::RegionRow> next() override { return reader_.next(); }
    void fill(rows::RegionRow& row) const override { reader_.fill(row); }
    void report() const override { reader_.report(); }
    std::int64_t total() const override { return total_; }

private:
    rows::RegionReader reader_;
    std::int64_t total_;
};

class ExampleSource : public RowSource {
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
        row.head = {.contig = example.where.contig,
                    .begin = std::to_string(example.where.begin),
                    .end = std::to_string(example.where.end),
                    .name = example.name,
                    .score = ".",
                    .strand = std::string(1, static_cast<char>(example.strand)),
                    .status = "ok",
                    .n_fraction = 0};
        row.window = example.where;
        row.line = index;
        return row;
    }
    void fill(rows::RegionRow& row) const override {
        row.sequence = cut_window(examples_.sequence(row.line), examples_.bounds(), window_);
        const double n = genome::n_fraction(row.sequence);
        row.head.n_fraction = n;
        row.status = n == 1 ? rows::RowStatus::all_n : n > 0 ? rows::RowStatus::has_n : rows::RowStatus::ok;
        rows::set_head(row);
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

std::unique_ptr<RowSource> region_source(const std::filesystem::path& regions,
                                         const genome::ReferenceGenome& reference,
                                         const rows::RegionOptions& options) {
    return std::make_unique<RegionSource>(regions, reference, options);
}

std::unique_ptr<RowSource> example_source(const examples::ExampleSet& examples,
                                          std::optional<examples::Split> split,
                                          const rows::WindowBounds& window) {
    return std::make_unique<ExampleSource>(examples, split, window);
}

}  // namespace bigbird::task_models
