// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/document_builder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/sequence.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace bigbird::corpus {

namespace {

constexpr std::int64_t bases_a_batch = 64'000'000;  // short contigs are worked on together
constexpr std::int64_t bases_a_chunk = 2'000'000;   // what one thread makes at a time
constexpr std::int64_t bases_a_fetch = 8'000'000;   // and reads

using Stretch = std::pair<std::int64_t, std::int64_t>;

struct LoadedContig {
    genome::Contig contig;
    std::string dna;
    std::vector<std::vector<DocumentPlan>> passes;
};

// Documents [first, last) of a pass over a contig.
struct Chunk {
    const LoadedContig* contig = nullptr;
    const std::vector<DocumentPlan>* pass = nullptr;
    std::size_t first = 0, last = 0;
};

struct Built {
    std::vector<PlacedDocument> documents;
    BuildCounts dropped;
    std::int64_t reach = 0;  // bases gone through
};

enum class Verdict { keep, outside_include, inside_exclude, too_much_n };

std::string_view bases_of(const LoadedContig& contig, const Stretch& sentence) {
    return std::string_view(contig.dna)
        .substr(static_cast<std::size_t>(sentence.first),
                static_cast<std::size_t>(sentence.second - sentence.first));
}

Verdict judge(const LoadedContig& contig, const Stretch& sentence, const BuildSpec& spec) {
    if (spec.include || !spec.exclude.empty()) {
        const Placement placement = placement_of({contig.contig.name, sentence.first, sentence.second}, spec);
        if (placement != Placement::kept) {
            return placement == Placement::outside_include ? Verdict::outside_include
                                                           : Verdict::inside_exclude;
        }
    }
    if (spec.max_n_fraction < 1 && genome::n_fraction(bases_of(contig, sentence)) > spec.max_n_fraction) {
        return Verdict::too_much_n;
    }
    return Verdict::keep;
}

std::string text_of(const LoadedContig& contig, const std::vector<Stretch>& sentences, bool reverse) {
    std::string text;
    for (const Stretch& sentence : sentences) {
        const std::string_view dna = bases_of(contig, sentence);
        if (reverse) {
            text += genome::reverse_complement(dna);
        } else {
            text += dna;
        }
        text += '\n';
    }
    return text;
}

void hand_in(const LoadedContig& contig, std::vector<Stretch>&& sentences, const BuildSpec& spec,
             BuildText text, Built& built) {
    if (sentences.empty()) {
        return;
    }
    PlacedDocument forward{contig.contig.name, false, std::move(sentences), {}};
    if (text == BuildText::yes) {
        forward.text = text_of(contig, forward.sentences, false);
    }
    built.documents.push_back(std::move(forward));
    if (spec.add_reverse_complement) {
        PlacedDocument reverse{contig.contig.name, true, built.documents.back().sentences, {}};
        std::reverse(reverse.sentences.begin(), reverse.sentences.end());
        if (text == BuildText::yes) {
            reverse.text = text_of(contig, reverse.sentences, true);
        }
        built.documents.push_back(std::move(reverse));
    }
}

Built build(const Chunk& chunk, const BuildSpec& spec, BuildText text) {
    Built built;
    built.reach = (*chunk.pass)[chunk.last - 1].sentences.back().second -
                  (*chunk.pass)[chunk.first].sentences.front().first;
    for (std::size_t d = chunk.first; d < chunk.last; ++d) {
        std::vector<Stretch> kept;
        for (const Stretch& sentence : (*chunk.pass)[d].sentences) {
            const Verdict verdict = judge(*chunk.contig, sentence, spec);
            if (verdict == Verdict::keep) {
                kept.push_back(sentence);
                continue;
            }
            built.dropped.outside_include += verdict == Verdict::outside_include ? 1 : 0;
            built.dropped.inside_exclude += verdict == Verdict::inside_exclude ? 1 : 0;
            built.dropped.too_much_n += verdict == Verdict::too_much_n ? 1 : 0;
            hand_in(*chunk.contig, std::move(kept), spec, text, built);
            kept.clear();
        }
        hand_in(*chunk.contig, std::move(kept), spec, text, built);
    }
    return built;
}

std::vector<LoadedContig> load(const genome::ReferenceGenome& genome, std::span<const genome::Contig> contigs,
                               const BuildSpec& spec, int threads) {
    std::vector<LoadedContig> loaded(contigs.size());
    std::vector<std::pair<LoadedContig*, std::int64_t>> pieces;  // and where they begin
    for (std::size_t i = 0; i < contigs.size(); ++i) {
        LoadedContig& contig = loaded[i];
        contig.contig = contigs[i];
        contig.dna.resize(static_cast<std::size_t>(contigs[i].length));
        contig.passes.resize(static_cast<std::size_t>(spec.documents.passes));
        for (std::int64_t begin = 0; begin < contigs[i].length; begin += bases_a_fetch) {
            pieces.emplace_back(&contig, begin);
        }
    }
    parallel_for(static_cast<std::int64_t>(pieces.size()), threads, [&](std::int64_t i) {
        stop_if_asked();
        const auto& [contig, begin] = pieces[static_cast<std::size_t>(i)];
        const std::int64_t end = std::min(begin + bases_a_fetch, contig->contig.length);
        const std::string dna = genome.fetch({contig->contig.name, begin, end});
        std::copy(dna.begin(), dna.end(), contig->dna.begin() + begin);
    });
    parallel_for(static_cast<std::int64_t>(contigs.size()) * spec.documents.passes, threads,
                 [&](std::int64_t i) {
                     LoadedContig& contig = loaded[static_cast<std::size_t>(i / spec.documents.passes)];
                     const auto pass = static_cast<int>(i % spec.documents.passes);
                     contig.passes[static_cast<std::size_t>(pass)] =
                         plan_documents(contig.contig, spec.documents, pass);
                 });
    return loaded;
}

std::vector<Chunk> cut_into_chunks(const std::vector<LoadedContig>& contigs) {
    std::vector<Chunk> chunks;
    for (const LoadedContig& contig : contigs) {
        for (const auto& pass : contig.passes) {
            for (std::size_t first = 0, last = 0; first < pass.size(); first = last) {
                const std::int64_t begin = pass[first].sentences.front().first;
                while (last < pass.size() &&
                       (last == first || pass[last].sentences.back().second - begin <= bases_a_chunk)) {
                    ++last;
                }
                chunks.push_back({&contig, &pass, first, last});
            }
        }
    }
    return chunks;
}

[[noreturn]] void fail_empty(const BuildCounts& counts, const BuildSpec& spec) {
    if (counts.too_much_n + counts.inside_exclude + counts.outside_include == 0) {
        throw InputError("the reference holds no sequence to build documents from");
    }
    throw InputError("no document is left: " + counts.describe(spec));
}

}  // namespace

