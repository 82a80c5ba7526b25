// SPDX-License-Identifier: Apache-2.0
// A score table, plain or compressed.
#include "bigbird/rows/score_table.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::scratch().write("x.tsv", fuzz::text_of(data, size));
    return fuzz::expect_answer([&] {
        rows::ScoreReader reader(file);
        rows::ScoreRow row;
        std::vector<float> values;
        while (reader.next(row, values)) {
        }
        static_cast<void>(rows::provenance_lines(reader.provenance()));
    });
}
