// SPDX-License-Identifier: Apache-2.0
// Scores of a network of random weights against scripts/checks/make_splicing_variants.py.
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/scoring/splicing/predict_splicing.hpp"

#include <map>
#include <string>
#include <tuple>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

using Run = std::tuple<std::string, std::string, std::string>;  ///< mode, distance, mask
using Infos = std::map<std::string, std::string>;               ///< by id

std::map<Run, Infos> expected_infos() {
    std::map<Run, Infos> runs;
    genome::TextInput lines(test_data("variants/splicing/expected.tsv"));
    for (std::string line; lines.next(line);) {
        const auto fields = rows::split_fields(line, '\t');
        if (!line.starts_with('#'))
            runs[{std::string(fields[0]), std::string(fields[1]), std::string(fields[2])}].emplace(fields[3],
                                                                                                   fields[4]);
    }
    return runs;
}

/// The INFO of a VCF's records.
Infos infos_in(const std::filesystem::path& vcf) {
    Infos infos;
    genome::TextInput lines(vcf);
    for (std::string line; lines.next(line);) {
        const auto fields = rows::split_fields(line, '\t');
        constexpr std::string_view name = "SpliceAI=";
        if (!line.starts_with('#'))
            infos.emplace(fields[2], fields[7].starts_with(name) ? fields[7].substr(name.size()) : fields[7]);
    }
    return infos;
}

}  // namespace

DOCTEST_TEST_CASE(
    "splicing oracle: every record's INFO, in both modes, with and without mask, by table and GTF") {
    const TempDir folder;
    std::size_t compared = 0;
    for (const auto& [run, infos] : expected_infos()) {
        const auto& [mode, distance, mask] = run;
        for (const char* annotation : {"genes.tsv", "genes.gtf"}) {
            tasks::VariantSpec spec;
            spec.models = {test_data("models/splicing/keras/splice1.h5")};
            spec.variants = test_data("variants/splicing/variants.vcf");
            spec.references = {test_data("variants/splicing/genome.fa")};
            spec.annotation = test_data(std::string("variants/splicing/") + annotation);
            spec.outputs.paths = {folder / "out.vcf"};
            spec.outputs.overwrite = Overwrite::allow;
            spec.splicing = spec.skip_invalid = true;
            spec.mode = parse_choice(tasks::splice_mode_choices, "mode", mode);
            spec.distance = std::stoll(distance);
            spec.mask = mask == "1";
            splicing::predict_splicing(spec);
            const Infos found = infos_in(folder / "out.vcf");
            DOCTEST_CHECK(found.size() == infos.size());
            for (const auto& [id, info] : infos) {
                DOCTEST_CAPTURE(id);
                DOCTEST_CAPTURE(mode);
                DOCTEST_CHECK(found.at(id) == info);
                compared += info.size() > 1 ? 1 : 0;
            }
        }
    }
    DOCTEST_CHECK(compared > 1400);
}
