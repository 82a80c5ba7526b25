// SPDX-License-Identifier: Apache-2.0
// What finetune-*, predict-*, predict-variants and embed may be asked for.
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <functional>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

const std::string accepted;

/// A change of a spec, and the beginning of what it is refused with then.
template <typename Spec>
struct Case {
    std::function<void(Spec&)> change;
    std::string wanted;
};

template <typename Spec>
void check(const Spec& base, const std::vector<Case<Spec>>& cases) {
    for (const Case<Spec>& one : cases) {
        Spec spec = base;
        one.change(spec);
        std::string found = accepted;
        try {
            spec.validate();
        } catch (const ConfigError& error) {
            found = error.what();
        }
        DOCTEST_CAPTURE(found);
        DOCTEST_CHECK(found.substr(0, one.wanted.size()) == one.wanted);
        DOCTEST_CHECK(found.empty() == one.wanted.empty());
    }
}

const auto as_it_is = [](auto&) {};

FinetuneSpec finetuning(const std::string& architecture, const std::string& pretrained = "",
                        const std::string& head = "classification") {
    FinetuneSpec spec;
    spec.architecture = architecture;
    spec.pretrained = pretrained;
    spec.head = head;
    return spec;
}

void promoters(FinetuneSpec& spec) {
    spec.task = examples::Task::promoter;
}

}  // namespace

DOCTEST_TEST_CASE("specs: bigbird starts from a model, baselines from nothing") {
    const std::string needed =
        "--model is needed: the pretrained model to start from. Without one, give --architecture: ";
    check<FinetuneSpec>(finetuning("bigbird"),
                        {{as_it_is, needed + "bigbird-bins, deepsea, gkm-svm, kmer-ridge"},
                         {promoters, needed + "cnnprom, deepromoter, gkm-svm, kmer-ridge"},
                         {[](auto& spec) { spec.pretrained = "model"; }, accepted}});
    check<FinetuneSpec>(
        finetuning("deepsea"),
        {{as_it_is, accepted},
         {[](auto& spec) { spec.pretrained = "model"; },
          "--model is for --architecture bigbird and bigbird-bins: deepsea starts from nothing"},
         {[](auto& spec) { spec.random_weights = true; },
          "--random-weights is for --architecture bigbird: deepsea starts from nothing"}});
    check<FinetuneSpec>(finetuning("resnet", "model"), {{as_it_is, "--architecture 'resnet' is not known;"}});
}

DOCTEST_TEST_CASE("specs: models of bins are of chromatin only, without what means nothing there") {
    check<FinetuneSpec>(finetuning("bigbird-bins"),
                        {{as_it_is, accepted},
                         {promoters, "--architecture bigbird-bins scores bins: use finetune-chromatin"},
                         {[](auto& spec) { spec.pretrained = "model"; }, accepted},
                         {[](auto& spec) {
                              spec.window = rows::WindowBounds{-10, 10};
                          },
                          "--window is not of"}});
    check<FinetuneSpec>(finetuning("bigbird", "model", "bins"),
                        {{as_it_is, accepted},
                         {promoters, "--head bins scores bins: use finetune-chromatin"},
                         {[](auto& spec) { spec.pretrained.clear(); }, "--model is needed"},
                         {[](auto& spec) { spec.pooling = "mean"; }, "--pooling is not of --head bins"}});
}

DOCTEST_TEST_CASE("specs: which architectures are solved rather than trained") {
    for (const auto& [name, linear] : {std::pair{"bigbird", false}, std::pair{"bigbird-bins", false},
                                       std::pair{"cnnprom", false}, std::pair{"kmer-ridge", true}}) {
        FinetuneSpec spec;
        spec.architecture = name;
        DOCTEST_CHECK(spec.row().is_solved() == linear);
    }
}

