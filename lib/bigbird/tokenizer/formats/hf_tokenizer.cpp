// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace bigbird::tokenizer {

namespace {

using Path = std::filesystem::path;
using Document = nlohmann::json;  // finds a key in logarithmic time, which a vocabulary needs

[[noreturn]] void refuse(const Path& file, const std::string& what) {
    throw InputError(what + ", which this program does not understand in a tokenizer.json of DNA", file);
}

const Document& member(const Document& object, const char* name) {
    static const Document nothing;
    return object.is_object() && object.contains(name) ? object.at(name) : nothing;
}

std::string text_of(const Document& object, const char* name) {
    const Document& value = member(object, name);
    return value.is_string() ? value.get<std::string>() : std::string();
}

bool flag_of(const Document& object, const char* name) {
    const Document& value = member(object, name);
    return value.is_boolean() && value.get<bool>();
}

/// Whether a special token stands for its own text: a motif, or a letter such as GENA-LM's '-', but not
/// "[CLS]".
bool spells_its_content(std::string_view text) {
    return text.size() == 1 || text.find_first_not_of("ACGTNacgtn") == std::string_view::npos;
}

TextPattern pattern_of(const Document& json, const Path& file) {
    if (const std::string literal = text_of(json, "String"); !literal.empty())
        return TextPattern::literal(literal);
    const std::string expression = text_of(json, "Regex");
    std::optional<TextPattern> pattern = TextPattern::regex(expression);
    if (!pattern) refuse(file, "has the pattern '" + expression + "'");
    return *pattern;
}

/// An id, which is the number of an element in lists of all ids.
std::int32_t id_of(const Document& json, const Path& file) {
    constexpr std::int64_t most_ids = std::int64_t{1} << 22;
    const std::int64_t id = json.is_number_float() ? -1 : json.get<std::int64_t>();
    if (id < 0 || id >= most_ids) {
        refuse(file, "has the id " + json.dump() + " where ids are whole numbers from 0 to " +
                         std::to_string(most_ids - 1));
    }
    return static_cast<std::int32_t>(id);
}

// "A C" as older versions write it, or ["A", "C"].
std::pair<std::string, std::string> merge_of(const Document& json, const Path& file) {
    if (json.is_array() && json.size() == 2) return {json[0].get<std::string>(), json[1].get<std::string>()};
    const std::string text = json.is_string() ? json.get<std::string>() : "";
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos) refuse(file, "has the merge " + json.dump());
    return {text.substr(0, blank), text.substr(blank + 1)};
}

BpeRules read_rules(const Document& json, const Path& file) {
    const Document& model = member(json, "model");
    if (text_of(model, "type") != "BPE") refuse(file, "has a model of type '" + text_of(model, "type") + "'");
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!text_of(model, name).empty()) refuse(file, std::string("sets ") + name);
    for (const char* name : {"byte_fallback", "ignore_merges"})
        if (flag_of(model, name)) refuse(file, std::string("sets ") + name);
    std::set<std::int32_t> added;
    for (const Document& token : member(json, "added_tokens"))
        if (flag_of(token, "special")) added.insert(id_of(token.at("id"), file));
    BpeRules rules;
    const std::string unknown = text_of(model, "unk_token");
    rules.unknown_id = -1;
    rules.fuse_unknown = flag_of(model, "fuse_unk");
    for (const auto& [text, json_id] : member(model, "vocab").items()) {
        const std::int32_t id = id_of(json_id, file);
        if (text.empty()) refuse(file, "has an empty token");
        if (text == unknown)
            rules.unknown_id = id;
        else if (spells_its_content(text) || !added.contains(id))
            rules.add(text, id);
    }
    if (rules.unknown_id < 0) refuse(file, "has no unk_token in its vocabulary");
    std::uint32_t rank = 0;
    for (const Document& merge : member(model, "merges")) {
        const auto [left, right] = merge_of(merge, file);
        const auto l = rules.find(left), r = rules.find(right), merged = rules.find(left + right);
        if (!l || !r || !merged) {
            throw InputError("its merge " + merge.dump() + " names tokens that are not in the vocabulary",
                             file);
        }
        rules.add_merge(*l, *r, rank++, *merged);
    }
    return rules;
}

}  // namespace

