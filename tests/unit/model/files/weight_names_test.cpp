// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/weight_names.hpp"

#include "support/testing.hpp"

#include <array>
#include <utility>

using namespace bigbird::model;

DOCTEST_TEST_CASE("weight_names: a Longformer's, there and back") {
    constexpr std::array<std::pair<const char*, const char*>, 9> names{
        {{"bert.embeddings.word_embeddings.weight", "longformer.embeddings.word_embeddings.weight"},
         {"bert.encoder.layer.3.attention.self.query_global.bias",
          "longformer.encoder.layer.3.attention.self.query_global.bias"},
         {"bert.pooler.weight", "longformer.pooler.dense.weight"},
         {"cls.predictions.transform.dense.weight", "lm_head.dense.weight"},
         {"cls.predictions.transform.LayerNorm.bias", "lm_head.layer_norm.bias"},
         {"cls.predictions.decoder.weight", "lm_head.decoder.weight"},
         {"cls.predictions.bias", "lm_head.bias"},
         {"cls.seq_relationship.weight", "cls.seq_relationship.weight"},
         {"classifier.out_proj.bias", "classifier.out_proj.bias"}}};
    for (const auto& [ours, theirs] : names) {
        DOCTEST_CHECK(longformer_name(ours) == theirs);
        DOCTEST_CHECK(name_of_longformer(theirs) == ours);
    }
    DOCTEST_CHECK(name_of_longformer("pooler.dense.bias") == "pooler.bias");
    DOCTEST_CHECK(name_of_longformer("embeddings.LayerNorm.bias") == "embeddings.LayerNorm.bias");
}

DOCTEST_TEST_CASE("weight_names: what tells a Longformer") {
    DOCTEST_CHECK(is_longformer_name("longformer.encoder.layer.0.attention.self.query_global.weight"));
    DOCTEST_CHECK(is_longformer_name("encoder.layer.0.attention.self.query_global.weight"));
    DOCTEST_CHECK(!is_longformer_name("bert.encoder.layer.0.attention.self.query.weight"));
}
