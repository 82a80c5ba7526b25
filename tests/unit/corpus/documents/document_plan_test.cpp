// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_plan.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <set>

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::message_of;

namespace {

std::vector<std::pair<std::int64_t, std::int64_t>> all_sentences(const std::vector<DocumentPlan>& documents) {
    std::vector<std::pair<std::int64_t, std::int64_t>> sentences;
    for (const DocumentPlan& document : documents) {
        sentences.insert(sentences.end(), document.sentences.begin(), document.sentences.end());
    }
    return sentences;
}

}  // namespace

DOCTEST_TEST_CASE("document_plan: the paper's lengths, consecutive to the contig's end") {
    const DocumentSpec spec{.seed = 3};
    const genome::Contig contig{"22", 22'000'000};
    for (const int pass : {0, 9}) {
        const auto documents = plan_documents(contig, spec, pass);
        DOCTEST_REQUIRE(documents.size() > 200);
        for (std::size_t d = 0; d + 1 < documents.size(); ++d) {
            DOCTEST_CHECK(documents[d].sentences.size() >= 50);
            DOCTEST_CHECK(documents[d].sentences.size() <= 100);
        }
        const auto sentences = all_sentences(documents);
        DOCTEST_CHECK(sentences.front().first >= 0);
        DOCTEST_CHECK(sentences.front().first <= 5000);
        DOCTEST_CHECK(sentences.back().second == 22'000'000);
        std::int64_t shortest = 1000, longest = 500;
        for (std::size_t s = 0; s + 1 < sentences.size(); ++s) {
            DOCTEST_REQUIRE(sentences[s].second == sentences[s + 1].first);
            shortest = std::min(shortest, sentences[s].second - sentences[s].first);
            longest = std::max(longest, sentences[s].second - sentences[s].first);
        }
        DOCTEST_CHECK(shortest == 500);  // of 29,000 draws from 501 lengths, both ends occur
        DOCTEST_CHECK(longest == 1000);
        DOCTEST_CHECK(sentences.back().second - sentences.back().first <= 1000);
    }
}

DOCTEST_TEST_CASE("document_plan: starts and lengths are uniform, and differ by pass, contig and seed") {
    const DocumentSpec spec{.passes = 1000};
    std::int64_t sum = 0, largest = 0, documents = 0, sentences = 0;
    std::set<std::int64_t> starts;
    for (int pass = 0; pass < spec.passes; ++pass) {
        const auto plan = plan_documents({"1", 200'000}, spec, pass);
        const std::int64_t start = plan.front().sentences.front().first;
        starts.insert(start);
        sum += start;
        largest = std::max(largest, start);
        documents += static_cast<std::int64_t>(plan.size()) - 1;
        for (std::size_t d = 0; d + 1 < plan.size(); ++d) {
            sentences += static_cast<std::int64_t>(plan[d].sentences.size());
        }
    }
    DOCTEST_CHECK(static_cast<double>(sum) / spec.passes ==
                  doctest::Approx(2500).epsilon(0.06));  // 3 standard errors
    DOCTEST_CHECK(largest > 4950);
    DOCTEST_CHECK(starts.size() > 880);
    DOCTEST_CHECK(static_cast<double>(sentences) / static_cast<double>(documents) ==
                  doctest::Approx(74).epsilon(0.03));
    const auto first = plan_documents({"1", 200'000}, spec, 0);
    DOCTEST_CHECK(all_sentences(first) == all_sentences(plan_documents({"1", 200'000}, spec, 0)));
    DOCTEST_CHECK(all_sentences(first) != all_sentences(plan_documents({"1", 200'000}, spec, 1)));
    DOCTEST_CHECK(all_sentences(first) != all_sentences(plan_documents({"2", 200'000}, spec, 0)));
    DOCTEST_CHECK(all_sentences(first) != all_sentences(plan_documents({"1", 200'000}, {.seed = 1}, 0)));
}

DOCTEST_TEST_CASE("document_plan: the values that files of this version rest on") {
    using Stretch = std::pair<std::int64_t, std::int64_t>;
    const auto documents = plan_documents({"22", 120'000}, {.seed = 1}, 0);
    DOCTEST_REQUIRE(documents.size() == 2);
    DOCTEST_CHECK(documents[0].sentences.size() == 64);
    DOCTEST_CHECK(documents[0].sentences.front() == Stretch{2843, 3657});
    DOCTEST_CHECK(documents[1].sentences.size() == 90);
    DOCTEST_CHECK(documents[1].sentences.front() == Stretch{52'284, 52'855});
    DOCTEST_CHECK(documents[1].sentences.back() == Stretch{119'739, 120'000});
}

DOCTEST_TEST_CASE("document_plan: contigs shorter than the start offset still give a document") {
    for (int pass = 0; pass < 50; ++pass) {
        const auto small = plan_documents({"scaffold", 1200}, {}, pass);
        DOCTEST_REQUIRE(small.size() == 1);
        DOCTEST_CHECK(small[0].sentences.front().first <= 700);
        DOCTEST_CHECK(small[0].sentences.back().second == 1200);
        const auto tiny = plan_documents({"scaffold", 3}, {.start_offset = {100, 200}}, pass);
        DOCTEST_REQUIRE(tiny.size() == 1);
        DOCTEST_CHECK(tiny[0].sentences == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 3}});
    }
    DOCTEST_CHECK(plan_documents({"empty", 0}, {}, 0).empty());
}

DOCTEST_TEST_CASE("document_plan: ranges that cannot be are refused by their option's name") {
    const auto message = [](const DocumentSpec& spec) {
        return message_of<ConfigError>([&] { spec.validate(); });
    };
    DOCTEST_CHECK(message({.passes = 0}) == "--passes must be at least 1");
    DOCTEST_CHECK(message({.sentences = {0, 5}}) == "--sentences must begin at 1 or more, not at 0");
    DOCTEST_CHECK(message({.sentence_length = {900, 500}}) ==
                  "--sentence-length 900:500 ends before it begins");
    DOCTEST_CHECK(message({.start_offset = {-1, 500}}) ==
                  "--start-offset must begin at 0 or more, not at -1");
}
