// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/scoring/score_rows.hpp"

#include <vector>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

/// So many rows, numbered by their lines.
class GivenRows : public rows::RowSource {
public:
    explicit GivenRows(std::int64_t count) : count_(count) {}
    std::optional<rows::RegionRow> next() override {
        if (line_ == count_) return std::nullopt;
        rows::RegionRow row;
        row.line = line_++;
        return row;
    }
    void fill(rows::RegionRow& row) const override { row.sequence = "filled"; }
    void report() const override {}
    std::int64_t total() const override { return count_; }

private:
    std::int64_t count_, line_ = 0;
};

std::vector<rows::RegionRow> part_of(std::int64_t count, const Shard& shard,
                                     const tasks::AsBefore& as_before) {
    const auto source = tasks::shard_rows(std::make_unique<GivenRows>(count), shard, as_before);
    std::vector<rows::RegionRow> part;
    while (std::optional<rows::RegionRow> row = source->next())
        part.push_back(*row);
    return part;
}

/// A row of bases 30 to 95, one without bases and one that is no BED.
class ThreeRows : public GivenRows {
public:
    ThreeRows() : GivenRows(3) {}
    std::optional<rows::RegionRow> next() override {
        auto row = GivenRows::next();
        if (row && row->line == 0) row->window = {"c", 30, 95};
        if (row && row->line == 1) row->window = {"c", 40, 40};
        if (row && row->line == 2) row->head.status = rows::RowStatus::malformed;
        if (row && row->line < 2) row->head.where = {"chrc", row->window.begin, row->window.end};
        return row;
    }
};

const tasks::AsBefore alone = [](const rows::RegionRow&, const rows::RegionRow&) { return false; };

}  // namespace

DOCTEST_TEST_CASE("sources: rows of examples, of one split or all") {
    const TempDir folder;
    const auto examples = write_motif_examples(folder / "examples", 40, 5);
    const auto test = tasks::example_source(examples, examples::Split::test, examples.bounds());
    DOCTEST_CHECK(test->total() == 10);
    auto row = test->next();
    DOCTEST_REQUIRE(row.has_value());
    test->fill(*row);
    DOCTEST_CHECK(row->head.where == genome::Interval{"c", 600, 800});
    DOCTEST_CHECK(row->head.status == rows::RowStatus::ok);
    DOCTEST_CHECK(row->sequence == examples.sequence(3));
    const auto all = tasks::example_source(examples, std::nullopt, {-30, 20});
    DOCTEST_CHECK(all->total() == 40);
    row = all->next();
    all->fill(*row);
    DOCTEST_CHECK(row->sequence == examples.sequence(0).substr(70, 50));
}

DOCTEST_TEST_CASE("sources: parts, every row is in one part, and segments rise") {
    std::vector<int> seen(5000, 0);
    for (std::int64_t number = 1; number <= 3; ++number) {
        std::int64_t segment = -1;
        for (const rows::RegionRow& row : part_of(5000, {number, 3}, alone)) {
            ++seen[static_cast<std::size_t>(row.line)];
            if (row.segment < segment) DOCTEST_FAIL("segments fell");
            segment = row.segment;
            if (segment % 3 != number - 1) DOCTEST_FAIL("another part's segment");
        }
    }
    DOCTEST_CHECK(seen == std::vector<int>(5000, 1));
}

DOCTEST_TEST_CASE("sources: parts, rows that are computed together are in one part") {
    const auto tens = [](const rows::RegionRow& a, const rows::RegionRow& b) {
        return a.line / 10 == b.line / 10;
    };
    for (std::int64_t number = 1; number <= 4; ++number) {
        const auto part = part_of(1000, {number, 4}, tens);
        DOCTEST_CHECK(part.size() == 250);
        for (std::size_t i = 0; i < part.size(); ++i)
            if (part[i].line != part[i - i % 10].line + static_cast<std::int64_t>(i % 10))
                DOCTEST_FAIL("parted");
    }
}

