// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/names/architecture_names.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/architecture: names, windows and what is a network") {
    DOCTEST_CHECK(baselines::architecture_names().size() == 6);
    std::int64_t begin = 0, end = 0;
    DOCTEST_CHECK(baselines::published_window("cnnprom", begin, end));
    DOCTEST_CHECK(begin == -200);
    DOCTEST_CHECK(end == 51);
    DOCTEST_CHECK_FALSE(baselines::published_window("gkm-svm", begin, end));
    DOCTEST_CHECK(baselines::is_network("deepsea"));
    DOCTEST_CHECK_FALSE(baselines::is_network("kmer-ridge"));
    DOCTEST_CHECK(baselines::shortest_window("deepromoter") == 6);
    DOCTEST_CHECK(baselines::title_of("deepsea") == "DeepSEA");
    DOCTEST_CHECK(message_of<ConfigError>([] { baselines::require_architecture("resnet"); }) ==
                  "--architecture 'resnet' is not known; there are bigbird, bigbird-bins, cnnprom, "
                  "deepromoter, deepsea, "
                  "gkm-svm, kmer-logistic, kmer-ridge");
}