void BuildSpec::validate() const {
    documents.validate();
    if (!(max_n_fraction >= 0 && max_n_fraction <= 1)) {
        throw ConfigError("--max-n-fraction must lie between 0 and 1");
    }
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
    if (include) {
        json["include-bases"] = include->bases();
    }
    if (!exclude.empty()) {
        json["exclude-bases"] = exclude.bases();
    }
    return json;
}

Placement placement_of(const genome::Interval& sentence, const BuildSpec& spec) {
    if (spec.include && !spec.include->contains(sentence)) {
        return Placement::outside_include;
    }
    return spec.exclude.overlaps(sentence) ? Placement::inside_exclude : Placement::kept;
}

std::int64_t PlacedDocument::bases() const {
    std::int64_t sum = 0;
    for (const Stretch& sentence : sentences) {
        sum += sentence.second - sentence.first;
    }
    return sum;
}

Document PlacedDocument::document() const {
    Document result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        result.sentences.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
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
    if (too_much_n + outside_include + inside_exclude == 0) {
        line << "no sentence dropped";
    }
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
        if (progress) {
            progress(reach);
        }
    };
    const auto contigs = genome.contigs();
    for (std::size_t first = 0, last = 0; first < contigs.size(); first = last) {
        std::int64_t bases = 0;
        for (; last < contigs.size() && (last == first || bases + contigs[last].length <= bases_a_batch);
             ++last) {
            bases += contigs[last].length;
        }
        const std::vector<LoadedContig> loaded =
            load(genome, contigs.subspan(first, last - first), spec, threads);
        const std::vector<Chunk> chunks = cut_into_chunks(loaded);
        ordered_pipeline<Built>(
            static_cast<std::int64_t>(chunks.size()), threads,
            [&](std::int64_t i) { return build(chunks[static_cast<std::size_t>(i)], spec, text); }, hand_out);
    }
    if (counts.documents == 0) {
        fail_empty(counts, spec);
    }
    return counts;
}

}  // namespace bigbird::corpus
