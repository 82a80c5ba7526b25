// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_builder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

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

constexpr std::int64_t bases_per_chunk = 2'000'000;  // bases that one thread reads and processes at a time

// Consecutive documents of one segment and of one pass over a contig.
struct Chunk {
    std::int64_t pass = 0, segment = 0;  // pass: over all contigs; segment: of a job in parts
    genome::Interval where{};
    std::vector<std::vector<Stretch>> documents{};
};

// Cuts chunks contig by contig, pass by pass.
class ChunkSource {
public:
    ChunkSource(std::span<const genome::Contig> contigs, const DocumentSpec& spec,
                const std::optional<Shard>& shard)
        : contigs_(contigs), spec_(spec) {
        std::int64_t bases = 0;
        for (const genome::Contig& contig : contigs)
            bases += contig.length * spec.passes;
        if (shard) segments_.emplace(bases, *shard);
    }

    std::optional<Chunk> next() {
        std::optional<Chunk> chunk;
        while (!chunk || chunk->where.size() < bases_per_chunk) {
            if (!ahead_) ahead_ = next_document();
            if (!ahead_) break;
            if (!chunk) {
                chunk = std::exchange(ahead_, std::nullopt);
                continue;
            }
            if (ahead_->pass != chunk->pass || ahead_->segment != chunk->segment) break;
            chunk->where.end = ahead_->where.end;
            chunk->documents.push_back(std::move(ahead_->documents.front()));
            ahead_.reset();
        }
        return chunk;
    }

private:
    // The part's next document, as a chunk.
    std::optional<Chunk> next_document() {
        for (; pass_ < std::ssize(contigs_) * spec_.passes; ++pass_, planner_.reset()) {
            const genome::Contig& contig = contigs_[static_cast<std::size_t>(pass_ / spec_.passes)];
            if (!planner_) planner_.emplace(contig, spec_, static_cast<int>(pass_ % spec_.passes));
            while (std::optional<std::vector<Stretch>> document = planner_->next()) {
                const genome::Interval where{contig.name, document->front().first, document->back().second};
                const std::int64_t segment = segments_ ? segments_->next(false, where.size()) : 0;
                if (!segments_ || segments_->is_mine(segment))
                    return Chunk{pass_, segment, where, {std::move(*document)}};
            }
        }
        return std::nullopt;
    }

    std::span<const genome::Contig> contigs_;
    const DocumentSpec& spec_;
    std::int64_t pass_ = 0;
    std::optional<DocumentPlanner> planner_;
    std::optional<SegmentCounter> segments_;
    std::optional<Chunk> ahead_;  // already drawn, but of another chunk
};

// The sequence that a chunk reads.
struct ChunkBases {
    genome::Interval where;
    std::string dna;  // empty if it is not read

    std::string_view of(const Stretch& sentence) const {
        return std::string_view(dna).substr(static_cast<std::size_t>(sentence.first - where.begin),
                                            static_cast<std::size_t>(sentence.second - sentence.first));
    }
};

struct Built {
    std::vector<PlacedDocument> documents;
    BuildCounts dropped;
    std::int64_t reach = 0;  // bases processed
};

// The count of why a sentence is dropped; null if it is kept.
std::int64_t BuildCounts::*reason_to_drop(const ChunkBases& bases, const Stretch& sentence,
                                          const BuildSpec& spec) {
    const genome::Interval where{bases.where.contig, sentence.first, sentence.second};
    if (spec.include && !spec.include->contains(where)) return &BuildCounts::outside_include;
    if (!spec.exclude.empty() && spec.exclude.overlaps(where)) return &BuildCounts::inside_exclude;
    if (!bases.dna.empty() && spec.max_n_fraction < 1 &&
        genome::n_fraction(bases.of(sentence)) > spec.max_n_fraction)
        return &BuildCounts::too_much_n;
    return nullptr;
}

void hand_in(const ChunkBases& bases, std::int64_t segment, const std::vector<Stretch>& sentences,
             const BuildSpec& spec, BuildText text, Built& built) {
    if (sentences.empty()) return;
    for (const bool reverse : {false, true}) {
        if (reverse && !spec.add_reverse_complement) break;
        PlacedDocument placed{bases.where.contig, reverse, sentences, {}, segment};
        if (reverse) std::ranges::reverse(placed.sentences);
        for (std::size_t i = 0; text == BuildText::yes && i < sentences.size(); ++i) {
            const std::string_view dna = bases.of(placed.sentences[i]);
            placed.document.sentences.push_back(reverse ? genome::reverse_complement(dna) : std::string(dna));
        }
        built.documents.push_back(std::move(placed));
    }
}

Built build(const genome::ReferenceGenome& genome, const Chunk& chunk, const BuildSpec& spec,
            BuildText text) {
    stop_if_asked();
    const ChunkBases bases{chunk.where, text == BuildText::unread ? "" : genome.fetch(chunk.where)};
    Built built;
    built.reach = chunk.where.size();
    for (const std::vector<Stretch>& document : chunk.documents) {
        std::vector<Stretch> kept;
        for (const Stretch& sentence : document) {
            const auto reason = reason_to_drop(bases, sentence, spec);
            if (reason == nullptr) {
                kept.push_back(sentence);
                continue;
            }
            ++(built.dropped.*reason);
            hand_in(bases, chunk.segment, kept, spec, text, built);
            kept.clear();
        }
        hand_in(bases, chunk.segment, kept, spec, text, built);
    }
    return built;
}