DOCTEST_TEST_CASE("sources: parts, rows are filled as ever, and the total is the part's share") {
    const auto source = tasks::shard_rows(std::make_unique<GivenRows>(10), {2, 4}, alone);
    DOCTEST_CHECK(source->total() == 3);
    rows::RegionRow row;
    source->fill(row);
    DOCTEST_CHECK(row.sequence == "filled");
}

DOCTEST_TEST_CASE("sources: the records of a FASTA, each as it is") {
    const auto records = genome::in_memory_genome({{"a", "ACGT"}, {"b", "NN"}});
    const auto source = tasks::sequence_source(*records);
    DOCTEST_CHECK(source->total() == 2);
    auto row = source->next();
    source->fill(*row);
    DOCTEST_CHECK(row->head.where == genome::Interval{"a", 0, 4});
    DOCTEST_CHECK(row->sequence == "ACGT");
    row = source->next();
    source->fill(*row);
    DOCTEST_CHECK(row->head.status == rows::RowStatus::all_n);
    DOCTEST_CHECK_FALSE(source->next().has_value());
}

DOCTEST_TEST_CASE("sources: sequences of a table are cut or padded about their middle") {
    const TempDir folder;
    write_file(folder / "t.csv", "id,sequence\nx,ACGTACG\nx,AC\ny,NNNNANNNNN\n");
    const auto rows_with = [&](const tasks::RecordFit& fit) {
        const auto source = tasks::record_source(folder / "t.csv", {}, fit);
        DOCTEST_CHECK(source->total() == 3);
        std::vector<rows::RegionRow> rows;
        while (std::optional<rows::RegionRow> row = source->next()) {
            source->fill(*row);
            rows.push_back(std::move(*row));
        }
        return rows;
    };
    const auto cut = rows_with({.window = 4});
    DOCTEST_CHECK(cut[0].sequence == "CGTA");
    DOCTEST_CHECK(cut[0].head.status == rows::RowStatus::truncated);
    DOCTEST_CHECK(cut[0].head.where == genome::Interval{"x", 0, 7});
    DOCTEST_CHECK(cut[0].window.contig == "1");
    DOCTEST_CHECK(cut[1].sequence == "NACN");
    DOCTEST_CHECK(cut[1].head.status == rows::RowStatus::padded);
    DOCTEST_CHECK(cut[1].window.contig == "2");
    DOCTEST_CHECK(cut[2].sequence == "NANN");
    DOCTEST_CHECK(cut[2].head.n_fraction == 0.9);
    const auto whole = rows_with({.shortest = 3, .skip_invalid = true});
    DOCTEST_CHECK(whole[0].sequence == "ACGTACG");
    DOCTEST_CHECK(whole[1].head.status == rows::RowStatus::bad_interval);
    DOCTEST_CHECK(whole[2].head.status == rows::RowStatus::has_n);
    DOCTEST_CHECK(rows_with({.window = 2})[2].sequence == "AN");
    DOCTEST_CHECK(rows_with({.window = 1})[2].head.status == rows::RowStatus::all_n);
}

DOCTEST_TEST_CASE("sources: rows are cut where the cores of windows begin") {
    const auto source =
        tasks::core_rows(std::make_unique<ThreeRows>(), {.bin = 1, .window_bins = 60, .margin_bins = 10});
    std::vector<rows::RegionRow> rows;
    while (std::optional<rows::RegionRow> row = source->next())
        rows.push_back(*row);
    DOCTEST_REQUIRE(rows.size() == 5);
    DOCTEST_CHECK(rows[0].window == genome::Interval{"c", 30, 40});
    DOCTEST_CHECK(rows[0].head.where == genome::Interval{"chrc", 30, 40});
    DOCTEST_CHECK_FALSE(rows[0].last_of_line);
    DOCTEST_CHECK(rows[1].window == genome::Interval{"c", 40, 80});
    DOCTEST_CHECK(rows[2].window == genome::Interval{"c", 80, 95});
    DOCTEST_CHECK(rows[2].last_of_line);
    DOCTEST_CHECK((rows[3].head.status == rows::RowStatus::all_n));
    DOCTEST_CHECK((rows[4].head.status == rows::RowStatus::malformed));
}
