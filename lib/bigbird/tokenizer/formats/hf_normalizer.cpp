// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/hf_normalizer.hpp"

#include "bigbird/core/parse_number.hpp"

#include <algorithm>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view special_letters = "\\^$.|?*+()[]{}";

bool is_word_letter(char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= 'a' && letter <= 'z') || letter == '_';
}

bool is_single_word(std::string_view text, std::size_t begin, std::size_t end) {
    return (begin == 0 || !is_word_letter(text[begin - 1])) &&
           (end == text.size() || !is_word_letter(text[end]));
}

}  // namespace

void AddedTokens::add(const AddedToken& token) {
    first_letters_.set(static_cast<unsigned char>(token.content.front()));
    lengths_.insert(token.content.size());
    tokens_.emplace(token.content, token);
}

const AddedToken* AddedTokens::longest_of(std::string_view text) const {
    if (!first_letters_.test(static_cast<unsigned char>(text.front()))) return nullptr;
    for (const std::size_t length : lengths_) {
        if (length > text.size()) continue;
        if (const auto found = tokens_.find(text.substr(0, length)); found != tokens_.end())
            return &found->second;
    }
    return nullptr;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text) const {
    std::vector<Part> parts;
    std::size_t done = 0, position = 0;
    while (position < text.size()) {
        const AddedToken* const token = longest_of(text.substr(position));
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

TextPattern TextPattern::literal(std::string_view text) {
    TextPattern pattern;
    pattern.literal_ = text;
    return pattern;
}

std::optional<TextPattern> TextPattern::regex(std::string_view expression) {
    TextPattern pattern;
    if (expression.empty()) return std::nullopt;
    if (expression.front() == '[') {
        const std::size_t close = expression.find(']');
        std::string_view letters = expression.substr(1, close == std::string_view::npos ? 0 : close - 1);
        const bool negated = letters.starts_with('^');
        letters.remove_prefix(negated ? 1 : 0);
        if (letters.empty() || letters.find_first_of("\\[-&^") != std::string_view::npos) return std::nullopt;
        for (const char letter : letters)
            pattern.letters_.set(static_cast<unsigned char>(letter));
        pattern.letters_ = negated ? ~pattern.letters_ : pattern.letters_;
        expression.remove_prefix(close + 1);
    } else if (special_letters.find(expression.front()) == std::string_view::npos) {
        pattern.letters_.set(static_cast<unsigned char>(expression.front()));
        expression.remove_prefix(1);
    } else {
        return std::nullopt;
    }
    if (expression == "+") {
        pattern.more_ = true;
    } else if (expression.starts_with('{') && expression.ends_with(",}")) {
        pattern.least_ = parse_number<std::size_t>(expression.substr(1, expression.size() - 3)).value_or(0);
        if (pattern.least_ == 0) return std::nullopt;
        pattern.more_ = true;
    } else if (!expression.empty()) {
        return std::nullopt;
    }
    return pattern;
}

std::optional<TextPattern::Match> TextPattern::find(std::string_view text, std::size_t from) const {
    if (!literal_.empty()) {
        const std::size_t begin = text.find(literal_, from);
        return begin == std::string_view::npos ? std::nullopt
                                               : std::optional(Match{begin, begin + literal_.size()});
    }
    const auto matches = [&](std::size_t i) { return letters_.test(static_cast<unsigned char>(text[i])); };
    while (from < text.size()) {
        std::size_t end = from;
        while (end < text.size() && matches(end) && (more_ || end - from < least_))
            ++end;
        if (end - from >= least_) return Match{from, end};
        from = end + 1;
    }
    return std::nullopt;
}

NormalizedString::NormalizedString(std::string_view original, bool trace) : text(original) {
    for (std::size_t i = 0; trace && i < text.size(); ++i)
        origins.push_back({i, i + 1});
}

void NormalizedString::strip(bool left, bool right) {
    const std::size_t begin = left ? std::min(text.find_first_not_of(blanks), text.size()) : 0;
    const std::size_t end = right ? text.find_last_not_of(blanks) + 1 : text.size();  // npos + 1 is 0
    text = text.substr(begin, std::max(begin, end) - begin);
    if (!origins.empty()) {
        const auto first = origins.begin();
        origins = std::vector(first + static_cast<std::ptrdiff_t>(begin),
                              first + static_cast<std::ptrdiff_t>(begin + text.size()));
    }
}

void NormalizedString::replace(const TextPattern& pattern, std::string_view content) {
    std::string rewritten;
    std::vector<TextSpan> traced;
    std::size_t position = 0;
    const auto keep_to = [&](std::size_t end) {
        rewritten.append(text, position, end - position);
        for (std::size_t i = position; i < end && !origins.empty(); ++i)
            traced.push_back(origins[i]);
    };
    while (const std::optional<TextPattern::Match> match = pattern.find(text, position)) {
        keep_to(match->begin);
        rewritten += content;
        if (!origins.empty()) {
            traced.insert(traced.end(), content.size(),
                          {origins[match->begin].begin, origins[match->end - 1].end});
        }
        position = match->end;
    }
    keep_to(text.size());
    text = std::move(rewritten);
    origins = std::move(traced);
}

}  // namespace bigbird::tokenizer
