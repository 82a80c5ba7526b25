// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"

#include "bigbird/networks/files/profile_model.hpp"

using namespace bigbird;
using bigbird::testing::test_data;
using networks::ProfileModel;
using networks::read_profile_model;

DOCTEST_TEST_CASE("keras_models: ChromBPNet without the enzyme's bias") {
    const ProfileModel model = read_profile_model(test_data("models/profiles/chrombpnet_nobias.h5"));
    DOCTEST_CHECK(model.family == "ChromBPNet");
}
