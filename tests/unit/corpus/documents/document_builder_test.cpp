// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_builder.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <map>

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::message_of;
using bigbird::testing::test_data;

namespace {

struct Result {
    std::vector<PlacedDocument> documents;
    BuildCounts counts;
};

Result build(const genome::ReferenceGenome& genome, const BuildSpec& spec, int threads = 2) {
    Result result;
    result.counts = build_documents(genome, spec, BuildText::yes, threads, [&](PlacedDocument&& document) {
        result.documents.push_back(std::move(document));
    });
    return result;
}

std::string all_text(const Result& result) {
    std::string text;
    for (const PlacedDocument& document : result.documents) {
        text += document.text + "\n";
    }
    return text;
}

// Real sequence with real gaps: 22:16,600,000-16,900,000 (150 kb of N) and 22:19,100,000-19,300,000,
// soft-masked.
std::unique_ptr<genome::ReferenceGenome> real_genome() {
    const auto reference = genome::open_reference(test_data("genome/22.fa.gz"));
    return genome::in_memory_genome({{"a", reference->fetch({"22", 16'600'000, 16'900'000})},
                                     {"b", reference->fetch({"22", 19'100'000, 19'300'000})},
                                     {"short", reference->fetch({"22", 20'000'000, 20'000'300})}});
}

bool consecutive(const PlacedDocument& document) {
    for (std::size_t i = 0; i + 1 < document.sentences.size(); ++i) {
        const auto &here = document.sentences[i], &next = document.sentences[i + 1];
        if (document.reverse ? next.second != here.first : next.first != here.second) {
            return false;
        }
    }
    return true;
}

}  // namespace

