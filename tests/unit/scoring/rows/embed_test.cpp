// SPDX-License-Identifier: Apache-2.0
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/model_directory.hpp"

#include <functional>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

class EmbedFixture : public ScoringFolder {
public:
    EmbedFixture() : genome_(random_dna(2000, 1) + std::string(200, 'N')) {
        genome_file("genome.fa", genome_ + "\n>short\nACGT");
        write_tiny_pretrained(*this / "model", 3);
        write_tiny_task_model(*this / "task", {}, 2, 3);
    }
    EmbedSpec spec(const std::string& bed, EmbedPooling pooling) const {
        auto spec = ScoringFolder::spec<EmbedSpec>("model", "e.tsv");
        spec.regions = file("rows.bed", bed);
        spec.pooling = pooling;
        return spec;
    }
    std::vector<std::vector<std::string>> run(const EmbedSpec& spec) const {
        embed(spec);
        return read_rows(*this / "e.tsv", "#");
    }
    /// (length, hidden), [CLS] first
    at::Tensor hidden(const std::string& dna, std::size_t layer) const {
        const at::NoGradGuard no_gradients;
        model::PreTrainingModel network = model::load_pretraining_model(*this / "model", at::kCPU);
        std::vector<std::int32_t> ids = small_tokenizer().encode(dna);
        ids.insert(ids.begin(), tokenizer::special::cls);
        ids.push_back(tokenizer::special::sep);
        const std::vector<model::TokenSequence> one{{ids, {}}};
        return network->encode(model::make_input(one, network->config(), at::kCPU), true)
            .hidden_states[layer][0]
            .slice(0, 0, std::ssize(ids));
    }
    std::string bases(std::size_t begin, std::size_t end) const { return genome_.substr(begin, end - begin); }

private:
    std::string genome_;
};

void check_vector(const std::vector<std::string>& row, std::size_t first, const at::Tensor& expected) {
    DOCTEST_REQUIRE(row.size() == first + static_cast<std::size_t>(expected.size(0)));
    for (std::int64_t i = 0; i < expected.size(0); ++i) {
        DOCTEST_CHECK(std::stod(row[first + static_cast<std::size_t>(i)]) ==
                      doctest::Approx(expected[i].item<double>()).epsilon(1e-4));
    }
}

struct EmbedScene {
    ScoringFolder folder;
    std::string dna = random_dna(1010, 1) + std::string(90, 'N');
    EmbedSpec spec = folder.spec<EmbedSpec>("m", "e.tsv");
    EmbedScene() {
        folder.write_model("m", *small_base_bins(4), small_bins_info());
        folder.genome_file("genome.fa", dna);
        spec.regions = folder / "rows.bed";
    }
    /// Fields of the rows that embed() writes.
    std::vector<std::vector<std::string>> run(const std::string& bed) const {
        write_file(folder / "rows.bed", bed);
        embed(spec);
        return read_rows(folder / "e.tsv", "#");
    }
    /// (hidden) of bin `bin` of window `number`.
    at::Tensor bin(std::int64_t number, std::int64_t bin) const {
        const at::NoGradGuard no_gradients;
        const auto network = small_base_bins(4);
        const std::int64_t begin = (number * 4 - 2) * 20;
        const std::string window = dna.substr(static_cast<std::size_t>(begin), 160);
        return network->features(std::vector{network->encode(window)})[0][bin];
    }
};

}  // namespace

DOCTEST_TEST_CASE("embed: mean and [CLS] of a row are the network's own") {
    const EmbedFixture fixture;
    const std::string bed = "c\t100\t420\ta\nc\t1000\t1001\tone\nc\t2050\t2100\tn\nshort\t1\t1\tempty\n";
    const at::Tensor last = fixture.hidden(fixture.bases(100, 420), 1);
    auto rows = fixture.run(fixture.spec(bed, EmbedPooling::mean));
    DOCTEST_REQUIRE(rows.size() == 4);
    check_vector(rows[0], 8, last.slice(0, 1, last.size(0) - 1).mean(0));
    DOCTEST_CHECK(rows[1][6] == "ok");
    DOCTEST_CHECK(rows[2][6] == "all_n");
    DOCTEST_CHECK(rows[2][8] == "NA");
    DOCTEST_CHECK(rows[3][8] == "NA");
    EmbedSpec spec = fixture.spec(bed, EmbedPooling::cls);
    check_vector(fixture.run(spec)[0], 8, last[0]);
    spec.layer = 0;
    check_vector(fixture.run(spec)[0], 8, fixture.hidden(fixture.bases(100, 420), 0)[0]);
    spec.layer = 2;
    DOCTEST_CHECK(message_of<ConfigError>([&] { fixture.run(spec); }).find("--layer is 0") == 0);
    spec.layer = -1;
    spec.window = 320;
    spec.regions = fixture / "other.bed";
    write_file(fixture / "other.bed", "c\t260\t260\n");
    check_vector(fixture.run(spec)[0], 8, last[0]);
}

