// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/example_stream.hpp"

#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <vector>

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::testing;

namespace special = bigbird::tokenizer::special;

namespace {

using Ids = std::vector<std::int32_t>;

// 100 kb of real sequence in sentences of 700 bases, `sentences` to a document.
TokenCorpus real_corpus(std::size_t sentences = 20, const std::string& prefix = "") {
    std::vector<Document> documents;
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    for (std::string line; std::getline(lines, line);) {
        if (documents.empty() || documents.back().sentences.size() == sentences) documents.emplace_back();
        documents.back().sentences.push_back(prefix + line);
    }
    std::size_t next = 0;
    const auto stream = [&]() -> std::optional<Document> {
        return next < documents.size() ? std::optional(documents[next++]) : std::nullopt;
    };
    return TokenCorpus::from_documents(stream, small_tokenizer(), 1);
}

Ids all_ids(const TokenCorpus& corpus) {
    Ids ids;
    corpus.append_ids(0, corpus.tokens(), ids);
    return ids;
}

struct Unmasked {
    Ids a, b;
};

Unmasked original(const Example& example) {
    Ids ids = example.ids;
    for (std::size_t i = 0; i < example.masked_positions.size(); ++i)
        ids[static_cast<std::size_t>(example.masked_positions[i])] = example.masked_labels[i];
    DOCTEST_REQUIRE(ids.front() == special::cls);
    DOCTEST_REQUIRE(ids.back() == special::sep);
    const auto middle = std::find(ids.begin(), ids.end(), special::sep);
    Unmasked parts{Ids(ids.begin() + 1, middle), {}};
    if (middle + 1 != ids.end()) parts.b.assign(middle + 1, ids.end() - 1);
    return parts;
}

// Where the run stands in the corpus, or -1.
std::int64_t find(const Ids& all, const Ids& run) {
    const auto at = std::search(all.begin(), all.end(), run.begin(), run.end());
    return at == all.end() ? -1 : at - all.begin();
}

std::int64_t document_of(const TokenCorpus& corpus, std::int64_t token) {
    const auto sentences = corpus.sentence_ends(), documents = corpus.document_ends();
    const auto sentence = std::upper_bound(sentences.begin(), sentences.end(), token) - sentences.begin();
    return std::upper_bound(documents.begin(), documents.end(), sentence) - documents.begin();
}

}  // namespace

DOCTEST_TEST_CASE("example_stream: B truly follows A, or comes from another document, half and half") {
    const TokenCorpus corpus = real_corpus();
    const Ids all = all_ids(corpus);
    const ExampleSource source(corpus, small_tokenizer(), {.sequence_length = 512, .seed = 4});
    DOCTEST_CHECK(source.padding_share() == 0);
    const auto sentence_ends = corpus.sentence_ends();
    std::int64_t follows = 0;
    for (std::int64_t i = 0; i < source.epoch_size(); ++i) {
        const Example example = source.get(i);
        DOCTEST_CHECK(example.ids.size() == 512);
        const Unmasked parts = original(example);
        DOCTEST_CHECK(parts.a.size() + parts.b.size() == 509);
        DOCTEST_CHECK(std::count(example.types.begin(), example.types.end(), 0) ==
                      static_cast<std::ptrdiff_t>(parts.a.size()) + 2);
        DOCTEST_CHECK(std::is_sorted(example.types.begin(), example.types.end()));
        DOCTEST_CHECK(example.types.size() == example.ids.size());
        const std::int64_t a = find(all, parts.a), b = find(all, parts.b);
        DOCTEST_REQUIRE(a >= 0);
        DOCTEST_REQUIRE(b >= 0);
        const std::int64_t end_of_a = a + static_cast<std::int64_t>(parts.a.size());
        DOCTEST_CHECK(std::binary_search(sentence_ends.begin(), sentence_ends.end(), end_of_a));
        if (example.next_sentence == 0) {
            ++follows;
            DOCTEST_CHECK(b == end_of_a);
            DOCTEST_CHECK(document_of(corpus, a) == document_of(corpus, b));
        } else {
            DOCTEST_CHECK(example.next_sentence == 1);
            DOCTEST_CHECK(document_of(corpus, a) != document_of(corpus, b));
            DOCTEST_CHECK((b == 0 || std::binary_search(sentence_ends.begin(), sentence_ends.end(), b)));
        }
        DOCTEST_CHECK(document_of(corpus, b) ==
                      document_of(corpus, b + static_cast<std::int64_t>(parts.b.size()) - 1));
    }
    DOCTEST_CHECK(2 * follows == source.epoch_size());
}

