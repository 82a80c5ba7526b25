// SPDX-License-Identifier: Apache-2.0
// Values are checked against transformers in tests/parity.
#include "bigbird/model/heads/question_answering.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include <set>

using namespace bigbird::model;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("question_answering: parameters have Hugging Face's names") {
    const QuestionAnsweringHead head(small_config());
    std::set<std::string> names;
    for (const auto& item : head->named_parameters())
        names.insert(item.key());
    DOCTEST_CHECK(names == std::set<std::string>{"intermediate.dense.weight", "intermediate.dense.bias",
                                                 "output.dense.weight", "output.dense.bias",
                                                 "output.LayerNorm.weight", "output.LayerNorm.bias",
                                                 "qa_outputs.weight", "qa_outputs.bias"});
}

DOCTEST_TEST_CASE("question_answering: a question reaches up to the first separator, or is one token") {
    const at::Tensor ids = at::tensor({2, 5, 3, 6, 3, 2, 5, 6, 7, 8}, at::kLong).view({2, 5});
    const at::Tensor lengths = question_lengths(ids, 3);
    DOCTEST_CHECK(identical(lengths, at::tensor({3, 1}, at::kLong).view({2, 1})));
    DOCTEST_CHECK(identical(question_mask(lengths, 5),
                            at::tensor({1, 1, 1, 0, 0, 1, 0, 0, 0, 0}, at::kLong).view({2, 5})));
}

DOCTEST_TEST_CASE("question_answering: tokens of the question lose 1e6, but for the first") {
    const at::Tensor question = at::tensor({1, 1, 0}, at::kLong).view({1, 3}), logits = at::ones({1, 3, 2});
    const at::Tensor found = without_question(logits, question);
    DOCTEST_CHECK(identical(found.select(2, 1), at::tensor({1.0, 1.0 - 1e6, 1.0}, at::kFloat).view({1, 3})));
    DOCTEST_CHECK(identical(found.select(2, 0), found.select(2, 1)));
    DOCTEST_CHECK(question[0][0].item<int>() == 1);  // the caller's own
}
