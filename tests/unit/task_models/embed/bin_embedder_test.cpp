// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/task_models/embed/row_embedder.hpp"

#include <functional>
#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

struct Scene {
    TempDir folder;
    std::string dna = random_dna(1010, 1) + std::string(90, 'N');
    EmbedSpec spec;
    Scene() {
        std::filesystem::create_directories(folder / "m");
        small_base_bins(4)->write(small_bins_info(), folder / "m");
        write_file(folder / "m/labels.tsv", rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}}).to_text());
        write_file(folder / "c.fa", ">c\n" + dna + "\n");
        spec.model = folder / "m";
        spec.regions = folder / "rows.bed";
        spec.references = {folder / "c.fa"};
        spec.outputs.paths = {folder / "e.tsv"};
        spec.device = "cpu";
    }
    /// Fields of the rows that embed() writes.
    std::vector<std::vector<std::string>> run(const std::string& bed) const {
        write_file(folder / "rows.bed", bed);
        embed(spec);
        std::vector<std::vector<std::string>> rows;
        std::istringstream text(read_file(folder / "e.tsv"));
        for (std::string line; std::getline(text, line);) {
            if (line.starts_with('#')) continue;
            rows.emplace_back();
            for (const std::string_view field : rows::split_fields(line, '\t'))
                rows.back().emplace_back(field);
        }
        return rows;
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

void check(const std::vector<std::string>& row, const at::Tensor& wanted) {
    DOCTEST_REQUIRE(row.size() == 8 + 16);
    for (std::size_t i = 0; i < 16; ++i) {
        DOCTEST_CHECK(std::stod(row[8 + i]) ==
                      doctest::Approx(wanted[static_cast<std::int64_t>(i)].item<double>()).epsilon(1e-4));
    }
}

}  // namespace

DOCTEST_TEST_CASE("bin embedder: a row's vector is the mean over its bins") {
    const Scene scene;
    const auto rows = scene.run("c\t260\t280\ta\nc\t290\t330\tb\nc\t1050\t1100\tn\n");
    DOCTEST_REQUIRE(rows.size() == 3);
    check(rows[0], scene.bin(3, 2 + 1));  // bin 13
    // Bases 290 to 330 are half of bin 14, bin 15 (window 3) and half of bin 16 (window 4).
    check(rows[1], 0.25 * scene.bin(3, 2 + 2) + 0.5 * scene.bin(3, 2 + 3) + 0.25 * scene.bin(4, 2));
    DOCTEST_CHECK(rows[2][6] == "all_n");
    DOCTEST_CHECK(rows[2][8] == "NA");
    DOCTEST_CHECK(read_file(scene.folder / "e.tsv").find("layer=last") != std::string::npos);
}

DOCTEST_TEST_CASE("bin embedder: what it cannot say is refused") {
    const auto refusal = [](const std::function<void(EmbedSpec&)>& change) {
        Scene scene;
        change(scene.spec);
        return message_of<ConfigError>([&] { scene.run("c\t0\t20\n"); });
    };
    DOCTEST_CHECK(refusal([](EmbedSpec& spec) { spec.pooling = EmbedPooling::cls; }) ==
                  "--pooling is not of models of bins: a row gets the mean over its bins");
    DOCTEST_CHECK(refusal([](EmbedSpec& spec) { spec.layer = 0; }).starts_with("--layer is not of"));
    DOCTEST_CHECK(refusal([](EmbedSpec& spec) { spec.use_strand = true; }).starts_with("--strand is not of"));
}
