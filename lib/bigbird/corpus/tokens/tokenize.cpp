// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/tokenize.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bigbird::corpus {

namespace {

constexpr std::int64_t bases_per_batch = 1'000'000;          // that one thread encodes at once
constexpr std::int64_t bases_of_genome_at_once = 8'000'000;  // that all threads encode at once

bool is_lower(char letter) {
    return letter >= 'a';
}

struct EncodedDocument {
    std::vector<std::int32_t> ids;
    std::vector<std::pair<std::size_t, std::int64_t>> sentences;  // the end of its ids, its bases
};

EncodedDocument encode(const Document& document, const tokenizer::DnaTokenizer& tokenizer) {
    EncodedDocument encoded;
    for (const std::string& sentence : document.sentences) {
        const std::vector<std::int32_t> ids = encode_marked(tokenizer, sentence);
        encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
        encoded.sentences.emplace_back(encoded.ids.size(), std::ssize(sentence));
    }
    return encoded;
}

void pass_on(const std::vector<EncodedDocument>& documents, const TokenSink& sink) {
    stop_if_asked();
    for (const EncodedDocument& document : documents) {
        std::size_t begin = 0;
        for (const auto& [end, bases] : document.sentences) {
            sink.sentence(std::span(document.ids).subspan(begin, end - begin), bases);
            begin = end;
        }
        sink.document_end();
    }
}

}  // namespace

std::vector<std::int32_t> encode_marked(const tokenizer::DnaTokenizer& tokenizer,
                                        const std::string& sentence) {
    if (std::ranges::none_of(sentence, is_lower)) return tokenizer.encode(sentence);
    std::string upper = sentence;
    genome::normalise(upper);
    tokenizer::Encoding encoding = tokenizer.encode_with_spans(upper);
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
        const auto [begin, end] = encoding.spans[i];
        const std::string_view letters = std::string_view(sentence).substr(begin, end - begin);
        if (2 * std::ranges::count_if(letters, is_lower) >= std::ssize(letters))
            encoding.ids[i] += tokenizer.vocab_size();
    }
    return std::move(encoding.ids);
}

void tokenize(const std::function<std::optional<Document>()>& next_document,
              const tokenizer::DnaTokenizer& tokenizer, int threads, const TokenSink& sink) {
    using Documents = std::vector<Document>;
    using Encoded = std::vector<EncodedDocument>;
    const std::function produce = [&]() -> std::optional<Documents> {
        Documents batch;
        for (std::int64_t bases = 0; bases < bases_per_batch;) {
            std::optional<Document> document = next_document();
            if (!document) break;
            for (const std::string& sentence : document->sentences)
                bases += std::ssize(sentence);
            batch.push_back(std::move(*document));
        }
        return batch.empty() ? std::nullopt : std::optional(std::move(batch));
    };
    const std::function make = [&](Documents&& batch) {
        Encoded encoded;
        for (const Document& document : batch)
            encoded.push_back(encode(document, tokenizer));
        return encoded;
    };
    const std::function consume = [&](Encoded&& encoded) { pass_on(encoded, sink); };
    ordered_stream<Documents, Encoded>(threads, produce, make, consume);
}

void tokenize_genome(const genome::ReferenceGenome& genome, const BuildSpec& spec,
                     const tokenizer::DnaTokenizer& tokenizer, int threads, const TokenSink& sink) {
    std::vector<PlacedDocument> batch;
    std::int64_t bases = 0;
    const auto encode_batch = [&] {
        std::vector<EncodedDocument> encoded(batch.size());
        parallel_for(std::ssize(batch), threads, [&](std::int64_t i) {
            const auto at = static_cast<std::size_t>(i);
            encoded[at] = encode(batch[at].document, tokenizer);
        });
        pass_on(encoded, sink);
        batch.clear();
        bases = 0;
    };
    build_documents(genome, spec, BuildText::yes, threads, [&](PlacedDocument&& document) {
        bases += document.bases();
        batch.push_back(std::move(document));
        if (bases >= bases_of_genome_at_once) encode_batch();
    });
    encode_batch();
}

std::vector<PartSegment> tokenize_documents(DocumentReader& documents,
                                            const tokenizer::DnaTokenizer& tokenizer, int threads,
                                            TokenShardWriter& writer,
                                            const std::function<void(const TokenCounts&)>& progress,
                                            const std::optional<Shard>& shard) {
    std::vector<PartSegment> segments;
    std::int64_t number = 0, reported = 0;  // reported: bases at the last call of `progress`
    const auto next = [&] {
        std::optional<Document> document = documents.next();
        while (document && shard && number++ % shard->count != shard->number - 1)
            document = documents.next();
        return document;
    };
    const auto end_document = [&] {
        const std::int64_t before = writer.counts().documents;
        writer.end_document();
        if (shard) {
            segments.push_back({shard->number - 1 + std::ssize(segments) * shard->count,
                                writer.counts().documents - before});
        }
        if (writer.counts().bases - reported >= bases_per_batch) {
            progress(writer.counts());
            reported = writer.counts().bases;
        }
    };
    tokenize(next, tokenizer, threads,
             {.sentence = [&](std::span<const std::int32_t> ids,
                              std::int64_t bases) { writer.add_sentence(ids, bases); },
              .document_end = end_document});
    progress(writer.counts());
    return segments;
}

InputChecksums::InputChecksums(std::filesystem::path documents,
                               std::vector<std::filesystem::path> references) {
    for (std::filesystem::path& reference : references)
        reference = genome::fasta_of(reference);
    references.insert(references.begin(), std::move(documents));
    result_ = std::async(std::launch::async, [stop = stop_.get_token(), files = std::move(references)] {
        Json inputs = Json::array();
        for (const std::filesystem::path& file : files) {
            const auto between = [&] {
                if (stop.stop_requested()) throw InputError("reading was given up", file);
            };
            Json sum = std::filesystem::is_regular_file(file) ? Json(sha256_of_file(file, between)) : Json();
            inputs.push_back(
                {{"role", inputs.empty() ? "documents" : "reference"}, {"sha256", std::move(sum)}});
        }
        return inputs;
    });
}

}  // namespace bigbird::corpus