[[noreturn]] void fail_empty(const BuildCounts& counts, const BuildSpec& spec) {
    if (counts.too_much_n + counts.inside_exclude + counts.outside_include == 0)
        throw InputError("the reference holds no sequence to build documents from");
    throw InputError("no document is left: " + counts.describe(spec));
}

}  // namespace

void DocumentSpec::validate() const {
    if (passes < 1) throw ConfigError("--passes must be at least 1");
    check(sentences, 1, "--sentences");
    check(sentence_length, 1, "--sentence-length");
    check(start_offset, 0, "--start-offset");
}

DocumentPlanner::DocumentPlanner(const genome::Contig& contig, const DocumentSpec& spec, int pass)
    : spec_(spec),
      length_(contig.length),
      position_(contig.length),
      rng_(Rng(spec.seed).split("documents").split(contig.name).split(static_cast<std::uint64_t>(pass))) {
    if (contig.length > 0) position_ = draw_start(contig, spec, rng_);
}

std::optional<std::vector<Stretch>> DocumentPlanner::next() {
    if (position_ >= length_) return std::nullopt;
    std::vector<Stretch> document;
    const std::int64_t count = rng_.between(spec_.sentences.low, spec_.sentences.high);
    for (std::int64_t i = 0; i < count && position_ < length_; ++i) {
        const std::int64_t length = rng_.between(spec_.sentence_length.low, spec_.sentence_length.high);
        const std::int64_t end = length_ - position_ > length ? position_ + length : length_;
        document.emplace_back(position_, end);
        position_ = end;
    }
    return document;
}

void BuildSpec::validate() const {
    documents.validate();
    if (!(max_n_fraction >= 0 && max_n_fraction <= 1))
        throw ConfigError("--max-n-fraction must lie between 0 and 1");
}

Json BuildSpec::parameters() const {
    const auto range = [](const Range& values) {
        return std::to_string(values.low) + ":" + std::to_string(values.high);
    };
    Json json;
    json["passes"] = documents.passes;
    json["sentences"] = range(documents.sentences);
    json["sentence-length"] = range(documents.sentence_length);
    json["start-offset"] = range(documents.start_offset);
    json["max-n-fraction"] = max_n_fraction;
    json["reverse-complement"] = add_reverse_complement ? "add" : "none";
    json["seed"] = documents.seed;
    if (include) json["include-bases"] = include->bases();
    if (!exclude.empty()) json["exclude-bases"] = exclude.bases();
    return json;
}

std::int64_t PlacedDocument::bases() const {
    std::int64_t sum = 0;
    for (const Stretch& sentence : sentences)
        sum += sentence.second - sentence.first;
    return sum;
}

std::string BuildCounts::describe(const BuildSpec& spec) const {
    std::ostringstream line;
    line << documents << " documents, " << sentences << " sentences, " << bases << " bases; ";
    const char* separator = "sentences dropped: ";
    const auto say = [&](std::int64_t count, const std::string& why) {
        if (count > 0) {
            line << separator << count << ' ' << why;
            separator = ", ";
        }
    };
    std::ostringstream percent;
    percent << 100 * spec.max_n_fraction;
    say(too_much_n, "with more than " + percent.str() + " % N");
    say(outside_include, "not inside --include");
    say(inside_exclude, "overlapping --exclude");
    if (too_much_n + outside_include + inside_exclude == 0) line << "no sentence dropped";
    return line.str();
}

BuildCounts build_documents(const genome::ReferenceGenome& genome, const BuildSpec& spec, BuildText text,
                            int threads, const std::function<void(PlacedDocument&&)>& consume,
                            const std::function<void(std::int64_t)>& progress) {
    spec.validate();
    BuildCounts counts;
    std::int64_t reach = 0;
    const auto hand_out = [&](Built&& built) {
        stop_if_asked();
        counts.outside_include += built.dropped.outside_include;
        counts.inside_exclude += built.dropped.inside_exclude;
        counts.too_much_n += built.dropped.too_much_n;
        for (PlacedDocument& document : built.documents) {
            ++counts.documents;
            counts.sentences += static_cast<std::int64_t>(document.sentences.size());
            counts.bases += document.bases();
            consume(std::move(document));
        }
        reach += built.reach;
        if (progress) progress(reach);
    };
    ChunkSource chunks(genome.contigs(), spec.documents, spec.shard);
    ordered_stream<Chunk, Built>(
        threads, [&] { return chunks.next(); },
        [&](Chunk&& chunk) { return build(genome, chunk, spec, text); }, hand_out);
    if (counts.documents == 0 && !spec.shard && text != BuildText::unread) fail_empty(counts, spec);
    return counts;
}

BuildSpec DrawingSpec::on(const genome::ReferenceGenome& genome, std::uint64_t seed) const {
    BuildSpec spec = build;
    spec.documents.seed = seed;
    spec.validate();
    if (!include.empty()) spec.include = genome::read_region_set(genome, include, "--include");
    if (!exclude.empty()) spec.exclude = genome::read_region_set(genome, exclude, "--exclude");
    return spec;
}

}  // namespace bigbird::corpus
