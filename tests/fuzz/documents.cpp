// SPDX-License-Identifier: Apache-2.0
// Documents, as text or as coordinates on a reference.
#include "fuzz/fuzz_target.hpp"

#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::scratch().write("documents.txt", fuzz::text_of(data, size));
    static const auto reference =
        genome::in_memory_genome({{"chr1", std::string(2000, 'A')}, {"2", "ACGTN"}});
    return fuzz::expect_answer([&] {
        corpus::DocumentReader reader(file, reference.get());
        while (reader.next(3)) {
        }
    });
}
