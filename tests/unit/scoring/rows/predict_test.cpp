// SPDX-License-Identifier: Apache-2.0
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using tasks::predict;
using tasks::PredictSpec;

namespace {

struct Table {
    std::vector<std::string> columns;
    std::vector<rows::ScoreRow> rows;
    std::vector<std::vector<float>> values;
    rows::Provenance provenance;
};

Table read_table(const std::filesystem::path& path) {
    rows::ScoreReader reader(path);
    Table table{reader.columns(), {}, {}, reader.provenance()};
    rows::ScoreRow row;
    std::vector<float> values;
    while (reader.next(row, values)) {
        table.rows.push_back(row);
        table.values.push_back(values);
    }
    return table;
}

class PredictFixture : public ScoringFolder {
public:
    explicit PredictFixture(examples::Task task = examples::Task::chromatin,
                            rows::WindowBounds window = {-150, 150})
        : genome_(random_dna(4000, 1) + std::string(1000, 'N') + random_dna(3000, 2)) {
        file("genome.fa", ">one\n" + genome_ + "\n>two\n" + random_dna(500, 3) + "\n");
        tasks::TaskInfo info;
        info.task = task;
        info.window = window;
        info.contigs = {{"one", 8000}, {"two", 500}};
        write_tiny_task_model(*this / "model", info, 3, 5);
    }
    PredictSpec spec(const std::string& bed, const std::string& output = "scores.tsv") {
        auto spec = ScoringFolder::spec<PredictSpec>("model", output);
        spec.regions = file("rows.bed", bed);
        spec.threads = 2;
        return spec;
    }
    Table run(const PredictSpec& spec) {
        predict(spec);
        return read_table(spec.outputs.paths[0]);
    }
    const std::string& genome() const { return genome_; }

private:
    std::string genome_;
};

std::string row_name(std::size_t row) {
    std::string name = "r";
    name += std::to_string(row);
    return name;
}

std::string bed_of(std::int64_t count) {
    std::string bed;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t begin = (i * 37) % 7900;
        bed += "one\t" + std::to_string(begin) + "\t" + std::to_string(begin + 1 + i % 60) + "\t" +
               row_name(static_cast<std::size_t>(i)) + "\n";
    }
    return bed;
}

}  // namespace

DOCTEST_TEST_CASE("predict: one row out for each row in, in order, NA where nothing was scored") {
    PredictFixture fixture;
    PredictSpec spec = fixture.spec(
        "one\t1000\t1200\ta\t5\t-"
        "\none\t4400\t4500\nnowhere\t0\t1\none\t7900\t9000\none\t20\t30\tb\none\t3900\t3990\n");
    spec.skip_invalid = true;
    const Table table = fixture.run(spec);
    DOCTEST_CHECK(table.columns == std::vector<std::string>{"label0", "label1", "label2"});
    DOCTEST_REQUIRE(table.rows.size() == 6);
    const std::vector<std::string> expected{"ok", "all_n", "no_contig", "bad_interval", "padded", "has_n"};
    for (std::size_t i = 0; i < 6; ++i) {
        DOCTEST_CAPTURE(i);
        DOCTEST_CHECK(table.rows[i].status == expected[i]);
        const bool scored = i == 0 || i >= 4;
        for (const float value : table.values[i])
            DOCTEST_CHECK(std::isnan(value) != scored);
    }
    DOCTEST_CHECK(table.rows[0].name == "a");
    DOCTEST_CHECK(table.rows[0].score == "5");
    DOCTEST_CHECK(table.rows[0].strand == "-");
    DOCTEST_CHECK(table.rows[3].end == "9000");
    DOCTEST_CHECK(table.rows[4].n_fraction == doctest::Approx(125.0 / 300));
}

DOCTEST_TEST_CASE("predict: scores do not depend on chunks, batches and threads") {
    PredictFixture fixture;
    const Table table = fixture.run(fixture.spec(bed_of(300)));
    DOCTEST_REQUIRE(table.rows.size() == 300);
    for (const std::int64_t batch_tokens : {64, 3000}) {
        PredictSpec spec = fixture.spec(bed_of(300), "other.tsv");
        spec.batch_tokens = batch_tokens;
        spec.threads = 3;
        const Table other = fixture.run(spec);
        DOCTEST_REQUIRE(other.rows.size() == 300);
        for (std::size_t i = 0; i < 300; ++i) {
            DOCTEST_REQUIRE(other.rows[i].name == row_name(i));
            for (std::size_t label = 0; label < 3; ++label) {
                const float a = table.values[i][label], b = other.values[i][label];
                DOCTEST_REQUIRE(std::isnan(a) == std::isnan(b));
                if (!std::isnan(a)) DOCTEST_REQUIRE(std::abs(a - b) < 1e-5);
            }
        }
    }
}

