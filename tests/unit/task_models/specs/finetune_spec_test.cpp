// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <functional>

using namespace bigbird;
using namespace bigbird::task_models;

namespace {

const std::string accepted;

std::string refusal(const std::string& architecture, const std::function<void(FinetuneSpec&)>& change) {
    FinetuneSpec spec;
    spec.architecture = architecture;
    change(spec);
    try {
        spec.validate();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return accepted;
}
void nothing(FinetuneSpec&) {}
void with_model(FinetuneSpec& spec) {
    spec.pretrained = "model";
}

}  // namespace

DOCTEST_TEST_CASE("finetune_spec: bigbird starts from a model, baselines from nothing") {
    DOCTEST_CHECK(
        refusal("bigbird", nothing) ==
        "--model is needed: the pretrained model to start from (--architecture bigbird); --architecture "
        "bigbird-bins needs none");
    DOCTEST_CHECK(refusal("bigbird", with_model) == accepted);
    DOCTEST_CHECK(refusal("deepsea", nothing) == accepted);
    DOCTEST_CHECK(refusal("deepsea", with_model) ==
                  "--model is for --architecture bigbird: deepsea starts from nothing");
    DOCTEST_CHECK(refusal("resnet", with_model).starts_with("--architecture 'resnet' is not known;"));
}

DOCTEST_TEST_CASE("finetune_spec: bins of chromatin alone, without what means nothing there") {
    DOCTEST_CHECK(refusal("bigbird-bins", nothing) == accepted);
    DOCTEST_CHECK(refusal("bigbird-bins", [](FinetuneSpec& spec) { spec.task = examples::Task::promoter; }) ==
                  "--architecture bigbird-bins scores bins: use finetune-chromatin");
    DOCTEST_CHECK(refusal("bigbird-bins", with_model) ==
                  "--model is not of --architecture bigbird-bins: it starts from nothing");
    DOCTEST_CHECK(refusal("bigbird-bins", [](FinetuneSpec& spec) {
                      spec.window = rows::WindowBounds{-10, 10};
                  }).starts_with("--window is not of"));
    DOCTEST_CHECK(refusal("bigbird-bins", [](FinetuneSpec& spec) {
                      spec.sampling = Sampling::balanced;
                  }).starts_with("--sampling is not of"));
    DOCTEST_CHECK(refusal("bigbird-bins", [](FinetuneSpec& spec) { spec.bins.averaging = 1; }) ==
                  "--average-weights must be at least 0 and below 1");
}

DOCTEST_TEST_CASE("finetune_spec: a head of bins starts from a model, without what means nothing there") {
    const auto with_bins = [](const std::function<void(FinetuneSpec&)>& spoil) {
        return refusal("bigbird", [&](FinetuneSpec& spec) {
            spec.head = "bins";
            spec.pretrained = "model";
            spoil(spec);
        });
    };
    DOCTEST_CHECK(with_bins(nothing) == accepted);
    DOCTEST_CHECK(
        with_bins([](FinetuneSpec& spec) { spec.pretrained.clear(); }).starts_with("--model is needed"));
    DOCTEST_CHECK(with_bins([](FinetuneSpec& spec) { spec.task = examples::Task::promoter; }) ==
                  "--head bins scores bins: use finetune-chromatin");
    DOCTEST_CHECK(with_bins([](FinetuneSpec& spec) {
                      spec.pooling = "mean";
                  }).starts_with("--pooling is not of --head bins"));
    DOCTEST_CHECK(refusal("deepsea", [](FinetuneSpec& spec) { spec.random_weights = true; }) ==
                  "--random-weights is for --architecture bigbird: deepsea starts from nothing");
}

DOCTEST_TEST_CASE("finetune_spec: which architectures are solved rather than trained") {
    for (const auto& [name, linear] : {std::pair{"bigbird", false}, std::pair{"bigbird-bins", false},
                                       std::pair{"cnnprom", false}, std::pair{"kmer-ridge", true}}) {
        FinetuneSpec spec;
        spec.architecture = name;
        DOCTEST_CHECK(spec.is_linear() == linear);
    }
}

DOCTEST_TEST_CASE("finetune_spec: steps are given, or those of the epochs") {
    FinetuneSpec spec;
    spec.epochs = 1.5;
    DOCTEST_CHECK(spec.rate_over(100, 16).total_steps == 10);  // 9.4
    DOCTEST_CHECK(spec.rate_over(100, 16).warmup_steps == 1);
    DOCTEST_CHECK(spec.rate_over(0, 16).total_steps == 1);
    spec.learning_rate.total_steps = 30;
    DOCTEST_CHECK(spec.rate_over(100, 16).total_steps == 30);
    spec.learning_rate.warmup_steps = 0;
    DOCTEST_CHECK(spec.rate_over(100, 16).warmup_steps == 0);
}