DOCTEST_TEST_CASE("example_stream: an epoch covers the corpus, each in another order and other windows") {
    const TokenCorpus corpus = real_corpus();
    const Ids all = all_ids(corpus);
    for (const bool nsp : {true, false}) {
        const ExampleSource source(corpus, small_tokenizer(),
                                   {.sequence_length = 256, .nsp = nsp, .seed = 1});
        std::vector<std::vector<Ids>> epochs(2);
        for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
            std::vector<bool> covered(all.size());
            for (std::int64_t i = 0; i < source.epoch_size(); ++i) {
                const Example example = source.get(epoch * source.epoch_size() + i);
                const Unmasked parts = original(example);
                Ids run = parts.a;
                if (example.next_sentence == 0) run.insert(run.end(), parts.b.begin(), parts.b.end());
                epochs[static_cast<std::size_t>(epoch)].push_back(run);
                if (example.next_sentence <= 0) {
                    const std::int64_t at = find(all, run);
                    DOCTEST_REQUIRE(at >= 0);
                    std::fill_n(covered.begin() + at, run.size(), true);
                }
            }
            DOCTEST_CHECK(std::count(covered.begin(), covered.end(), false) == 0);
        }
        std::int64_t same = 0;
        for (std::size_t i = 0; i < epochs[0].size(); ++i)
            same += epochs[0][i] == epochs[1][i] ? 1 : 0;
        DOCTEST_CHECK(same <= 2);
        const std::set<Ids> first(epochs[0].begin(), epochs[0].end());
        const auto known = std::count_if(epochs[1].begin(), epochs[1].end(),
                                         [&](const Ids& run) { return first.contains(run); });
        DOCTEST_CHECK(known < static_cast<std::ptrdiff_t>(epochs[1].size() / 2));
    }
}

