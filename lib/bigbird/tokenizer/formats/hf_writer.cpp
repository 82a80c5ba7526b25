// SPDX-License-Identifier: Apache-2.0
// tokenizer.json and tokenizer_config.json for our tokenizers.
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/encode/bpe_rules.hpp"
#include "bigbird/tokenizer/encode/kmer_encoder.hpp"
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace bigbird::tokenizer {

namespace {

bool has_border(std::string_view text, std::size_t length) {
    return text.substr(0, length) == text.substr(text.size() - length);
}

// SentencePiece merges the leftmost of several pairs that give the same piece, whatever their splits; a merge
// list must rank the splits. Two splits can only compete where they overlap, as in AT|ATA|TA for ATATA: a
// text that begins and ends with ATA. There the split with the longer first part comes first. For powers of
// one word (A|AA, AA|A), the one with the longer left part comes first, because runs are merged from the
// left.
std::vector<std::size_t> ranked_splits(std::string_view text, std::vector<std::size_t> cuts) {
    std::vector<std::size_t> ranked;
    std::sort(cuts.rbegin(), cuts.rend());
    const auto must_precede = [&](std::size_t first, std::size_t second) {
        return first + second == text.size() && first != second && has_border(text, second) &&
               !has_border(text, first);
    };
    while (!cuts.empty()) {
        auto next = std::find_if(cuts.begin(), cuts.end(), [&](std::size_t cut) {
            return std::none_of(cuts.begin(), cuts.end(),
                                [&](std::size_t other) { return must_precede(other, cut); });
        });
        next = next == cuts.end() ? cuts.begin() : next;
        ranked.push_back(*next);
        cuts.erase(next);
    }
    return ranked;
}

Json merges_of(const BpeRules& rules) {
    std::vector<std::pair<std::uint32_t, Token>> by_rank;
    std::set<Token> merged;
    std::vector<std::vector<std::size_t>> cuts(rules.size());
    rules.for_each_merge([&](Token left, Token right, std::uint32_t rank) {
        const Token token = rules.merge(left, right).merged;
        cuts[token].push_back(rules.texts[left].size());
        if (merged.insert(token).second) by_rank.emplace_back(rank, token);
    });
    std::sort(by_rank.begin(), by_rank.end());
    Json merges = Json::array();
    for (const auto& [rank, token] : by_rank) {
        const std::string& text = rules.texts[token];
        for (const std::size_t cut : ranked_splits(text, cuts[token]))
            merges.push_back(text.substr(0, cut) + " " + text.substr(cut));
    }
    return merges;
}

Json added_token(std::size_t id) {
    return {{"id", id},        {"content", special_names[id]}, {"single_word", false}, {"lstrip", false},
            {"rstrip", false}, {"normalized", false},          {"special", true}};
}

// normalised_base() as a list of replacements.
Json normalizer() {
    Json steps = Json::array();
    const auto replace = [&](const char* pattern, const char* content) {
        steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", pattern}}}, {"content", content}});
    };
    replace("a", "A");
    replace("c", "C");
    replace("g", "G");
    replace("[tuU]", "T");
    replace("[^ACGT]", "N");
    return {{"type", "Sequence"}, {"normalizers", steps}};
}

Json part(const char* kind, const char* name, int type) {
    return {{kind, {{"id", name}, {"type_id", type}}}};
}

Json post_processor() {
    const Json cls = part("SpecialToken", "[CLS]", 0), sep = part("SpecialToken", "[SEP]", 0);
    const Json a = part("Sequence", "A", 0), b = part("Sequence", "B", 1);
    Json tokens;
    for (const std::int32_t id : {special::cls, special::sep}) {
        const char* const name = special_names[static_cast<std::size_t>(id)];
        tokens[name] = {{"id", name}, {"ids", {id}}, {"tokens", {name}}};
    }
    return {{"type", "TemplateProcessing"},
            {"single", {cls, a, sep}},
            {"pair", {cls, a, sep, b, part("SpecialToken", "[SEP]", 1)}},
            {"special_tokens", tokens}};
}

/// The common parts of all files: special tokens, normalised_base() as a normalizer, [CLS] and [SEP], and a
/// decoder that adds no blanks.
Json tokenizer_json_around(Json model, Json pre_tokenizer) {
    Json added = Json::array();
    for (std::size_t id = 0; id < special_names.size(); ++id)
        added.push_back(added_token(id));
    return {{"version", "1.0"},
            {"truncation", nullptr},
            {"padding", nullptr},
            {"added_tokens", added},
            {"normalizer", normalizer()},
            {"pre_tokenizer", std::move(pre_tokenizer)},
            {"post_processor", post_processor()},
            {"decoder", {{"type", "Fuse"}}},
            {"model", std::move(model)}};
}

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

Json tokenizer_json(const SentencePieceModel& model) {
    const BpeRules rules = bpe_rules_of(model, "the tokenizer");
    Json::object_t vocabulary;
    for (std::size_t id = 0; id < model.pieces.size(); ++id) {
        // not operator[], which searches all keys
        vocabulary.Json::object_t::Container::emplace_back(model.pieces[id].text, id);
    }
    return tokenizer_json_around({{"type", "BPE"},
                                  {"dropout", nullptr},
                                  {"unk_token", special_names[special::unk]},
                                  {"continuing_subword_prefix", nullptr},
                                  {"end_of_word_suffix", nullptr},
                                  {"fuse_unk", true},
                                  {"byte_fallback", false},
                                  {"ignore_merges", false},
                                  {"vocab", std::move(vocabulary)},
                                  {"merges", merges_of(rules)}},
                                 nullptr);
}

Json tokenizer_config_json(const SpecialIds& special_ids, std::int64_t max_length) {
    const std::array ids{special_ids.pad, special_ids.unk, special_ids.cls, special_ids.sep,
                         special_ids.mask};
    constexpr std::array keys{"pad_token", "unk_token", "cls_token", "sep_token", "mask_token"};
    Json decoder = Json::object(), named = Json::object();
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] >= 0) {
            Json token = added_token(i);
            token.erase("id");
            decoder[std::to_string(ids[i])] = token;
            named[keys[i]] = special_names[i];
        }
    }
    Json config = {{"added_tokens_decoder", decoder},
                   {"clean_up_tokenization_spaces", false},
                   {"model_input_names", {"input_ids", "token_type_ids", "attention_mask"}},
                   {"model_max_length", max_length},
                   {"tokenizer_class", "PreTrainedTokenizerFast"}};
    config.update(named);
    return config;
}

std::string kmer_json(int k) {
    const KmerEncoder encoder(k);
    const std::string pattern = std::string(before_length) + std::to_string(k) + std::string(after_length);
    const Json json = tokenizer_json_around(
        {{"type", "WordLevel"}, {"vocab", vocabulary(encoder)}, {"unk_token", special_names[special::unk]}},
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
    return json.dump(2) + '\n';
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