DOCTEST_TEST_CASE("predict: the same bytes again") {
    PredictFixture fixture;
    predict(fixture.spec(bed_of(50)));
    const std::string first = read_file(fixture / "scores.tsv");
    predict(fixture.spec(bed_of(50)));
    DOCTEST_CHECK(read_file(fixture / "scores.tsv") == first);
    DOCTEST_CHECK(first.find(fixture / "") == std::string::npos);
}

DOCTEST_TEST_CASE("predict: a promoter's window lies about its TSS, on its strand") {
    PredictFixture fixture(examples::Task::promoter, {-200, 100});
    // + at base 1000, and - at base 1000: the mirror image of a window of another place
    PredictSpec spec =
        fixture.spec("one\t1000\t1001\tp\t0\t+\none\t1000\t1700\tq\t0\t+\none\t900\t1001\tm\t0\t-\n");
    spec.task = examples::Task::promoter;
    const Table table = fixture.run(spec);
    for (std::size_t label = 0; label < 3; ++label) {
        DOCTEST_CHECK(table.values[0][label] == doctest::Approx(table.values[1][label]).epsilon(1e-5));
        DOCTEST_CHECK(table.values[0][label] != doctest::Approx(table.values[2][label]).epsilon(1e-4));
    }
    // the minus strand's window, given as a genome of its own
    const std::string window = genome::reverse_complement(fixture.genome().substr(901, 300));
    write_file(fixture / "genome.fa", ">one\n" + window + "\n");
    PredictSpec mirrored = fixture.spec("one\t200\t201\n", "mirrored.tsv");
    mirrored.task = examples::Task::promoter;
    const Table same = fixture.run(mirrored);
    DOCTEST_CHECK(same.rows[0].status == "ok");
    for (std::size_t label = 0; label < 3; ++label)
        DOCTEST_CHECK(same.values[0][label] == doctest::Approx(table.values[2][label]).epsilon(1e-5));
}

DOCTEST_TEST_CASE("predict: several outputs, chosen labels, provenance") {
    PredictFixture fixture;
    PredictSpec spec = fixture.spec(bed_of(5));
    spec.outputs.paths.push_back(fixture / "scores.tsv.gz");
    spec.labels = "group:even";
    spec.strands = tasks::Strands::average;
    const Table plain = fixture.run(spec);
    DOCTEST_CHECK(plain.columns == std::vector<std::string>{"label0", "label2"});
    const Table packed = read_table(fixture / "scores.tsv.gz");
    DOCTEST_CHECK(packed.values == plain.values);
    std::map<std::string, std::string> about(plain.provenance.begin(), plain.provenance.end());
    DOCTEST_CHECK(about["task"] == "chromatin");
    DOCTEST_CHECK(about["window"] == "-150:150");
    DOCTEST_CHECK(about["reverse_complement"] == "average");
    DOCTEST_CHECK(about["model_sha256"].size() == 64);
    DOCTEST_CHECK(about["contigs_sha256"].size() == 64);
}

DOCTEST_TEST_CASE("predict: rows of examples") {
    PredictFixture fixture(examples::Task::chromatin, {-100, 100});
    write_motif_examples(fixture / "examples", 40, 5);
    PredictSpec spec = fixture.spec("");
    spec.regions.clear();
    spec.references.clear();
    spec.examples = fixture / "examples";
    spec.split = examples::Split::test;
    const Table table = fixture.run(spec);
    DOCTEST_REQUIRE(table.rows.size() == 10);
    DOCTEST_CHECK(table.rows[1].begin == "1400");
    DOCTEST_CHECK_FALSE(std::isnan(table.values[1][2]));
}

DOCTEST_TEST_CASE("predict: an empty BED gives a header alone") {
    PredictFixture fixture;
    for (const char* bed : {"", "# nothing\n"}) {
        const Table table = fixture.run(fixture.spec(bed));
        DOCTEST_CHECK(table.rows.empty());
        DOCTEST_CHECK(table.columns.size() == 3);
    }
}

