// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/safetensors.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/model/files/safetensors_header.hpp"

using namespace bigbird::model;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("safetensors: every type and shape comes back, bit for bit") {
    const TempDir folder;
    TensorMap tensors;
    for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt,
                                      at::kShort, at::kChar, at::kByte})
        tensors[std::string("odd.") + at::toString(type)] = (random_tensor({3, 5}, 1) * 10).abs().to(type);
    tensors["mask"] = random_tensor({7}, 2) > 0;
    tensors["scalar"] = at::scalar_tensor(1.5);
    tensors["empty"] = at::empty({0, 4});
    tensors["view"] = random_tensor({4, 6}, 3).transpose(0, 1);
    write_safetensors(tensors, folder / "t.safetensors", {{"step", "12"}});
    const TensorMap again = read_safetensors(folder / "t.safetensors");
    DOCTEST_REQUIRE(again.size() == tensors.size());
    for (const auto& [key, tensor] : tensors) {
        DOCTEST_CAPTURE(key);
        DOCTEST_CHECK(identical(again.at(key), tensor));
    }
}

DOCTEST_TEST_CASE(
    "safetensors: data stand aligned, keys in byte order, and the same tensors give the same bytes") {
    const TempDir folder;
    const TensorMap tensors{
        {"b", at::ones({3}, at::kByte)}, {"a", at::ones({2}, at::kDouble)}, {"c", at::ones({3}, at::kHalf)}};
    write_safetensors(tensors, folder / "1");
    write_safetensors(tensors, folder / "2");
    const std::string bytes = read_file(folder / "1");
    DOCTEST_CHECK(bytes == read_file(folder / "2"));
    DOCTEST_CHECK(bytes.find("\"a\"") < bytes.find("\"b\""));
    const SafetensorsHeader header = read_safetensors_header(folder / "1");
    DOCTEST_CHECK(header.metadata == std::map<std::string, std::string>{{"format", "pt"}});
    for (const auto& item : header.tensors)
        DOCTEST_CHECK(item.second.begin % element_size(item.second.type) == 0);
}
