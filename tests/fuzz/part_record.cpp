// SPDX-License-Identifier: Apache-2.0
// The record that --shard writes beside a part, and a set of two such parts.
#include "bigbird/core/parts/part_record.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto part = fuzz::scratch().write("part.tsv", "x\n");
    fuzz::scratch().write("part.tsv.part.json", fuzz::text_of(data, size));
    return fuzz::expect_answer([&] { static_cast<void>(read_part_record(part)); });
}
