// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/embed/embed.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using task_models::EmbedPooling;
using task_models::EmbedSpec;

namespace {

class Fixture {
public:
    Fixture() : genome_(random_dna(2000, 1) + std::string(200, 'N')) {
        write_file(folder_ / "genome.fa", ">c\n" + genome_ + "\n>short\nACGT\n");
        write_tiny_pretrained(folder_ / "model", 3);
        task_models::TaskInfo info;
        write_tiny_task_model(folder_ / "task", info, 2, 3);
    }
    EmbedSpec spec(const std::string& bed, EmbedPooling pooling) const {
        write_file(folder_ / "rows.bed", bed);
        EmbedSpec spec;
        spec.model = folder_ / "model";
        spec.regions = folder_ / "rows.bed";
        spec.references = {folder_ / "genome.fa"};
        spec.pooling = pooling;
        spec.outputs.paths = {folder_ / "e.tsv"};
        spec.outputs.overwrite = Overwrite::allow;
        spec.device = "cpu";
        return spec;
    }
    std::vector<std::vector<std::string>> run(const EmbedSpec& spec) const {
        embed(spec);
        std::vector<std::vector<std::string>> rows;
        std::istringstream text(read_file(folder_ / "e.tsv"));
        for (std::string line; std::getline(text, line);) {
            if (line.starts_with('#')) continue;
            rows.emplace_back();
            for (const std::string_view field : rows::split_fields(line, '\t'))
                rows.back().emplace_back(field);
        }
        return rows;
    }
    /// (length, hidden), [CLS] first
    at::Tensor hidden(const std::string& dna, std::size_t layer) const {
        const at::NoGradGuard no_gradients;
        model::PreTrainingModel network = model::load_pretraining_model(folder_ / "model", at::kCPU);
        std::vector<std::int32_t> ids = small_tokenizer().encode(dna);
        ids.insert(ids.begin(), tokenizer::special::cls);
        ids.push_back(tokenizer::special::sep);
        const std::vector<model::TokenSequence> one{{ids, {}}};
        return network->encode(model::make_input(one, network->config(), at::kCPU), true)
            .hidden_states[layer][0]
            .slice(0, 0, std::ssize(ids));
    }
    std::string bases(std::size_t begin, std::size_t end) const { return genome_.substr(begin, end - begin); }
    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

private:
    TempDir folder_;
    std::string genome_;
};

void check_vector(const std::vector<std::string>& row, std::size_t first, const at::Tensor& expected) {
    DOCTEST_REQUIRE(row.size() == first + 32);
    for (std::size_t i = 0; i < 32; ++i) {
        DOCTEST_CHECK(std::stod(row[first + i]) ==
                      doctest::Approx(expected[static_cast<std::int64_t>(i)].item<double>()).epsilon(1e-4));
    }
}

}  // namespace

DOCTEST_TEST_CASE("scoring/embed: mean and [CLS] of a row are the network's own") {
    const Fixture fixture;
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

DOCTEST_TEST_CASE("scoring/embed: a row a token, with the bases that it spells") {
    const Fixture fixture;
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

DOCTEST_TEST_CASE("scoring/embed: FASTA records, long ones by their middle, and task models") {
    const Fixture fixture;
    write_file(fixture / "s.fa", ">a\n" + fixture.bases(100, 420) + "\n>long\n" + random_dna(9000, 4) + "\n");
    EmbedSpec spec = fixture.spec("", EmbedPooling::cls);
    spec.regions.clear();
    spec.references.clear();
    spec.sequences = fixture / "s.fa";
    const auto rows = fixture.run(spec);
    DOCTEST_REQUIRE(rows.size() == 2);
    check_vector(rows[0], 8, fixture.hidden(fixture.bases(100, 420), 1)[0]);
    DOCTEST_CHECK(rows[0][0] == "a");
    DOCTEST_CHECK(rows[1][6] == "truncated");
    spec.model = fixture / "task";
    DOCTEST_CHECK(fixture.run(spec)[0].size() == 40);
}
