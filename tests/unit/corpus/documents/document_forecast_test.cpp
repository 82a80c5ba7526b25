// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_forecast.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/corpus/documents/document_writer.hpp"

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;
namespace fs = std::filesystem;

DOCTEST_TEST_CASE("document_forecast: documents, bases and bytes are those that building makes") {
    const TempDir folder;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    bigbird::testing::write_file(folder / "sizes", [&] {
        std::string text;
        for (const genome::Contig& contig : genome->contigs()) {
            text += contig.name + "\t" + std::to_string(contig.length) + "\n";
        }
        return text;
    }());
    const std::vector<fs::path> sizes{folder / "sizes"};
    const auto lengths = genome::open_contig_lengths(sizes);
    BuildSpec spec{.documents = {.passes = 12,
                                 .sentences = {3, 6},
                                 .sentence_length = {50, 90},
                                 .start_offset = {0, 40}},
                   .max_n_fraction = 1};
    for (const int round : {0, 1, 2}) {
        spec.add_reverse_complement = round == 1;
        if (round == 2) {
            const genome::Contig& first = genome->contigs()[0];
            spec.include =
                genome::IntervalSet(std::vector<genome::Interval>{{first.name, 100, first.length}});
            spec.exclude = genome::IntervalSet(std::vector<genome::Interval>{{first.name, 700, 705}});
        }
        const Forecast forecast = forecast_documents(*lengths, spec, 3);
        for (const DocumentForm form : {DocumentForm::text, DocumentForm::coordinates}) {
            const fs::path file = folder / "documents";
            DocumentWriter writer(file, form, spec, Overwrite::allow, 1);
            const BuildCounts counts = build_documents(
                *genome, spec, BuildText::yes, 1, [&](PlacedDocument&& document) { writer.write(document); });
            writer.commit();
            DOCTEST_CHECK(forecast.counts.documents == counts.documents);
            DOCTEST_CHECK(forecast.counts.sentences == counts.sentences);
            DOCTEST_CHECK(forecast.counts.bases == counts.bases);
            DOCTEST_CHECK(forecast.counts.outside_include == counts.outside_include);
            DOCTEST_CHECK(forecast.counts.inside_exclude == counts.inside_exclude);
            DOCTEST_CHECK(static_cast<std::int64_t>(fs::file_size(file)) ==
                          (form == DocumentForm::text ? forecast.text_bytes : forecast.coordinate_bytes));
        }
        DOCTEST_CHECK(to_json(forecast, spec).at("documents") == forecast.counts.documents);
        DOCTEST_CHECK(describe(forecast, spec).find("450,000") != std::string::npos);
    }
}
