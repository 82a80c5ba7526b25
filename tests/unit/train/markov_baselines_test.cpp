// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/markov_baselines.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::train;

DOCTEST_TEST_CASE("markov_baselines: sentences of a document are one text, documents are not") {
    const std::vector<int> orders{0, 2};
    MarkovBaselines baselines(orders);
    baselines.add({{"ACGTACGT", "ACGTTT"}});
    baselines.score({{"ACGT", "ACGNA"}});
    baselines.score({{"GTT"}});
    for (const int order : orders) {
        corpus::MarkovModel model(order);
        model.add("ACGTACGTACGTTT");
        const auto first = model.score("ACGTACGNA"), second = model.score("GTT");
        const double expected = (first.bits + second.bits) / static_cast<double>(first.bases + second.bases);
        DOCTEST_CHECK(baselines.to_json()["markov_order_" + std::to_string(order)].get<double>() ==
                      doctest::Approx(expected));
    }
    DOCTEST_CHECK(baselines.to_json()["markov_bases"] == 11);
}

DOCTEST_TEST_CASE("markov_baselines: orders out of range are named; none says nothing") {
    DOCTEST_CHECK_THROWS_AS(MarkovBaselines(std::vector<int>{13}), ConfigError);
    DOCTEST_CHECK(MarkovBaselines({}).to_json().empty());
}
