// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/document_plan.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

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

std::vector<DocumentPlan> plan_documents(const genome::Contig& contig, const DocumentSpec& spec, int pass) {
    std::vector<DocumentPlan> documents;
    if (contig.length < 1) {
        return documents;
    }
    Rng rng = Rng(spec.seed).split("documents").split(contig.name).split(static_cast<std::uint64_t>(pass));
    std::int64_t position = draw_start(contig, spec, rng);
    while (position < contig.length) {
        DocumentPlan document;
        const std::int64_t count = rng.between(spec.sentences.low, spec.sentences.high);
        for (std::int64_t i = 0; i < count && position < contig.length; ++i) {
            const std::int64_t length = rng.between(spec.sentence_length.low, spec.sentence_length.high);
            const std::int64_t end = contig.length - position > length ? position + length : contig.length;
            document.sentences.emplace_back(position, end);
            position = end;
        }
        documents.push_back(std::move(document));
    }
    return documents;
}

}  // namespace bigbird::corpus
