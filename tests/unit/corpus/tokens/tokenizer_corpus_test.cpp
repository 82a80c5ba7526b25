// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/tokenizer_corpus.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::testing;

DOCTEST_TEST_CASE(
    "tokenizer_corpus: a genome directly gives the tokenizer that its documents of one pass give") {
    const TempDir folder;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    const tokenizer::TrainSpec spec{.vocab_size = 150, .seed = 3};
    tokenizer::TokenizerTrainer direct(spec, folder / "direct.model", Overwrite::refuse);
    add_genome(direct, *genome, 3, 2);
    const auto report = direct.finish();

    const BuildSpec documents{.documents = {.passes = 1, .seed = 3}};
    DocumentWriter writer(folder / "documents.bed", DocumentForm::coordinates, documents, Overwrite::refuse,
                          1);
    build_documents(*genome, documents, BuildText::no, 1,
                    [&](PlacedDocument&& document) { writer.write(document); });
    writer.commit();
    DocumentReader reader(folder / "documents.bed", genome.get());
    tokenizer::TokenizerTrainer indirect(spec, folder / "indirect.model", Overwrite::refuse);
    add_documents(indirect, reader);
    const auto same = indirect.finish();
    DOCTEST_CHECK(read_file(folder / "direct.vocab") == read_file(folder / "indirect.vocab"));
    DOCTEST_CHECK(report.sentences == same.sentences);

    const Json json = report_json(spec, report);
    DOCTEST_CHECK(json["vocab_size"] == 150);
    DOCTEST_CHECK(json["sentences"] == report.sentences);
    DOCTEST_CHECK(json["bases_per_token"].get<double>() ==
                  doctest::Approx(json["measured_bases"].get<double>() / json["tokens"].get<double>()));
}
