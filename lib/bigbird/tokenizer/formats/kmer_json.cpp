// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/kmer_json.hpp"

#include "bigbird/tokenizer/encode/kmer_encoder.hpp"
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"

#include <cstddef>
#include <utility>

namespace bigbird::tokenizer {

namespace {

static_assert(KmerEncoder::first_letter == special::count);

constexpr std::string_view before_length = "[ACGT]{", after_length = "}|[ACGTN]";

Json::object_t vocabulary(const KmerEncoder& encoder) {
    Json::object_t ids;
    for (std::int32_t id = 0; id < encoder.vocab_size(); ++id) {
        // not operator[], which searches all keys
        ids.Json::object_t::Container::emplace_back(
            id < special::count ? special_names[static_cast<std::size_t>(id)] : encoder.spelling(id), id);
    }
    return ids;
}

Json whole(int k) {
    const KmerEncoder encoder(k);
    const std::string pattern = std::string(before_length) + std::to_string(k) + std::string(after_length);
    Json pre_tokenizer = {
        {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
    return tokenizer_json_around(
        {{"type", "WordLevel"}, {"vocab", vocabulary(encoder)}, {"unk_token", special_names[special::unk]}},
        std::move(pre_tokenizer));
}

/// Returns k from the first text with the regular expression that we write.
std::optional<int> length_in_pattern(std::string_view text) {
    const std::size_t at = text.find(before_length);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + before_length.size());
    for (int k = 1; k <= KmerEncoder::longest; ++k)
        if (text.starts_with(std::to_string(k) + std::string(after_length))) return k;
    return std::nullopt;
}

}  // namespace

std::string kmer_json(int k) {
    return whole(k).dump(2) + '\n';
}

std::optional<int> kmer_length_of_json(std::string_view text) {
    const std::optional<int> k = length_in_pattern(text);
    // A shorter text cannot contain all words, so no comparison is needed.
    if (!k || text.size() < std::size_t{1} << (2 * *k)) return std::nullopt;
    const std::string ours = kmer_json(*k);
    using Unordered = nlohmann::json;
    const auto equals = [&] { return Unordered::parse(text, nullptr, false) == Unordered::parse(ours); };
    return text == ours || (!nests_too_deeply(text) && equals()) ? k : std::nullopt;
}

}  // namespace bigbird::tokenizer
