// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/tokenize.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace bigbird::corpus {

namespace {
constexpr std::int64_t bases_at_once = 8'000'000;

bool is_lower(char letter) {
    return letter >= 'a';
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

BatchTokenizer::BatchTokenizer(const tokenizer::DnaTokenizer& tokenizer, int threads, TokenSink sink)
    : tokenizer_(tokenizer), threads_(threads), sink_(std::move(sink)) {}

void BatchTokenizer::add(Document&& document) {
    for (const std::string& sentence : document.sentences)
        bases_ += static_cast<std::int64_t>(sentence.size());
    batch_.push_back(std::move(document));
    if (bases_ >= bases_at_once) finish();
}

void BatchTokenizer::finish() {
    stop_if_asked();
    std::vector<std::vector<std::vector<std::int32_t>>> ids(batch_.size());  // (documents, sentences, tokens)
    parallel_for(static_cast<std::int64_t>(batch_.size()), threads_, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        for (const std::string& sentence : batch_[at].sentences)
            ids[at].push_back(encode_marked(tokenizer_, sentence));
    });
    for (std::size_t d = 0; d < batch_.size(); ++d) {
        for (std::size_t s = 0; s < ids[d].size(); ++s)
            sink_.sentence(ids[d][s], static_cast<std::int64_t>(batch_[d].sentences[s].size()));
        sink_.document_end();
    }
    batch_.clear();
    bases_ = 0;
}

namespace {

constexpr std::size_t bases_a_batch = 1'000'000;

struct EncodedSentence {
    std::size_t end = 0;  // end of its ids in the batch
    std::int64_t bases = 0;
    bool last = false;  // last sentence of its document
};

struct EncodedBatch {
    std::vector<std::int32_t> ids;
    std::vector<EncodedSentence> sentences;
};

/// The documents of a part, or all.
class DocumentShare {
public:
    DocumentShare(DocumentReader& documents, const std::optional<Shard>& shard)
        : documents_(documents), shard_(shard.value_or(Shard{})) {}
    std::optional<Document> next() {
        while (std::optional<Document> document = documents_.next())
            if (number_++ % shard_.count == shard_.number - 1) return document;
        return std::nullopt;
    }

private:
    DocumentReader& documents_;
    Shard shard_;
    std::int64_t number_ = 0;
};

std::optional<std::vector<Document>> next_batch(DocumentShare& documents) {
    std::vector<Document> batch;
    std::size_t bases = 0;
    while (bases < bases_a_batch) {
        std::optional<Document> document = documents.next();
        if (!document) break;
        for (const std::string& sentence : document->sentences)
            bases += sentence.size();
        batch.push_back(std::move(*document));
    }
    return batch.empty() ? std::nullopt : std::optional(std::move(batch));
}

EncodedBatch encode(const std::vector<Document>& batch, const tokenizer::DnaTokenizer& tokenizer) {
    EncodedBatch encoded;
    for (const Document& document : batch) {
        for (const std::string& sentence : document.sentences) {
            const std::vector<std::int32_t> ids = encode_marked(tokenizer, sentence);
            encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
            encoded.sentences.push_back(
                {encoded.ids.size(), static_cast<std::int64_t>(sentence.size()), false});
        }
        encoded.sentences.back().last = true;
    }
    return encoded;
}

}  // namespace

std::vector<PartSegment> tokenize_documents(DocumentReader& documents,
                                            const tokenizer::DnaTokenizer& tokenizer, int threads,
                                            TokenShardWriter& writer,
                                            const std::function<void(const TokenCounts&)>& progress,
                                            const std::optional<Shard>& shard) {
    DocumentShare share(documents, shard);
    std::vector<PartSegment> segments;
    const std::function produce = [&] { return next_batch(share); };
    const std::function make = [&](std::vector<Document>&& batch) { return encode(batch, tokenizer); };
    const std::function consume = [&](EncodedBatch&& batch) {
        stop_if_asked();
        std::size_t begin = 0;
        for (const EncodedSentence& sentence : batch.sentences) {
            writer.add_sentence(std::span(batch.ids).subspan(begin, sentence.end - begin), sentence.bases);
            begin = sentence.end;
            if (sentence.last) {
                const std::int64_t before = writer.counts().documents;
                writer.end_document();
                if (shard) {
                    const std::int64_t number = shard->number - 1 + std::ssize(segments) * shard->count;
                    segments.push_back({number, writer.counts().documents - before});
                }
            }
        }
        progress(writer.counts());
    };
    ordered_stream<std::vector<Document>, EncodedBatch>(threads, produce, make, consume);
    return segments;
}

void tokenize_genome(const genome::ReferenceGenome& genome, const BuildSpec& spec,
                     const tokenizer::DnaTokenizer& tokenizer, int threads, TokenShardWriter& writer) {
    BatchTokenizer documents(tokenizer, threads,
                             {.sentence = [&](std::span<const std::int32_t> ids,
                                              std::int64_t bases) { writer.add_sentence(ids, bases); },
                              .document_end = [&] { writer.end_document(); }});
    build_documents(genome, spec, BuildText::yes, threads,
                    [&](PlacedDocument&& document) { documents.add(document.document()); });
    documents.finish();
}

InputChecksums::InputChecksums(std::filesystem::path documents,
                               std::vector<std::filesystem::path> references) {
    for (std::filesystem::path& reference : references)
        reference = genome::fasta_of(reference);
    references.insert(references.begin(), std::move(documents));
    thread_ = std::jthread([this, files = std::move(references)](const std::stop_token& stop) {
        try {
            Json inputs = Json::array();
            for (const std::filesystem::path& file : files) {
                const auto between = [&] {
                    if (stop.stop_requested()) throw InputError("reading was given up", file);
                };
                Json sum =
                    std::filesystem::is_regular_file(file) ? Json(sha256_of_file(file, between)) : Json();
                inputs.push_back(
                    {{"role", inputs.empty() ? "documents" : "reference"}, {"sha256", std::move(sum)}});
            }
            promise_.set_value(std::move(inputs));
        } catch (...) {
            promise_.set_exception(std::current_exception());
        }
    });
}

}  // namespace bigbird::corpus
