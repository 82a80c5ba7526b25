// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/batching.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include <numeric>
#include <set>

using namespace bigbird::model;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("batching: sequences are padded to whole blocks, and what is padded is masked") {
    BigBirdConfig config = small_config();  // blocks of 4
    config.pad_token_id = 3;
    const std::vector<TokenSequence> sequences{{{7, 8, 9, 10, 11}, {0, 0, 1, 1, 1}},
                                               {{12, 13, 14, 15, 16, 17}, {}}};
    const EncoderInput input = make_input(sequences, config, at::kCPU);
    const auto rows_of_8 = [](at::ArrayRef<std::int64_t> values) { return at::tensor(values).view({2, 8}); };
    DOCTEST_CHECK(
        identical(input.input_ids, rows_of_8({7, 8, 9, 10, 11, 3, 3, 3, 12, 13, 14, 15, 16, 17, 3, 3})));
    DOCTEST_CHECK(
        identical(input.token_type_ids, rows_of_8({0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
    DOCTEST_CHECK(identical(input.attention_mask,
                            rows_of_8({1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0}).to(at::kBool)));
}

DOCTEST_TEST_CASE("batching: unequal block counts are a programmer's mistake") {
    const std::vector<TokenSequence> sequences{random_sequence(8, 1), random_sequence(9, 2)};
    DOCTEST_CHECK_THROWS_AS(make_input(sequences, small_config(), at::kCPU), std::logic_error);
}

DOCTEST_TEST_CASE("batching: groups hold equal block counts, keep the order and respect the token budget") {
    std::vector<TokenSequence> sequences;
    for (const std::size_t length : {5U, 9U, 8U, 12U, 6U, 1U, 10U, 7U})  // blocks of 4: 2 3 2 3 2 1 3 2
        sequences.push_back(random_sequence(length, length));
    using Groups = std::vector<std::vector<std::size_t>>;
    DOCTEST_CHECK(group_by_blocks(sequences, 4, 24) == Groups{{5}, {0, 2, 4}, {7}, {1, 3}, {6}});
    DOCTEST_CHECK(group_by_blocks(sequences, 4, 1) == Groups{{5}, {0}, {2}, {4}, {7}, {1}, {3}, {6}});
    DOCTEST_CHECK(group_by_blocks(std::vector<std::int64_t>(), 4, 24).empty());
    DOCTEST_CHECK(group_by_blocks(sequences, 4, 32, GroupSizes::few) ==
                  Groups{{5}, {0, 2, 4, 7}, {1, 3}, {6}});
}

DOCTEST_TEST_CASE("batching: however many sequences are left over, groups come in few sizes") {
    std::set<std::size_t> found;
    for (std::size_t count = 0; count < 300; ++count) {
        std::vector<std::size_t> members(count), put_together;
        std::iota(members.begin(), members.end(), std::size_t{7});
        for (const auto& group : cut_into_groups(members, 100, GroupSizes::few)) {
            found.insert(group.size());
            put_together.insert(put_together.end(), group.begin(), group.end());
        }
        DOCTEST_CHECK(put_together == members);
    }
    DOCTEST_CHECK(found == std::set<std::size_t>{1, 2, 4, 8, 16, 32, 64, 100});
}

DOCTEST_TEST_CASE("batching: equal groups of some 512 tokens, the last filled up") {
    using Groups = std::vector<std::vector<std::size_t>>;
    const std::vector<std::size_t> members{3, 5, 7, 9, 11};
    DOCTEST_CHECK(cut_into_groups(members, 2, GroupSizes::equal) == Groups{{3, 5}, {7, 9}, {11, 11}});
    DOCTEST_CHECK(cut_into_groups({}, 2, GroupSizes::equal).empty());
    DOCTEST_CHECK(members_per_group(64, 16384, GroupSizes::equal) == 8);
    DOCTEST_CHECK(members_per_group(64, 128, GroupSizes::equal) == 2);
    DOCTEST_CHECK(members_per_group(64, 16384, GroupSizes::few) == 256);
    DOCTEST_CHECK(members_per_group(4096, 128, GroupSizes::few) == 1);
    const std::vector<std::int64_t> lengths{60, 300, 61, 600};
    DOCTEST_CHECK(group_by_blocks(lengths, 64, 16384, GroupSizes::equal) ==
                  Groups{{0, 2, 2, 2, 2, 2, 2, 2}, {1}, {3}});
    DOCTEST_CHECK((sizes_for_scores(at::kCPU) == GroupSizes::equal));
}
