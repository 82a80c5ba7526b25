// SPDX-License-Identifier: Apache-2.0
// Networks of all forms, of awkward sizes.
#pragma once

#include "unit/networks/profiles/profile_oracle.hpp"

namespace profile_oracle {

inline ProfileModel one(const ProfileShape& shape, unsigned seed) {
    return {.family = "BPNet", .parts = {random_part("", shape, seed)}, .sha256 = {}};
}

struct Case {
    const char* name;
    ProfileModel model;
};

inline std::vector<Case> cases() {
    const ProfileShape small = shape_of(Trunk::relu_after, 5, 3, 44);
    ProfileShape bias = shape_of(Trunk::relu_after, 3, 1, 44);
    bias.input = small.input;
    bias.counts = bias.trunk_positions(1);
    ProfileShape few_counts = shape_of(Trunk::relu_after, 20, 4, 50, {2});
    few_counts.counts = few_counts.output + few_counts.head - 1 - 10;
    ProfileShape narrow = bias;  // heads need less than the trunk has
    narrow.counts = narrow.output + 2;
    ProfileShape odd = shape_of(Trunk::relu_before, 6, 2, 33, {1, 2});
    odd.head = 1;
    odd.counts = odd.output;
    return {
        {"relu_after", one(small, 1)},
        {"no layers", one(shape_of(Trunk::relu_after, 4, 0, 17), 2)},
        {"no layers, relu_before", one(shape_of(Trunk::relu_before, 4, 0, 17), 3)},
        {"two columns, counts of few positions", one(few_counts, 4)},
        {"deep", one(shape_of(Trunk::relu_after, 33, 6, 150), 5)},
        {"relu_before", one(shape_of(Trunk::relu_before, 17, 4, 40, {2}), 6)},
        {"a head of 1, groups", one(odd, 7)},
        {"joined",
         {.family = "ChromBPNet",
          .parts = {random_part("nobias", small, 8), random_part("bias", bias, 9)},
          .sha256 = {}}},
        {"joined, narrow",
         {.family = "ChromBPNet",
          .parts = {random_part("nobias", small, 10), random_part("bias", narrow, 11)},
          .sha256 = {}}},
        {"cherimoya", one(shape_of(Trunk::cherimoya, 20, 4, 70, {1, 2}), 12)},
        {"cherimoya of 16 filters", one(shape_of(Trunk::cherimoya, 16, 2, 31), 13)},
    };
}

}  // namespace profile_oracle
