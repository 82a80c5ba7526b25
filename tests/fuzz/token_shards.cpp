// SPDX-License-Identifier: Apache-2.0
// A folder of token shards. Its tokenizer is fixed, and its fingerprint is put into the headers, so that
// inputs reach what comes after it.
#include "bigbird/corpus/tokens/token_shards.hpp"

#include "fuzz/fuzz_target.hpp"

#include "bigbird/corpus/tokens/describe_shards.hpp"
#include "bigbird/corpus/tokens/shard_format.hpp"
#include "bigbird/tokenizer/formats/kmer_json.hpp"

#include <array>
#include <cstddef>
#include <cstring>

using namespace bigbird;

namespace {

constexpr std::array<const char*, 5> names{"manifest.json", "tokens-00000.bin", "tokens-00001.bin",
                                           "sentences.bin", "documents.bin"};

const tokenizer::DnaTokenizer& fixed_tokenizer() {
    static const auto tokenizer = [] {
        const std::string text = tokenizer::kmer_json(2);
        fuzz::scratch().write("tokenizer.json", text);
        return tokenizer::DnaTokenizer::from_serialized(text, "tokenizer.json");
    }();
    return tokenizer;
}

std::string with_fingerprint(std::string_view file) {
    static const auto fingerprint = corpus::shard_format::fingerprint(fixed_tokenizer());
    std::string bytes(file);
    constexpr std::size_t at = offsetof(corpus::shard_format::Header, vocabulary);
    if (bytes.size() >= sizeof(corpus::shard_format::Header)) {
        std::memcpy(bytes.data() + at, fingerprint.data(), fingerprint.size());
    }
    return bytes;
}

void write_folder(std::string_view input) {
    const std::vector<std::string_view> files = fuzz::split_files(input);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i < files.size() && !files[i].empty()) {
            fuzz::scratch().write(names[i], i == 0 ? std::string(files[i]) : with_fingerprint(files[i]));
        } else {
            std::filesystem::remove(fuzz::scratch().folder() / names[i]);
        }
    }
}

void read_everything(const corpus::TokenShards& shards) {
    static_cast<void>(corpus::describe(shards, false));
    std::vector<std::int32_t> ids;
    shards.append_ids({0, shards.counts().tokens}, ids);
    shards.require_rising_ends();
    std::int64_t token = 0;
    for (const std::int64_t end : shards.sentence_ends()) {
        ids.clear();
        shards.append_ids({token, end}, ids);
        token = end;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static_cast<void>(fixed_tokenizer());
    write_folder(fuzz::text_of(data, size));
    const auto& folder = fuzz::scratch().folder();
    fuzz::expect_answer([&] { static_cast<void>(corpus::is_token_corpus(folder)); });
    fuzz::expect_answer([&] { read_everything(corpus::TokenShards(folder)); });
    return fuzz::expect_answer([&] { corpus::TokenShards(folder).verify(1); });
}