DOCTEST_TEST_CASE("specs: steps are given, or those of the epochs") {
    FinetuneSpec spec;
    spec.epochs = 1.5;
    DOCTEST_CHECK(spec.rate_over(100, 16).total_steps == 10);  // 9.4
    DOCTEST_CHECK(spec.rate_over(100, 16).warmup_steps == 1);
    DOCTEST_CHECK(spec.rate_over(0, 16).total_steps == 1);
    spec.fewest_steps = 11;
    DOCTEST_CHECK(spec.rate_over(100, 16).total_steps == 11);
    DOCTEST_CHECK(spec.rate_over(1000, 16).total_steps == 94);
    spec.learning_rate.total_steps = 30;
    DOCTEST_CHECK(spec.rate_over(100, 16).total_steps == 30);
    spec.learning_rate.warmup_steps = 0;
    DOCTEST_CHECK(spec.rate_over(100, 16).warmup_steps == 0);
}

DOCTEST_TEST_CASE("specs: a window is what fits") {
    TokensSpec spec;
    DOCTEST_CHECK(spec.window_bases(900) == 900);
    spec.window = 400;
    DOCTEST_CHECK(spec.window_bases(900) == 400);
    DOCTEST_CHECK(message_of<ConfigError>([&] { spec.window_bases(399); }) ==
                  "--window 400: the model's positions hold the tokens of 399 bases");
}

DOCTEST_TEST_CASE("specs: what does not go together in finetune-tokens is refused") {
    FinetuneSpec spec = token_model_spec();
    check<FinetuneSpec>(spec, {{as_it_is, "--model is needed: the pretrained model to start from"}});
    spec.pretrained = "model";
    check<FinetuneSpec>(spec, {{as_it_is, accepted}});
}

DOCTEST_TEST_CASE("specs: the learning rate follows the network's width, or is what was given") {
    FinetuneSpec spec = token_model_spec();
    DOCTEST_CHECK(spec.peak_of(128) == doctest::Approx(1e-3));
    DOCTEST_CHECK(spec.peak_of(32) == doctest::Approx(1e-3));
    DOCTEST_CHECK(spec.peak_of(768) == doctest::Approx(1e-3 / 36));
    spec.lora.rank = 8;
    DOCTEST_CHECK(spec.peak_of(128) == doctest::Approx(1e-3));
    DOCTEST_CHECK(spec.peak_of(768) == doctest::Approx(5e-4));
    spec.learning_rate.peak = 5e-5;
    DOCTEST_CHECK(spec.peak_of(128) == 5e-5);
}

DOCTEST_TEST_CASE("specs: rows come from somewhere, tiles are pooled, and whole rows have a summit") {
    check<PredictSpec>({}, {{as_it_is, "--regions with --reference, --sequences or --examples is needed"},
                            {[](auto& spec) { spec.examples = "folder"; }, accepted},
                            {[](auto& spec) { spec.task = examples::Task::tokens; },
                             "--regions with --reference is needed"}});
    check<EmbedSpec>({}, {{as_it_is, "--regions with --reference, or --sequences, is needed"},
                          {[](auto& spec) { spec.sequences = "s.fa"; }, accepted},
                          {[](auto& spec) { spec.regions = "rows.bed"; }, accepted}});
    DOCTEST_CHECK_FALSE(EmbedSpec().outputs.tracks);
    PredictSpec spec;
    spec.regions = "rows.bed";
    check<PredictSpec>(
        spec, {{as_it_is, accepted},
               {[](auto& other) { other.pool = Pool::none; }, "--pool none needs tiles: give --tile"}});
    spec.pool = Pool::mean;
    check<PredictSpec>(spec, {{as_it_is, accepted},
                              {[](auto& other) { other.task = examples::Task::promoter; },
                               "--pool mean needs tiles: give --tile"}});
    spec.tile = 200;
    check<PredictSpec>(spec, {{as_it_is, accepted},
                              {[](auto& other) { other.anchor = rows::Anchor::summit; },
                               "--anchor summit is of whole rows, --tile cuts them: leave one of them out"}});
}