DOCTEST_TEST_CASE("predict: nothing is left behind where a row is wrong") {
    PredictFixture fixture;
    DOCTEST_CHECK(message_of<InputError>([&] {
                      predict(fixture.spec(bed_of(500) + "one\t7000\tx\n"));
                  }).starts_with((fixture / "rows.bed").string() + ":501: "));
    DOCTEST_CHECK_FALSE(std::filesystem::exists(fixture / "scores.tsv"));
}

DOCTEST_TEST_CASE("predict: outputs that cannot be written are refused before the work") {
    PredictFixture fixture;
    PredictSpec spec = fixture.spec("no BED at all\n");
    spec.outputs.overwrite = Overwrite::refuse;
    write_file(fixture / "scores.tsv", "mine");
    DOCTEST_CHECK(message_of<ConfigError>([&] { predict(spec); }).find("--force") != std::string::npos);
    DOCTEST_CHECK(read_file(fixture / "scores.tsv") == "mine");
}

DOCTEST_TEST_CASE("predict: tiles are rows of their own, or pooled into their region") {
    PredictFixture fixture;
    const Table alone = fixture.run(fixture.spec("one\t1200\t1400\n", "alone.tsv"));
    PredictSpec spec = fixture.spec(
        "one\t1000\t1450\ta\none\t2000\t2000\tempty\none\t3800\t4300\tn\none\t4400\t4600\tall\n");
    spec.tile = 200;
    const Table tiles = fixture.run(spec);
    std::string places;
    for (const rows::ScoreRow& row : tiles.rows)
        places += row.name + row.begin + "-" + row.end + row.status + " ";
    DOCTEST_CHECK(places ==
                  "a1000-1200ok a1200-1400ok a1400-1450ok empty2000-2000ok n3800-4000has_n n4000-4200has_n "
                  "n4200-4300all_n all4400-4600all_n ");
    // a tile is scored as the same row alone
    DOCTEST_CHECK(tiles.values[1][2] == doctest::Approx(alone.values[0][2]).epsilon(1e-5));
    for (const tasks::Pool pool : {tasks::Pool::mean, tasks::Pool::max}) {
        spec.pool = pool;
        const Table pooled = fixture.run(spec);
        DOCTEST_REQUIRE(pooled.rows.size() == 4);
        DOCTEST_CHECK(pooled.rows[0].end == "1450");
        DOCTEST_CHECK(pooled.rows[2].status == "has_n");
        DOCTEST_CHECK(pooled.rows[3].status == "all_n");
        DOCTEST_CHECK(std::isnan(pooled.values[3][0]));
        const float a = tiles.values[0][1], b = tiles.values[1][1], c = tiles.values[2][1];
        const float expected = pool == tasks::Pool::max ? std::max({a, b, c}) : (a + b + c) / 3;
        DOCTEST_CHECK(pooled.values[0][1] == doctest::Approx(expected).epsilon(1e-5));
    }
}

DOCTEST_TEST_CASE("predict: a promoter scan takes both strands, and its track the larger score") {
    PredictFixture fixture(examples::Task::promoter, {-200, 100});
    PredictSpec spec = fixture.spec("one\t1000\t1200\none\t2000\t2100\tm\t.\t-\n");
    spec.task = examples::Task::promoter;
    spec.tile = 100;
    spec.labels = "label1";
    spec.outputs.paths.push_back(fixture / "scan.bedgraph");
    const Table scan = fixture.run(spec);
    std::string places;
    for (const rows::ScoreRow& row : scan.rows)
        places += row.begin + row.strand + " ";
    DOCTEST_CHECK(places == "1000+ 1000- 1100+ 1100- 2000- ");
    PredictSpec pooled = spec;
    pooled.pool = tasks::Pool::max;
    pooled.outputs.paths.resize(1);
    const Table regions = fixture.run(pooled);
    DOCTEST_REQUIRE(regions.rows.size() == 2);
    DOCTEST_CHECK(regions.rows[0].strand == ".");
    DOCTEST_CHECK(regions.rows[1].strand == "-");
    PredictSpec tss = fixture.spec("one\t1050\t1051\t.\t.\t-\n", "tss.tsv");
    tss.task = examples::Task::promoter;
    DOCTEST_CHECK(scan.values[1][0] == doctest::Approx(fixture.run(tss).values[0][1]).epsilon(1e-5));
    const std::string track = read_file(fixture / "scan.bedgraph");
    DOCTEST_CHECK(std::count(track.begin(), track.end(), '\n') == 3);
    const float larger = std::max(scan.values[0][0], scan.values[1][0]);
    DOCTEST_CHECK(std::stof(track.substr(track.find("1100\t") + 5)) == larger);
}