DOCTEST_TEST_CASE("embed: a row a token, with the bases that it spells") {
    const EmbedFixture fixture;
    const auto rows = fixture.run(fixture.spec("c\t500\t700\tx\t0\t-\n", EmbedPooling::token));
    const std::string dna = fixture.bases(500, 700);
    const at::Tensor hidden = fixture.hidden(dna, 1);
    DOCTEST_REQUIRE(std::ssize(rows) == hidden.size(0) - 2);
    std::string spelt;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        DOCTEST_CHECK(rows[i][8] == std::to_string(i + 1));
        const std::size_t begin = std::stoul(rows[i][9]), end = std::stoul(rows[i][10]);
        DOCTEST_CHECK(begin == spelt.size());
        DOCTEST_CHECK(dna.substr(begin, end - begin) == rows[i][11]);
        spelt += rows[i][11];
        check_vector(rows[i], 12, hidden[static_cast<std::int64_t>(i) + 1]);
    }
    DOCTEST_CHECK(spelt == dna);
    EmbedSpec spec = fixture.spec("c\t500\t700\tx\t0\t-\n", EmbedPooling::token);
    spec.use_strand = true;
    std::string other;
    for (const auto& row : fixture.run(spec))
        other += row[11];
    DOCTEST_CHECK(other == genome::reverse_complement(dna));
}

DOCTEST_TEST_CASE("embed: FASTA records, long ones by their middle, and task models") {
    const EmbedFixture fixture;
    write_file(fixture / "s.fa", ">a\n" + fixture.bases(100, 420) + "\n>long\n" + random_dna(9000, 4) + "\n");
    EmbedSpec spec = fixture.spec("", EmbedPooling::cls);
    spec.regions.clear();
    spec.sequences = fixture / "s.fa";
    const auto rows = fixture.run(spec);
    DOCTEST_REQUIRE(rows.size() == 2);
    check_vector(rows[0], 8, fixture.hidden(fixture.bases(100, 420), 1)[0]);
    DOCTEST_CHECK(rows[0][0] == "a");
    DOCTEST_CHECK(rows[1][6] == "truncated");
    spec.model = fixture / "task";
    const auto of_task = fixture.run(spec);
    DOCTEST_CHECK(of_task[0].size() == 40);
    write_tiny_task_model(fixture / "tokens", bases_info(200, 20), 2, 3);
    spec.model = fixture / "tokens";
    DOCTEST_CHECK(fixture.run(spec) == of_task);
}

DOCTEST_TEST_CASE("embed: bins, a row's vector is the mean over its bins") {
    const EmbedScene scene;
    const auto rows = scene.run("c\t260\t280\ta\nc\t290\t330\tb\nc\t1050\t1100\tn\n");
    DOCTEST_REQUIRE(rows.size() == 3);
    check_vector(rows[0], 8, scene.bin(3, 2 + 1));  // bin 13
    // Bases 290 to 330 are half of bin 14, bin 15 (window 3) and half of bin 16 (window 4).
    check_vector(rows[1], 8, 0.25 * scene.bin(3, 2 + 2) + 0.5 * scene.bin(3, 2 + 3) + 0.25 * scene.bin(4, 2));
    DOCTEST_CHECK(rows[2][6] == "all_n");
    DOCTEST_CHECK(rows[2][8] == "NA");
    DOCTEST_CHECK(read_file(scene.folder / "e.tsv").find("layer=last") != std::string::npos);
}

DOCTEST_TEST_CASE("embed: bins, what it cannot say is refused") {
    const auto refusal = [](const std::function<void(EmbedSpec&)>& change) {
        EmbedScene scene;
        change(scene.spec);
        return message_of<ConfigError>([&] { scene.run("c\t0\t20\n"); });
    };
    DOCTEST_CHECK(refusal([](EmbedSpec& spec) { spec.pooling = EmbedPooling::cls; }) ==
                  "--pooling is not of models of bins: a row gets the mean over its bins");
    DOCTEST_CHECK(refusal([](EmbedSpec& spec) { spec.layer = 0; }).starts_with("--layer is not of"));
    DOCTEST_CHECK(refusal([](EmbedSpec& spec) { spec.use_strand = true; }).starts_with("--strand is not of"));
}

DOCTEST_TEST_CASE("embed: FASTA records of one name are numbered, each with its own vector") {
    const EmbedFixture fixture;
    write_file(fixture / "s.fa", ">a one\n" + fixture.bases(100, 420) + "\n>b\n" + fixture.bases(0, 300) +
                                     "\n>a two\n" + fixture.bases(500, 820) + "\n>a#2\n" +
                                     fixture.bases(900, 1220) + "\n>a\n" + fixture.bases(1300, 1620) + "\n");
    EmbedSpec spec = fixture.spec("", EmbedPooling::cls);
    spec.regions.clear();
    spec.sequences = fixture / "s.fa";
    const auto rows = fixture.run(spec);
    DOCTEST_REQUIRE(rows.size() == 5);
    const std::vector<std::pair<std::string, std::size_t>> expected{
        {"a", 100}, {"b", 0}, {"a#2", 500}, {"a#2#2", 900}, {"a#3", 1300}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        DOCTEST_CAPTURE(i);
        DOCTEST_CHECK(rows[i][0] == expected[i].first);
        const std::size_t begin = expected[i].second;
        check_vector(rows[i], 8, fixture.hidden(fixture.bases(begin, begin + (i == 1 ? 300 : 320)), 1)[0]);
    }
}
