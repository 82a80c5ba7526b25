// SPDX-License-Identifier: Apache-2.0
// BAM and CRAM, by htslib, as the child process reads them.
#include "bigbird/examples/build/signals/send_alignments.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::scratch().write("x.bam", fuzz::text_of(data, size));
    fuzz::expect_answer([&] { examples::send_alignments(file, {"30", "0", "0", "1"}, [](std::string_view) {}); });
    return fuzz::expect_answer(
        [&] { examples::send_alignments(file, {"0", "1", "1", "1"}, [](std::string_view) {}); });
}
