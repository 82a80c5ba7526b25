// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/shard_writer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/version.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace bigbird::corpus {
namespace fs = std::filesystem;
namespace format = shard_format;

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// A file of elements after a header. The header is filled in at the end, so that an unfinished file can be
/// recognized.
class ElementFile {
public:
    ElementFile(const fs::path& path, const fs::path& target, format::Header header)
        : name_(target / path.filename()), header_(header), file_(std::fopen(path.c_str(), "wbe")) {
        if (!file_) throw_cannot_be_made(name_, errno);
        std::setvbuf(file_.get(), nullptr, _IOFBF, buffer_bytes);
        format::Header unfinished = header_;
        unfinished.magic = {};
        put(&unfinished, sizeof unfinished);
    }

    template <typename Element>
    void append(std::span<const Element> elements) {
        put(elements.data(), elements.size_bytes());
        header_.count += static_cast<std::int64_t>(elements.size());
    }

    const format::Header& header() const { return header_; }

    void finish() {
        if (std::fflush(file_.get()) != 0 || std::fseek(file_.get(), 0, SEEK_SET) != 0) fail();
        put(&header_, sizeof header_);
        if (std::fclose(file_.release()) != 0) fail();
    }

private:
    [[noreturn]] void fail() const {
        throw WriteError(name_.string() + ": writing failed: " + std::strerror(errno));
    }

    void put(const void* bytes, std::size_t size) {
        if (std::fwrite(bytes, 1, size, file_.get()) != size) fail();
    }

    fs::path name_;  // for messages: the file's final path
    format::Header header_;
    std::unique_ptr<std::FILE, CloseFile> file_;
};

}  // namespace

struct TokenShardWriter::State {
    State(const fs::path& directory, const tokenizer::DnaTokenizer& with, Overwrite overwrite,
          std::int64_t tokens)
        : output(directory, overwrite, PendingOutput::Kind::folder),
          tokenizer(with),
          shard_tokens(tokens),
          narrow(with.vocab_size() <= format::largest_narrow_vocabulary),
          vocabulary(format::fingerprint(with)),
          sentences(open(format::sentences_file, format::Kind::sentence_ends, 8, 0, 0)),
          documents(open(format::documents_file, format::Kind::document_ends, 8, 0, 0)) {}

    ElementFile open(const std::string& name, format::Kind kind, std::uint32_t element_bytes,
                     std::uint32_t number, std::int64_t first) {
        format::Header header;
        header.kind = kind;
        header.element_bytes = element_bytes;
        header.number = number;
        header.first = first;
        header.vocabulary = vocabulary;
        files.push_back(name);
        return {output.path() / name, output.target(), header};
    }

    void add_tokens(std::span<const std::int32_t> ids) {
        if (!shard) {
            shard.emplace(open(format::shard_file(shards), format::Kind::tokens, narrow ? 2 : 4,
                               static_cast<std::uint32_t>(shards), counts.tokens));
            ++shards;
        }
        if (narrow) {
            narrow_ids.assign(ids.begin(), ids.end());
            shard->append<std::uint16_t>(narrow_ids);
        } else {
            shard->append<std::int32_t>(ids);
        }
        counts.tokens += static_cast<std::int64_t>(ids.size());
        is_marked = is_marked || std::ranges::max(ids) >= tokenizer.vocab_size();
    }

    void end_shard() {
        if (shard) {
            shard->finish();
            shard.reset();
        }
    }

    Json describe_files(int threads) const {
        std::vector<Json> described(files.size());
        parallel_for(static_cast<std::int64_t>(files.size()), threads, [&](std::int64_t i) {
            const fs::path path = output.path() / files[static_cast<std::size_t>(i)];
            described[static_cast<std::size_t>(i)] = {{"file", path.filename().string()},
                                                      {"bytes", fs::file_size(path)},
                                                      {"sha256", sha256_of_file(path)}};
        });
        return described;
    }

    PendingOutput output;
    tokenizer::DnaTokenizer tokenizer;
    std::int64_t shard_tokens;
    bool narrow, is_marked = false;
    std::array<std::uint8_t, 32> vocabulary;
    TokenCounts counts;
    std::size_t shards = 0;
    std::vector<std::string> files;
    ElementFile sentences, documents;
    std::optional<ElementFile> shard;
    std::vector<std::uint16_t> narrow_ids;
    std::int64_t sentences_of_documents = 0;
};

TokenShardWriter::TokenShardWriter(const fs::path& directory, const tokenizer::DnaTokenizer& tokenizer,
                                   Overwrite overwrite, std::int64_t shard_tokens)
    : state_(std::make_unique<State>(directory, tokenizer, overwrite, shard_tokens)) {
    BIGBIRD_EXPECTS(shard_tokens > 0, "a shard holds at least one token");
}

TokenShardWriter::~TokenShardWriter() = default;

void TokenShardWriter::add_sentence(std::span<const std::int32_t> ids, std::int64_t bases) {
    if (ids.empty()) return;
    state_->add_tokens(ids);
    state_->sentences.append<std::int64_t>({&state_->counts.tokens, 1});
    ++state_->counts.sentences;
    state_->counts.bases += bases;
}

void TokenShardWriter::end_document() {
    State& state = *state_;
    if (state.counts.sentences == state.sentences_of_documents) return;
    state.sentences_of_documents = state.counts.sentences;
    state.documents.append<std::int64_t>({&state.counts.sentences, 1});
    ++state.counts.documents;
    if (state.shard->header().count >= state.shard_tokens) state.end_shard();
}

const TokenCounts& TokenShardWriter::counts() const {
    return state_->counts;
}

PendingOutput& TokenShardWriter::finish(const Json& inputs, int threads) {
    State& state = *state_;
    if (state.counts.documents == 0) throw InputError("the documents hold no sequence to tokenise");
    BIGBIRD_EXPECTS(state.sentences_of_documents == state.counts.sentences, "a document was not ended");
    state.end_shard();
    state.sentences.finish();
    state.documents.finish();
    write_atomically(state.output.path() / state.tokenizer.file_name(), Overwrite::refuse,
                     [&](std::ostream& out) { out << state.tokenizer.serialized(); });
    state.files.emplace_back(state.tokenizer.file_name());

    Json manifest;
    manifest["format"] = format::name;
    manifest["format_version"] = state.is_marked ? format::marked_version : static_cast<int>(format::version);
    manifest["made_by"] = "bigbird-dna " + std::string(version());
    manifest["documents"] = state.counts.documents;
    manifest["sentences"] = state.counts.sentences;
    manifest["tokens"] = state.counts.tokens;
    manifest["bases"] = state.counts.bases;
    manifest["token_bytes"] = state.narrow ? 2 : 4;
    manifest["vocab_size"] = state.tokenizer.vocab_size();
    manifest["vocabulary_sha256"] = format::hex(state.vocabulary);
    manifest["inputs"] = inputs;
    manifest["files"] = state.describe_files(threads);
    write_json(state.output.path() / format::manifest_file, manifest, Overwrite::refuse);
    return state.output;
}

void TokenShardWriter::commit(const Json& inputs, int threads) {
    finish(inputs, threads).commit();
}

}  // namespace bigbird::corpus