DOCTEST_TEST_CASE(
    "document_builder: the sequence is the reference's, and every base is covered in every pass") {
    const auto genome = real_genome();
    const BuildSpec spec{.documents = {.passes = 3, .seed = 8}, .max_n_fraction = 1};
    const Result result = build(*genome, spec);
    std::map<std::string, std::int64_t> bases;
    for (const PlacedDocument& document : result.documents) {
        DOCTEST_CHECK(consecutive(document));
        DOCTEST_CHECK_FALSE(document.reverse);
        const Document text = document.document();
        DOCTEST_REQUIRE(text.sentences.size() == document.sentences.size());
        for (std::size_t i = 0; i < text.sentences.size(); ++i) {
            const auto [begin, end] = document.sentences[i];
            DOCTEST_CHECK(text.sentences[i] == genome->fetch({document.contig, begin, end}));
        }
        bases[document.contig] += document.bases();
    }
    DOCTEST_CHECK(result.counts.documents == static_cast<std::int64_t>(result.documents.size()));
    DOCTEST_CHECK(result.counts.too_much_n == 0);
    DOCTEST_CHECK(bases["a"] > 3 * (300'000 - 5000));
    DOCTEST_CHECK(bases["a"] < 3 * 300'000);
    DOCTEST_CHECK(bases["short"] == 3 * 300);
    DOCTEST_CHECK(result.counts.bases == bases["a"] + bases["b"] + bases["short"]);
}

DOCTEST_TEST_CASE("document_builder: the same whatever the threads") {
    const auto genome = real_genome();
    const BuildSpec spec{.documents = {.passes = 4}, .add_reverse_complement = true};
    const std::string once = all_text(build(*genome, spec, 1));
    DOCTEST_CHECK(once == all_text(build(*genome, spec, 2)));
    DOCTEST_CHECK(once == all_text(build(*genome, spec, 7)));
}

DOCTEST_TEST_CASE("document_builder: sentences of N are dropped, and the document is split there") {
    const auto genome = real_genome();
    const Result all = build(*genome, {.documents = {.passes = 2}, .max_n_fraction = 1});
    const Result kept = build(*genome, {.documents = {.passes = 2}, .max_n_fraction = 0.5});
    const Result strict = build(*genome, {.documents = {.passes = 2}, .max_n_fraction = 0});
    DOCTEST_CHECK(kept.counts.sentences + kept.counts.too_much_n == all.counts.sentences);
    DOCTEST_CHECK(kept.counts.too_much_n > 2 * 150'000 / 1000);
    DOCTEST_CHECK(kept.counts.too_much_n < 2 * 150'000 / 500);
    DOCTEST_CHECK(strict.counts.too_much_n >
                  kept.counts.too_much_n);  // the edges of the gap, and the single N
    for (const Result* result : {&kept, &strict}) {
        for (const PlacedDocument& document : result->documents) {
            DOCTEST_CHECK(consecutive(document));
            for (const std::string& sentence : document.document().sentences) {
                DOCTEST_CHECK(genome::n_fraction(sentence) <= (result == &kept ? 0.5 : 0.0));
            }
            const bool across = document.contig == "a" && document.sentences.front().first < 97'850 &&
                                document.sentences.back().second > 247'850;
            DOCTEST_CHECK_FALSE(across);
        }
    }
    DOCTEST_CHECK(
        kept.counts.describe({}).find("; sentences dropped: " + std::to_string(kept.counts.too_much_n) +
                                      " with more than 50 % N") != std::string::npos);
}

DOCTEST_TEST_CASE("document_builder: include and exclude") {
    const auto genome = real_genome();
    BuildSpec spec{.documents = {.passes = 2}, .max_n_fraction = 1};
    const std::vector<genome::Interval> inside{{"b", 20'000, 60'000}, {"b", 100'000, 150'000}},
        outside{{"b", 30'000, 30'001}};
    spec.include = genome::IntervalSet(inside);
    spec.exclude = genome::IntervalSet(outside);
    const Result result = build(*genome, spec);
    DOCTEST_CHECK(result.counts.inside_exclude == 2);
    DOCTEST_CHECK(result.counts.outside_include > 500);
    std::int64_t bases = 0;
    for (const PlacedDocument& document : result.documents) {
        DOCTEST_CHECK(consecutive(document));
        for (const auto& [begin, end] : document.sentences) {
            DOCTEST_CHECK(spec.include->contains({document.contig, begin, end}));
            DOCTEST_CHECK((end <= 30'000 || begin >= 30'001));
        }
        bases += document.bases();
    }
    DOCTEST_CHECK(bases > 2 * (90'000 - 4 * 1000 - 1000));
    spec.include = genome::IntervalSet(std::vector<genome::Interval>{{"b", 0, 100}});
    DOCTEST_CHECK(
        message_of<InputError>([&] {
            build(*genome, spec);
        }).starts_with("no document is left: 0 documents, 0 sentences, 0 bases; sentences dropped: "));
}

DOCTEST_TEST_CASE("document_builder: the other strand reads the same stretches backwards") {
    const auto genome = real_genome();
    const Result forward = build(*genome, {.documents = {.passes = 1}});
    const Result both = build(*genome, {.documents = {.passes = 1}, .add_reverse_complement = true});
    DOCTEST_REQUIRE(both.documents.size() == 2 * forward.documents.size());
    DOCTEST_CHECK(both.counts.sentences == 2 * forward.counts.sentences);
    DOCTEST_CHECK(both.counts.too_much_n == forward.counts.too_much_n);
    const auto joined = [](const PlacedDocument& document) {
        std::string dna;
        for (const std::string& sentence : document.document().sentences) {
            dna += sentence;
        }
        return dna;
    };
    for (std::size_t i = 0; i < forward.documents.size(); ++i) {
        DOCTEST_CHECK(both.documents[2 * i].text == forward.documents[i].text);
        const PlacedDocument& reverse = both.documents[2 * i + 1];
        DOCTEST_CHECK(reverse.reverse);
        DOCTEST_CHECK(consecutive(reverse));
        DOCTEST_CHECK(joined(reverse) == genome::reverse_complement(joined(forward.documents[i])));
    }
}

DOCTEST_TEST_CASE("document_builder: nothing left is an error that says why") {
    const auto blank = genome::in_memory_genome({{"gap", std::string(3000, 'n')}});
    const std::string message = message_of<InputError>([&] { build(*blank, {.documents = {.passes = 1}}); });
    DOCTEST_CHECK(
        message.starts_with("no document is left: 0 documents, 0 sentences, 0 bases; sentences dropped: "));
    DOCTEST_CHECK(message.ends_with(" with more than 50 % N"));
    DOCTEST_CHECK(message_of<ConfigError>([&] { build(*blank, {.max_n_fraction = 1.5}); }) ==
                  "--max-n-fraction must lie between 0 and 1");
}