DOCTEST_TEST_CASE(
    "example_stream: 15 % of tokens are chosen, 80 % masked, 10 % random, 10 % kept, never N or a "
    "special piece") {
    const TokenCorpus corpus = real_corpus(20, "ANNNG");
    const auto tokenizer = small_tokenizer();
    const ExampleSource source(corpus, tokenizer, {.sequence_length = 512, .seed = 9});
    const Ids all = all_ids(corpus);
    std::int64_t candidates = 0, chosen = 0, masked = 0, kept = 0;
    std::set<std::int32_t> replacements;
    for (std::int64_t i = 0; i < 3 * source.epoch_size(); ++i) {
        const Example example = source.get(i);
        DOCTEST_REQUIRE(example.masked_positions.size() == example.masked_labels.size());
        DOCTEST_CHECK(std::is_sorted(example.masked_positions.begin(), example.masked_positions.end(),
                                     std::less_equal<>()));
        std::int64_t plain = 0;
        const Unmasked parts = original(example);
        for (const Ids* part : {&parts.a, &parts.b}) {
            plain += std::count_if(
                part->begin(), part->end(), [&](std::int32_t id) { return !tokenizer.has_n(id); });
        }
        DOCTEST_CHECK(static_cast<double>(example.masked_positions.size()) ==
                      doctest::Approx(0.15 * static_cast<double>(plain)).epsilon(0.01));
        candidates += plain;
        for (std::size_t m = 0; m < example.masked_positions.size(); ++m) {
            const std::int32_t now = example.ids[static_cast<std::size_t>(example.masked_positions[m])],
                               was = example.masked_labels[m];
            DOCTEST_CHECK(was >= special::count);
            DOCTEST_CHECK(all[static_cast<std::size_t>(example.masked_tokens.at(m))] == was);
            DOCTEST_CHECK_FALSE(tokenizer.has_n(was));
            masked += now == special::mask ? 1 : 0;
            kept += now == was ? 1 : 0;
            if (now != special::mask && now != was) {
                replacements.insert(now);
                DOCTEST_CHECK(now >= special::count);
                DOCTEST_CHECK_FALSE(tokenizer.has_n(now));
            }
        }
        chosen += static_cast<std::int64_t>(example.masked_positions.size());
        DOCTEST_CHECK(std::count(example.ids.begin(), example.ids.end(), special::mask) <=
                      static_cast<std::ptrdiff_t>(example.masked_positions.size()));
    }
    DOCTEST_REQUIRE(chosen > 20'000);
    const auto share = [&](std::int64_t count) {
        return static_cast<double>(count) / static_cast<double>(chosen);
    };
    DOCTEST_CHECK(static_cast<double>(chosen) / static_cast<double>(candidates) ==
                  doctest::Approx(0.15).epsilon(0.002));
    DOCTEST_CHECK(share(masked) == doctest::Approx(0.8).epsilon(0.012));  // about 4 standard errors
    DOCTEST_CHECK(share(kept) == doctest::Approx(0.1).epsilon(0.09));
    DOCTEST_CHECK(replacements.size() > 480);  // of 506 pieces
}

DOCTEST_TEST_CASE("example_stream: a function of seed and index alone") {
    const TokenCorpus corpus = real_corpus();
    const ExampleSpec spec{.sequence_length = 128, .seed = 2};
    const ExampleSource source(corpus, small_tokenizer(), spec),
        again(real_corpus(), small_tokenizer(), spec);
    const ExampleSource other(corpus, small_tokenizer(), {.sequence_length = 128, .seed = 3});
    std::vector<Example> backwards(200);
    parallel_for(200, 4,
                 [&](std::int64_t i) { backwards[static_cast<std::size_t>(199 - i)] = again.get(199 - i); });
    std::int64_t same_as_other = 0;
    for (std::int64_t i = 0; i < 200; ++i) {
        const Example example = source.get(i), &second = backwards[static_cast<std::size_t>(i)];
        DOCTEST_CHECK(example.ids == second.ids);
        DOCTEST_CHECK(example.types == second.types);
        DOCTEST_CHECK(example.masked_positions == second.masked_positions);
        DOCTEST_CHECK(example.masked_labels == second.masked_labels);
        DOCTEST_CHECK(example.next_sentence == second.next_sentence);
        same_as_other += example.ids == other.get(i).ids ? 1 : 0;
    }
    DOCTEST_CHECK(same_as_other == 0);
}

DOCTEST_TEST_CASE("example_stream: windows shorter than a sentence, documents shorter than a window") {
    const TokenCorpus corpus = real_corpus(2);  // about 320 tokens a document, 160 a sentence
    const Ids all = all_ids(corpus);
    const ExampleSource narrow(corpus, small_tokenizer(), {.sequence_length = 32, .seed = 1});
    for (std::int64_t i = 0; i < 500; ++i) {
        const Example example = narrow.get(i);
        DOCTEST_CHECK(example.ids.size() == 32);
        const Unmasked parts = original(example);
        DOCTEST_CHECK_FALSE(parts.a.empty());
        DOCTEST_CHECK_FALSE(parts.b.empty());
        Ids both = parts.a;
        both.insert(both.end(), parts.b.begin(), parts.b.end());
        DOCTEST_CHECK((find(all, both) >= 0) == (example.next_sentence == 0));
    }
    const ExampleSource wide(corpus, small_tokenizer(), {.sequence_length = 512, .seed = 1});
    DOCTEST_CHECK(wide.padding_share() == 0);
    std::vector<bool> covered(all.size());
    for (std::int64_t i = 0; i < wide.epoch_size(); ++i) {
        const Example example = wide.get(i);
        DOCTEST_CHECK(example.ids.size() == 512);  // so the length does not give the label away
        const Unmasked parts = original(example);
        Ids both = parts.a;
        both.insert(both.end(), parts.b.begin(), parts.b.end());
        const std::int64_t at = find(all, both);
        DOCTEST_CHECK((at >= 0) == (example.next_sentence == 0));
        if (at >= 0) std::fill_n(covered.begin() + at, both.size(), true);
    }
    DOCTEST_CHECK(std::count(covered.begin(), covered.end(), false) == 0);
}

DOCTEST_TEST_CASE("example_stream: a corpus of less than two windows is padded rather than joined") {
    const TokenCorpus corpus = real_corpus(72);  // two documents of about 11,500 tokens
    DOCTEST_REQUIRE(corpus.documents() == 2);
    const ExampleSource source(corpus, small_tokenizer(), {.sequence_length = 16'384, .seed = 1});
    DOCTEST_CHECK(source.epoch_size() == 4);
    double tokens = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
        const Example example = source.get(i);
        tokens += example.next_sentence == 0 ? static_cast<double>(example.ids.size()) : 0;
        DOCTEST_CHECK(example.ids.size() < 16'384);
    }
    DOCTEST_CHECK(source.padding_share() == doctest::Approx(1 - tokens / (2 * 16'384.0)));
}

DOCTEST_TEST_CASE("example_stream: evaluation masks every chosen token, without NSP there is one segment") {
    const ExampleSource source(real_corpus(), small_tokenizer(),
                               {.sequence_length = 64, .nsp = false, .masking = {0.5, 1, 0}});
    for (std::int64_t i = 0; i < 100; ++i) {
        const Example example = source.get(i);
        DOCTEST_CHECK(example.next_sentence == -1);
        DOCTEST_CHECK(example.masked_positions.size() == 31);
        DOCTEST_CHECK(std::count(example.ids.begin(), example.ids.end(), special::mask) == 31);
        DOCTEST_CHECK(std::count(example.ids.begin(), example.ids.end(), special::sep) == 1);
        DOCTEST_CHECK(std::count(example.types.begin(), example.types.end(), 0) == 64);
    }
}

DOCTEST_TEST_CASE("example_stream: what cannot be trained on is refused") {
    const auto tokenizer = small_tokenizer();
    const TokenCorpus empty =
        TokenCorpus::from_documents([] { return std::optional<Document>(); }, tokenizer, 1);
    DOCTEST_CHECK(message_of<InputError>([&] { ExampleSource(empty, tokenizer, {}); }) ==
                  "the corpus holds no document of two tokens or more");
    const TokenCorpus one = real_corpus(1000);
    DOCTEST_CHECK(message_of<InputError>([&] {
                      ExampleSource(one, tokenizer, {});
                  }).starts_with("next-sentence prediction needs two documents"));
    DOCTEST_CHECK(ExampleSource(one, tokenizer, {.nsp = false}).epoch_size() > 10);
    DOCTEST_CHECK_THROWS_AS(ExampleSource(one, tokenizer, {.sequence_length = 4}), ConfigError);
    DOCTEST_CHECK_THROWS_AS(ExampleSource(one, tokenizer, {.masking = {0.15, 0.8, 0.3}}), ConfigError);
}

DOCTEST_TEST_CASE("permutation: every entry once, for any size") {
    for (const std::int64_t size : {1, 2, 3, 4, 5, 16, 17, 1000, 4097}) {
        const Permutation permutation(size, 7);
        std::set<std::int64_t> seen;
        for (std::int64_t i = 0; i < size; ++i)
            seen.insert(permutation(i));
        DOCTEST_CHECK(static_cast<std::int64_t>(seen.size()) == size);
        DOCTEST_CHECK(*seen.begin() == 0);
        DOCTEST_CHECK(*seen.rbegin() == size - 1);
    }
}

DOCTEST_TEST_CASE("permutation: keys differ, and entries land far from where they stood") {
    const std::int64_t size = 10'000;
    const Permutation one(size, 1), other(size, 2);
    std::int64_t same = 0, distance = 0, rising = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        same += one(i) == other(i) ? 1 : 0;
        distance += std::abs(one(i) - i);
        rising += i > 0 && one(i) > one(i - 1) ? 1 : 0;
    }
    DOCTEST_CHECK(same < 10);
    DOCTEST_CHECK(static_cast<double>(distance) / static_cast<double>(size) ==
                  doctest::Approx(size / 3.0).epsilon(0.05));
    DOCTEST_CHECK(static_cast<double>(rising) / static_cast<double>(size) ==
                  doctest::Approx(0.5).epsilon(0.05));
}