HfTokenizer::HfTokenizer(std::string_view text, const Path& file) {
    const Document json = nests_too_deeply(text) ? Document() : Document::parse(text, nullptr, false);
    if (!json.is_object()) throw InputError("is not a JSON file, or a damaged one", file);
    try {
        read(json, file);
    } catch (const Document::exception& error) {
        throw InputError(std::string("is no tokenizer.json of Hugging Face's form: ") + error.what(), file);
    }
}

void HfTokenizer::read(const Document& json, const Path& file) {
    const BpeRules rules = read_rules(json, file);
    encoder_.emplace(rules);
    for (Token token = 0; token < rules.size(); ++token)
        set_text(rules.ids[token], rules.texts[token]);
    read_normalizers(member(json, "normalizer"), file);
    read_added(json, file);
    set_text(rules.unknown_id, "");
    special_ids_[text_of(member(json, "model"), "unk_token")] = rules.unknown_id;
    read_splits(member(json, "pre_tokenizer"), file);
    // The tokens that it adds are not used: a network's input gets [CLS] and [SEP] by name.
    const std::string processor = text_of(member(json, "post_processor"), "type");
    if (!member(json, "post_processor").is_null() && processor != "BertProcessing" &&
        processor != "RobertaProcessing" && processor != "TemplateProcessing")
        refuse(file, "has the post_processor '" + processor + "'");
}

void HfTokenizer::set_text(std::int32_t id, const std::string& text) {
    texts_.resize(std::max(texts_.size(), static_cast<std::size_t>(id) + 1));
    texts_[static_cast<std::size_t>(id)] = text;
}

void HfTokenizer::read_normalizers(const Document& json, const Path& file) {
    const std::string type = text_of(json, "type");
    if (json.is_null()) return;
    if (type == "Sequence") {
        for (const Document& part : member(json, "normalizers"))
            read_normalizers(part, file);
    } else if (type == "Strip") {
        const bool left = flag_of(json, "strip_left"), right = flag_of(json, "strip_right");
        rewrites_.emplace_back([left, right](NormalizedString& traced) { traced.strip(left, right); });
    } else if (type == "Replace") {
        const TextPattern pattern = pattern_of(member(json, "pattern"), file);
        const std::string content = text_of(json, "content");
        rewrites_.emplace_back(
            [pattern, content](NormalizedString& traced) { traced.replace(pattern, content); });
    } else if (type == "Lowercase") {
        rewrites_.emplace_back([](NormalizedString& traced) {
            for (char& c : traced.text)
                c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        });
    } else {
        refuse(file, "has the normalizer '" + type + "'");
    }
}

void HfTokenizer::read_splits(const Document& json, const Path& file) {
    const std::string type = text_of(json, "type");
    if (json.is_null()) return;
    if (type == "Sequence")
        for (const Document& part : member(json, "pretokenizers"))
            read_splits(part, file);
    else if (type == "Whitespace" || type == "WhitespaceSplit") {
        if (type == "Whitespace")  // runs of letters, and of others that are not blanks
            splits_.push_back(
                *TextPattern::regex("[ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_]+"));
        drops_blanks_ = true;
    } else if (type == "Split" && text_of(json, "behavior") == "Isolated" && !flag_of(json, "invert"))
        splits_.push_back(pattern_of(member(json, "pattern"), file));
    else
        refuse(file, "has the pre_tokenizer '" + type + "'");
}

