// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_plan.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <string>

namespace bigbird::corpus {

namespace {

void check(const Range& range, std::int64_t least, const std::string& option) {
    if (range.low < least) {
        throw ConfigError(option + " must begin at " + std::to_string(least) + " or more, not at " +
                          std::to_string(range.low));
    }
    if (range.high < range.low) {
        throw ConfigError(option + " " + std::to_string(range.low) + ":" + std::to_string(range.high) +
                          " ends before it begins");
    }
}

std::int64_t draw_start(const genome::Contig& contig, const DocumentSpec& spec, Rng& rng) {
    const std::int64_t last = std::max<std::int64_t>(0, contig.length - spec.sentence_length.low);
    const std::int64_t high = std::min(spec.start_offset.high, last);
    return rng.between(std::min(spec.start_offset.low, high), high);
}

}  // namespace

void DocumentSpec::validate() const {
    if (passes < 1) {
        throw ConfigError("--passes must be at least 1");
    }
    check(sentences, 1, "--sentences");
    check(sentence_length, 1, "--sentence-length");
    check(start_offset, 0, "--start-offset");
}

DocumentPlanner::DocumentPlanner(const genome::Contig& contig, const DocumentSpec& spec, int pass)
    : spec_(spec),
      length_(contig.length),
      position_(contig.length),
      rng_(Rng(spec.seed).split("documents").split(contig.name).split(static_cast<std::uint64_t>(pass))) {
    if (contig.length > 0) {
        position_ = draw_start(contig, spec, rng_);
    }
}

std::optional<DocumentPlan> DocumentPlanner::next() {
    if (position_ >= length_) {
        return std::nullopt;
    }
    DocumentPlan document;
    const std::int64_t count = rng_.between(spec_.sentences.low, spec_.sentences.high);
    for (std::int64_t i = 0; i < count && position_ < length_; ++i) {
        const std::int64_t length = rng_.between(spec_.sentence_length.low, spec_.sentence_length.high);
        const std::int64_t end = length_ - position_ > length ? position_ + length : length_;
        document.sentences.emplace_back(position_, end);
        position_ = end;
    }
    return document;
}

std::vector<DocumentPlan> plan_documents(const genome::Contig& contig, const DocumentSpec& spec, int pass) {
    std::vector<DocumentPlan> documents;
    DocumentPlanner planner(contig, spec, pass);
    while (std::optional<DocumentPlan> document = planner.next()) {
        documents.push_back(std::move(*document));
    }
    return documents;
}

}  // namespace bigbird::corpus
