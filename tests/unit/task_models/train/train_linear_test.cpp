// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/train_linear.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"
using namespace bigbird;
using namespace bigbird::testing;
using task_models::train_linear;

namespace {

class Fixture {
public:
    Fixture() {
        write_motif_examples(folder_ / "examples", 400, 7);
        examples_ = std::make_unique<examples::ExampleSet>(examples::ExampleSet::load(folder_ / "examples"));
    }
    task_models::LinearTraining train(const std::string& architecture, const task_models::LinearSpec& spec,
                                      std::uint64_t seed = 1, int threads = 1) {
        task_models::TaskInfo info = task_models::task_info_of(*examples_);
        info.architecture = architecture;
        return train_linear(info, *examples_, spec, 1.0, seed, threads);
    }

private:
    TempDir folder_;
    std::unique_ptr<examples::ExampleSet> examples_;
};

at::Tensor weight_of(const task_models::LinearTraining& training) {
    return training.network->module()->named_parameters()["weight"].detach();
}

}  // namespace

DOCTEST_TEST_CASE("train_linear: both learn the planted motif, and nothing of the random label") {
    Fixture fixture;
    for (const char* architecture : {"kmer-ridge", "gkm-svm"}) {
        DOCTEST_CAPTURE(architecture);
        const auto trained = fixture.train(architecture, {.word = 6, .informative = 4});
        DOCTEST_CHECK(trained.metrics.at("eval_auroc_labels") == 2);
        const double mean = trained.metrics.at("eval_auroc").get<double>();  // of about 1 and about 0.5
        DOCTEST_CHECK(mean > 0.65);
        DOCTEST_CHECK(mean < 0.85);
        DOCTEST_CHECK(identical(weight_of(trained),
                                weight_of(fixture.train(architecture, {.word = 6, .informative = 4}, 1, 3))));
    }
}

DOCTEST_TEST_CASE("train_linear: a penalty that is given is taken, windows are drawn by the seed") {
    Fixture fixture;
    DOCTEST_CHECK(fixture.train("kmer-ridge", {.penalty = 0.5}).metrics.at("penalty") == 0.5);
    const task_models::LinearSpec few{.word = 4, .informative = 3, .most_windows = 50};
    const auto first = fixture.train("gkm-svm", few), again = fixture.train("gkm-svm", few),
               other = fixture.train("gkm-svm", few, 2);
    DOCTEST_CHECK(first.metrics.at("windows") == 50);
    DOCTEST_CHECK(identical(weight_of(first), weight_of(again)));
    DOCTEST_CHECK_FALSE(identical(weight_of(first), weight_of(other)));
}
