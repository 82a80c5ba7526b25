// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/scoring/variants/variant_scorers.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using tasks::AllelePair;
using tasks::MaskedScorer;
using tasks::Strands;

namespace {

class MaskedFixture {
public:
    MaskedFixture() { write_tiny_pretrained(folder_ / "model", 3); }
    model::PreTrainingModel network() const {
        return model::load_pretraining_model(folder_ / "model", at::kCPU);
    }
    MaskedScorer scorer(Strands strands = Strands::none, std::int64_t batch_tokens = 4096) const {
        return {network(), small_tokenizer(), strands, {.batch_tokens = batch_tokens}};
    }

private:
    TempDir folder_;
};

AllelePair pair_of(std::size_t length, std::uint64_t seed, const std::string& ref, const std::string& alt) {
    const std::string left = random_dna(static_cast<std::int64_t>(length / 2), seed);
    const std::string right = random_dna(static_cast<std::int64_t>(length / 2), seed + 1000);
    return {left + ref + right, left + alt + right};
}

}  // namespace

DOCTEST_TEST_CASE("masked_scorer: the masked tokens spell the alleles between the same bases") {
    const MaskedScorer scorer = MaskedFixture().scorer();
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const AllelePair pair = pair_of(400, seed, "A", seed % 2 == 0 ? "G" : "ACCT");
        const auto queries = scorer.queries_of(pair.ref, pair.alt);
        DOCTEST_REQUIRE(queries.size() == 2);
        const auto spelt = [&](const MaskedScorer::Query& query) {
            std::vector<std::int32_t> ids = query.input.ids;
            for (std::size_t i = 0; i < query.originals.size(); ++i) {
                std::int32_t& id = ids[static_cast<std::size_t>(query.first_masked) + i];
                DOCTEST_CHECK(id == tokenizer::special::mask);
                id = query.originals[i];
            }
            return tokenizer.decode(ids);
        };
        DOCTEST_CHECK(spelt(queries[0]) == pair.ref);
        DOCTEST_CHECK(spelt(queries[1]) == pair.alt);
        const std::string ref = tokenizer.decode(queries[0].originals),
                          alt = tokenizer.decode(queries[1].originals);
        DOCTEST_CHECK(std::ssize(alt) - std::ssize(ref) == std::ssize(pair.alt) - std::ssize(pair.ref));
    }
}

DOCTEST_TEST_CASE("masked_scorer: equals a forward pass of each sequence by hand") {
    const MaskedFixture fixture;
    std::vector<AllelePair> pairs;
    for (std::uint64_t seed = 0; seed < 9; ++seed)
        pairs.push_back(pair_of(100 + 80 * seed, seed, "C", "T"));
    MaskedScorer scorer = fixture.scorer(Strands::none, 600);
    const auto scores = scorer.score(pairs, 2);
    model::PreTrainingModel network = fixture.network();
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        double sums[2] = {0, 0};
        const auto queries = scorer.queries_of(pairs[i].ref, pairs[i].alt);
        for (std::size_t allele = 0; allele < 2; ++allele) {
            const auto& query = queries[allele];
            const std::vector<model::TokenSequence> one{query.input};
            const at::Tensor logits =  // (1, length, vocab)
                network->forward(model::make_input(one, network->config(), at::kCPU)).prediction_logits;
            const at::Tensor log_p = logits[0].to(at::kDouble).log_softmax(1);
            for (std::size_t k = 0; k < query.originals.size(); ++k) {
                sums[allele] += log_p[query.first_masked + static_cast<std::int64_t>(k)][query.originals[k]]
                                    .item<double>();
            }
        }
        DOCTEST_REQUIRE(scores[i].has_value());
        DOCTEST_CHECK(scores[i]->ref == doctest::Approx(sums[0]).epsilon(1e-5));
        DOCTEST_CHECK(scores[i]->alt == doctest::Approx(sums[1]).epsilon(1e-5));
    }
}

DOCTEST_TEST_CASE("masked_scorer: swapped alleles swap the scores, and strands are averaged") {
    const MaskedFixture fixture;
    const AllelePair pair = pair_of(300, 5, "G", "GA"), swapped{pair.alt, pair.ref};
    const AllelePair mirrored{genome::reverse_complement(pair.ref), genome::reverse_complement(pair.alt)};
    const auto one = [&](const AllelePair& alleles, Strands strands) {
        return fixture.scorer(strands).score(std::vector{alleles}, 1)[0].value();
    };
    const auto forward = one(pair, Strands::none), back = one(swapped, Strands::none);
    DOCTEST_CHECK(forward.ref == doctest::Approx(back.alt).epsilon(1e-5));
    DOCTEST_CHECK(forward.alt == doctest::Approx(back.ref).epsilon(1e-5));
    const auto reverse = one(pair, Strands::only), average = one(pair, Strands::average);
    DOCTEST_CHECK(reverse.ref == doctest::Approx(one(mirrored, Strands::none).ref).epsilon(1e-5));
    DOCTEST_CHECK(average.alt == doctest::Approx((forward.alt + reverse.alt) / 2).epsilon(1e-5));
}

DOCTEST_TEST_CASE("masked_scorer: long sequences keep what lies about the alleles") {
    const MaskedFixture fixture;
    const AllelePair pair = pair_of(6000, 1, "A", "T");
    const auto queries = fixture.scorer().queries_of(pair.ref, pair.alt);
    DOCTEST_REQUIRE(queries.size() == 2);
    DOCTEST_CHECK(queries[0].input.ids.size() <= 512);
    DOCTEST_CHECK(queries[0].input.ids.size() > 480);
    DOCTEST_CHECK(queries[0].first_masked > 200);
    DOCTEST_CHECK(fixture.scorer().queries_of(pair.ref, pair.ref).empty());
    DOCTEST_CHECK(fixture.scorer().queries_of("NNNN", "NNAN").empty());
}

DOCTEST_TEST_CASE("masked_scorer: a pair's scores do not depend on what else is scored") {
    const MaskedFixture fixture;
    std::vector<AllelePair> pairs;
    for (std::uint64_t seed = 0; seed < 12; ++seed)
        pairs.push_back(pair_of(300, seed, "C", seed % 3 == 0 ? "T" : std::string(seed + 1, 'G')));
    MaskedScorer scorer = fixture.scorer();
    const auto together = scorer.score(pairs, 1);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto alone = scorer.score(std::vector{pairs[i]}, 1)[0];
        DOCTEST_CHECK(alone->ref == together[i]->ref);
        DOCTEST_CHECK(alone->alt == together[i]->alt);
    }
}
