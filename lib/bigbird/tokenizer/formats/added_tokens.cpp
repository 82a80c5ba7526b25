// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/added_tokens.hpp"

#include <algorithm>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view blanks = " \t\n\v\f\r";

bool is_word_letter(char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= 'a' && letter <= 'z') || letter == '_';
}

bool is_single_word(std::string_view text, std::size_t begin, std::size_t end) {
    return (begin == 0 || !is_word_letter(text[begin - 1])) &&
           (end == text.size() || !is_word_letter(text[end]));
}

}  // namespace

void AddedTokens::add(AddedToken token) {
    first_letters_.set(static_cast<unsigned char>(token.content.front()));
    std::string content = token.content;
    by_length_[content.size()].emplace(std::move(content), std::move(token));
}

const AddedToken* AddedTokens::longest_at(std::string_view text, std::size_t position) const {
    for (const auto& [length, tokens] : by_length_) {
        if (length <= text.size() - position) {
            const auto found = tokens.find(std::string(text.substr(position, length)));
            if (found != tokens.end()) return &found->second;
        }
    }
    return nullptr;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text) const {
    std::vector<Part> parts;
    std::size_t done = 0, position = 0;
    while (position < text.size()) {
        const bool can_begin = first_letters_.test(static_cast<unsigned char>(text[position]));
        const AddedToken* const token = can_begin ? longest_at(text, position) : nullptr;
        if (token == nullptr) {
            ++position;
            continue;
        }
        std::size_t begin = position, end = position + token->content.size();
        position =
            end;  // a match that is not a single word is skipped completely, as in Hugging Face's library
        if (token->single_word && !is_single_word(text, begin, end)) continue;
        if (token->lstrip)
            begin = std::max(done, text.substr(0, begin).find_last_not_of(blanks) + 1);  // npos + 1 is 0
        if (token->rstrip) end = std::min(text.find_first_not_of(blanks, end), text.size());
        if (done < begin) parts.push_back({done, begin});
        parts.push_back({begin, end, token->id});
        done = end;
        position = std::max(position, end);
    }
    if (done < text.size()) parts.push_back({done, text.size()});
    return parts;
}

}  // namespace bigbird::tokenizer
