// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/names/architecture_names.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/architecture: names, windows and what is a network") {
    DOCTEST_CHECK(baselines::architectures.size() == 6);
    std::int64_t begin = 0, end = 0;
    DOCTEST_CHECK(baselines::published_window("cnnprom", begin, end));
    DOCTEST_CHECK(begin == -200);
    DOCTEST_CHECK(end == 51);
    DOCTEST_CHECK_FALSE(baselines::published_window("gkm-svm", begin, end));
    DOCTEST_CHECK(baselines::architecture_of("deepsea").is_network);
    DOCTEST_CHECK_FALSE(baselines::architecture_of("kmer-ridge").is_network);
    DOCTEST_CHECK(baselines::architecture_of("deepromoter").shortest == 6);
    DOCTEST_CHECK(baselines::architecture_of("deepsea").title == "DeepSEA");
    DOCTEST_CHECK(message_of<ConfigError>([] { baselines::architecture_of("resnet"); }) ==
                  "--architecture 'resnet' is not known; there are bigbird, bigbird-bins, cnnprom, "
                  "deepromoter, deepsea, "
                  "gkm-svm, kmer-logistic, kmer-ridge");
}
