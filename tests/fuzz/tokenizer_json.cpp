// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json, ours or another program's, and what it makes of a sequence.
#include "fuzz/fuzz_target.hpp"

#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(fuzz::text_of(data, size));
    const char* const dna = " ACGTNNACG-TACGTTTGACAGATTacagATTACACCCCCCCCGGGATATATATATAN ";
    fuzz::expect_answer([&] {
        const tokenizer::HfTokenizer read(bytes, "tokenizer.json");
        static_cast<void>(read.encode(dna, 1, false));
    });
    if (!bytes.starts_with('{')) return 0;  // another format
    return fuzz::expect_answer([&] {
        const auto tokenizer = tokenizer::DnaTokenizer::from_serialized(bytes, "tokenizer.json");
        static_cast<void>(tokenizer.decode(tokenizer.encode(dna)));
        static_cast<void>(tokenizer.encode_with_spans(dna));
        tokenizer.require_special_pieces();
    });
}
