// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/vocabulary_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/tokenizer/formats/hf_normalizer.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace bigbird::tokenizer {

struct VocabularyTokenizer::State {
    std::vector<std::string> tokens;
    std::map<std::string, std::int32_t, std::less<>> ids;
    std::set<std::size_t, std::greater<>> lengths;  ///< of tokens, the longest first
    SpecialIds special;
    std::size_t overlapping = 0;

    std::int32_t id_of(std::string_view token) const {
        const auto found = ids.find(token);
        return found == ids.end() ? -1 : found->second;
    }
};

namespace {

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.emplace_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool is_special(std::string_view token) {
    return token.starts_with('[') || token.starts_with('<');
}

/// The one length of all tokens that are not special; 0 if they differ.
std::size_t common_length(const std::vector<std::string>& tokens) {
    std::size_t length = 0;
    for (const std::string& token : tokens) {
        if (is_special(token)) continue;
        if (length != 0 && token.size() != length) return 0;
        length = token.size();
    }
    return length;
}

}  // namespace

VocabularyTokenizer::VocabularyTokenizer(std::string_view text, const Json& config,
                                         const std::filesystem::path& origin) {
    State state;
    state.tokens = lines_of(text);
    for (std::size_t id = 0; id < state.tokens.size(); ++id) {
        const std::string& token = state.tokens[id];
        if (token.empty() || token.find_first_of(blanks) != std::string::npos ||
            !state.ids.emplace(token, static_cast<std::int32_t>(id)).second)
            throw InputError("line " + std::to_string(id + 1) + " is empty, has a blank or repeats a token",
                             origin);
        state.lengths.insert(token.size());
    }
    if (state.id_of("<cls>") >= 0) {
        const Json end = config.is_object() ? config.value("eos_token", Json("<eos>")) : Json("<eos>");
        state.special = {state.id_of("<pad>"), state.id_of("<unk>"), state.id_of("<cls>"),
                         end == "<eos>" ? state.id_of("<eos>") : -1, state.id_of("<mask>")};
    } else if (state.id_of("[CLS]") >= 0) {
        state.special = {state.id_of("[PAD]"), state.id_of("[UNK]"), state.id_of("[CLS]"),
                         state.id_of("[SEP]"), state.id_of("[MASK]")};
        state.overlapping = common_length(state.tokens);
    }
    const bool other_letters = std::ranges::any_of(state.tokens, [](const std::string& token) {
        return !is_special(token) && token.find_first_not_of("ACGTN") != std::string::npos;
    });
    const bool esm = state.id_of("<cls>") >= 0;
    if ((!esm && state.overlapping == 0) || other_letters || state.special.unk < 0) {
        throw InputError(
            "is no vocabulary of k-mers: neither Nucleotide Transformer's (<unk>, <cls> and k-mers of A C G "
            "T N) nor "
            "DNABERT's ([UNK], [CLS] and k-mers of one length)",
            origin);
    }
    state_ = std::make_shared<const State>(std::move(state));
}

const std::vector<std::string>& VocabularyTokenizer::tokens() const {
    return state_->tokens;
}

const SpecialIds& VocabularyTokenizer::special_ids() const {
    return state_->special;
}

std::size_t VocabularyTokenizer::overlapping() const {
    return state_->overlapping;
}

Encoding VocabularyTokenizer::encode(std::string_view text, bool with_spans) const {
    Encoding result;
    const auto add = [&](std::int32_t id, std::size_t begin, std::size_t end) {
        result.ids.push_back(id);
        if (with_spans) result.spans.push_back({begin, end});
    };
    if (const std::size_t k = state_->overlapping; k > 0) {
        for (std::size_t i = 0; i + k <= text.size(); ++i) {
            const std::int32_t id = state_->id_of(text.substr(i, k));
            add(id < 0 ? state_->special.unk : id, i, i + 1);
        }
        return result;
    }
    std::size_t unknown = 0;  // where the current run of other letters begins
    const auto end_run = [&](std::size_t end) {
        if (unknown < end) add(state_->special.unk, unknown, end);
    };
    for (std::size_t i = 0; i < text.size();) {
        std::size_t length = 0;
        for (const std::size_t known : state_->lengths) {
            if (known > text.size() - i) continue;
            if (const std::int32_t id = state_->id_of(text.substr(i, known)); id >= 0) {
                end_run(i);
                add(id, i, i + known);
                length = known;
                break;
            }
        }
        if (length == 0 && blanks.find(text[i]) != std::string_view::npos) {
            end_run(i);
            length = 1;
        }
        i += std::max<std::size_t>(length, 1);
        if (length > 0) unknown = i;
    }
    end_run(text.size());
    return result;
}

Json VocabularyTokenizer::config(std::int64_t max_length) const {
    const SpecialIds& ids = state_->special;
    const auto token = [&](std::int32_t id) {
        return id < 0 ? Json() : Json(state_->tokens[static_cast<std::size_t>(id)]);
    };
    Json json{{"model_max_length", max_length},
              {"pad_token", token(ids.pad)},
              {"unk_token", token(ids.unk)},
              {"cls_token", token(ids.cls)},
              {"mask_token", token(ids.mask)}};
    json[state_->overlapping > 0 ? "sep_token" : "eos_token"] = token(ids.sep);
    json["tokenizer_class"] = state_->overlapping > 0 ? "BertTokenizer" : "EsmTokenizer";
    if (state_->overlapping > 0) json["do_lower_case"] = false;
    return json;
}

}  // namespace bigbird::tokenizer