DOCTEST_TEST_CASE("specs: every value of an option has its word") {
    DOCTEST_CHECK(word_of(embed_pooling_choices, EmbedPooling::token) == "token");
    DOCTEST_CHECK(word_of(pool_choices, std::optional(Pool::max)) == "max");
    DOCTEST_CHECK(parse_choice(strand_choices, "--reverse-complement", "only") == Strands::only);
    DOCTEST_CHECK(parse_choice(anchor_choices, "--anchor", "summit") == rows::Anchor::summit);
    DOCTEST_CHECK(parse_choice(split_choices, "--split", "test") == examples::Split::test);
    DOCTEST_CHECK(parse_choice(split_choices, "--split", "all") == std::nullopt);
    for (const auto& [split, word] : split_choices)
        if (split) DOCTEST_CHECK(word == to_string(*split));
}

DOCTEST_TEST_CASE("specs: quantities are named, in the order asked for, each once") {
    const std::vector wanted{Quantity::log_odds, Quantity::ref};
    DOCTEST_CHECK((parse_quantities("log-odds,ref,log-odds", {}) == wanted));
    DOCTEST_CHECK((parse_quantities("log_odds,ref", {}) == wanted));
    const auto names = [](const EffectKinds& kinds) {
        std::string all;
        for (const Quantity quantity : parse_quantities("", kinds))
            all += std::string(to_string(quantity)) + " ";
        return all;
    };
    DOCTEST_CHECK(names({}) == "ref alt difference log_odds ");
    DOCTEST_CHECK(names({.ranked = true}) == "ref alt difference log_odds quantile p ");
    DOCTEST_CHECK(names({.profiles = true}) == "ref alt difference log_odds log2_fold_change jsd ");
    DOCTEST_CHECK(
        names({true, true, true}) ==
        "ref alt difference log_odds log2_fold_change jsd quantile p jsd_p active_allele_quantile ");
    const auto refusal = [](const std::string& words, const EffectKinds& kinds) {
        return message_of<ConfigError>([&] { parse_quantities(words, kinds); });
    };
    DOCTEST_CHECK(refusal("ref,p", {}).starts_with("--write p needs a background of effects"));
    DOCTEST_CHECK(refusal("jsd", {.ranked = true}) ==
                  "--write jsd is for models that give profiles: leave it out");
    DOCTEST_CHECK(
        refusal("log2-fold-change", {}).starts_with("--write log2-fold-change is for models that give"));
    DOCTEST_CHECK(
        refusal("active-allele-quantile", {.ranked = true, .profiles = true}) ==
        "--write active-allele-quantile needs a background with peaks: make one with build-background "
        "--regions and give it as --background");
    DOCTEST_CHECK(to_string(Quantity::log_odds) == "log_odds");
}

DOCTEST_TEST_CASE("specs: other quantities are refused") {
    VariantSpec spec;
    DOCTEST_CHECK_NOTHROW(spec.validate());
    const auto refusal = [&] { return testing::message_of<ConfigError>([&] { spec.validate(); }); };
    spec.bins = 4;
    DOCTEST_CHECK(refusal().starts_with("--scorer: the number of bins must be odd"));
    spec.bins = 5;
    DOCTEST_CHECK(refusal().starts_with("--scorer centre is the variant's own bin"));
    spec.scorer = tasks::BinScorer::sum;
    DOCTEST_CHECK_NOTHROW(spec.validate());
    spec.bins = 1;
    DOCTEST_CHECK(refusal() == "--scorer sum needs a number of bins, such as sum:5");
    spec = {};
    spec.quantities = "ref,beta";
    DOCTEST_CHECK(
        testing::message_of<ConfigError>([&] { spec.validate(); }) ==
        "--write takes ref, alt, difference, log_odds, quantile and p, of models that give profiles also "
        "log2_fold_change, jsd, jsd_p and active_allele_quantile, separated by commas, not 'beta'");
}

DOCTEST_TEST_CASE("specs: strands have the words that predict-* has, or none") {
    for (const auto& [strands, word] : strand_choices)
        DOCTEST_CHECK(parse_choice(variant_strand_choices, "--reverse-complement", word) == strands);
    DOCTEST_CHECK(word_of(variant_strand_choices, std::optional<Strands>()).empty());
}
