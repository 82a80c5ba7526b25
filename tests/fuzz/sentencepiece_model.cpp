// SPDX-License-Identifier: Apache-2.0
// A SentencePiece .model, and what it makes of a sequence.
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include "fuzz/fuzz_target.hpp"

#include "bigbird/tokenizer/tokenizer.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(fuzz::text_of(data, size));
    if (bytes.starts_with('{')) return 0;  // another format
    fuzz::expect_answer([&] {
        const auto model = tokenizer::parse_sentencepiece_model(bytes, "x.model");
        static_cast<void>(tokenizer::parse_sentencepiece_model(serialize(model), "x.model"));
    });
    return fuzz::expect_answer([&] {
        const auto tokenizer = tokenizer::DnaTokenizer::from_serialized(bytes, "x.model");
        const auto ids = tokenizer.encode("ACGTNNACGTACGTTTGACAGATTACAGATTACACCCCCCCCGGGATATATATATAN");
        static_cast<void>(tokenizer.decode(ids));
        static_cast<void>(tokenizer.vocabulary_text());
    });
}
