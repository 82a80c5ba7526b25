// SPDX-License-Identifier: Apache-2.0
// A UCSC chain file, plain or compressed, and lifts through it.
#include "bigbird/genome/regions/chain.hpp"

#include "fuzz/fuzz_target.hpp"

#include <limits>

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::scratch().write("x.chain", fuzz::text_of(data, size));
    return fuzz::expect_answer([&] {
        const genome::ChainMap map(file);
        for (const std::int64_t position : {std::int64_t{0}, std::int64_t{100}, std::int64_t{16'050'100},
                                            std::numeric_limits<std::int64_t>::max() - 1}) {
            static_cast<void>(map.lift("chr22", position, genome::Strand::forward));
            static_cast<void>(map.why_unmapped("22", position));
        }
    });
}
