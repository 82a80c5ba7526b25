// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/check_weights.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/safetensors.hpp"

#include <ATen/ATen.h>

using namespace bigbird::model;
using bigbird::InputError;
using bigbird::testing::message_of;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;

DOCTEST_TEST_CASE("check_weights: a sound model is finite") {
    const bigbird::Json found = check_weights(test_data("model/pretraining"));
    DOCTEST_CHECK(found["finite"] == true);
    DOCTEST_CHECK(found["numbers"] == 149134);
}

DOCTEST_TEST_CASE("check_weights: NaN and infinity are found in every type, all tensors in one sentence") {
    const TempDir folder;
    const auto file = folder / "model.safetensors";
    for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
        const at::Tensor sound = at::full({3, 5}, 65'504.0).to(type);  // half's largest
        at::Tensor nan = at::zeros({7}, type), infinite = at::zeros({4}, type);
        nan[2] = std::nan("");
        infinite[0] = -HUGE_VAL;
        infinite[3] = HUGE_VAL;
        write_safetensors({{"sound", sound}, {"ids", at::full({2}, -1, at::kLong)}}, file);
        DOCTEST_CHECK(check_weights(file)["numbers"] == 17);
        write_safetensors({{"a", nan}, {"b", infinite}, {"sound", sound}}, file);
        DOCTEST_CHECK(
            message_of<InputError>([&] { check_weights(folder.path()); }) ==
            folder.path().string() +
                ": holds numbers that are NaN or infinite, in a (1 of 7), b (2 of 4): the training that "
                "made it went wrong, or the file is damaged");
    }
    std::filesystem::remove(file);
    DOCTEST_CHECK_THROWS_AS(check_weights(folder.path()), InputError);
}