void HfTokenizer::read_added(const Document& json, const Path& file) {
    for (const bool specials : {true, false}) {  // special tokens precede others with the same content
        for (const Document& token : member(json, "added_tokens")) {
            const bool special = flag_of(token, "special");
            const std::string content = text_of(token, "content");
            if (special != specials || content.empty()) continue;
            const std::int32_t id = id_of(token.at("id"), file);
            const Document& in_model = member(member(member(json, "model"), "vocab"), content.c_str());
            if (!in_model.is_null() && in_model != id) {
                refuse(file, "has the added token '" + content + "' with the id " + std::to_string(id) +
                                 " and in its vocabulary with the id " + in_model.dump());
            }
            special_ids_[content] = id;
            set_text(id, !special || spells_its_content(content) ? content : "");
            const bool normalized = flag_of(token, "normalized");
            const std::string pattern = normalized ? rewrite(content, false).text : content;
            if (pattern.empty())
                refuse(file, "has the added token '" + content + "', of which its normalizer leaves nothing");
            (normalized ? added_normalized_ : added_)
                .add({pattern, id, flag_of(token, "single_word"), flag_of(token, "lstrip"),
                      flag_of(token, "rstrip")});
        }
    }
}

NormalizedString HfTokenizer::rewrite(std::string_view text, bool traced) const {
    NormalizedString result(text, traced);
    for (const Rewrite& rewrite : rewrites_)
        rewrite(result);
    return result;
}

std::vector<std::string_view> HfTokenizer::split(std::string_view text) const {
    std::vector<std::string_view> words{text};
    for (const TextPattern& pattern : splits_) {
        std::vector<std::string_view> parts;
        for (const std::string_view word : words) {
            std::size_t position = 0;
            while (const auto match = pattern.find(word, position)) {
                parts.push_back(word.substr(position, match->begin - position));
                parts.push_back(word.substr(match->begin, match->end - match->begin));
                position = match->end;
            }
            parts.push_back(word.substr(position));
        }
        words = std::move(parts);
    }
    if (!drops_blanks_) return words;
    std::vector<std::string_view> kept;
    for (const std::string_view word : words)
        for (std::size_t begin = word.find_first_not_of(blanks); begin < word.size();) {
            const std::size_t end = std::min(word.find_first_of(blanks, begin), word.size());
            kept.push_back(word.substr(begin, end - begin));
            begin = word.find_first_not_of(blanks, end);
        }
    return kept;
}

Encoding HfTokenizer::encode(std::string_view text, int threads, bool with_spans) const {
    Encoding result;
    const auto add = [&](std::int32_t id, TextSpan span) {
        result.ids.push_back(id);
        if (with_spans) result.spans.push_back(span);
    };
    for (const AddedTokens::Part& outer : added_.split(text)) {
        if (outer.id >= 0) {
            add(outer.id, {outer.begin, outer.end});
            continue;
        }
        const NormalizedString rewritten =
            rewrite(text.substr(outer.begin, outer.end - outer.begin), with_spans);
        const auto origin = [&](std::size_t begin, std::size_t end) {  // of letters of the rewritten text
            return with_spans ? TextSpan{outer.begin + rewritten.origins[begin].begin,
                                         outer.begin + rewritten.origins[end - 1].end}
                              : TextSpan{};
        };
        for (const AddedTokens::Part& inner : added_normalized_.split(rewritten.text)) {
            if (inner.id >= 0) {
                add(inner.id, origin(inner.begin, inner.end));
                continue;
            }
            const std::string_view between(rewritten.text.data() + inner.begin, inner.end - inner.begin);
            for (const std::string_view word : split(between)) {
                const auto first = static_cast<std::size_t>(word.data() - rewritten.text.data());
                const Encoding part = encoder_->encode(word, threads, with_spans);
                result.ids.insert(result.ids.end(), part.ids.begin(), part.ids.end());
                for (const TextSpan span : part.spans)
                    result.spans.push_back(origin(first + span.begin, first + span.end));
            }
        }
    }
    return result;
}

std::int32_t HfTokenizer::special_id(std::string_view name) const {
    const auto found = special_ids_.find(name);
    return found == special_ids_.end() ? -1 : found->second;
}

}  // namespace bigbird::tokenizer
