// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/shard_writer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/version.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <utility>

namespace bigbird::corpus {
namespace fs = std::filesystem;
namespace format = shard_format;

ElementFile::ElementFile(const fs::path& path, fs::path target, format::Header header)
    : name_(std::move(target)), header_(header), file_(std::fopen(path.c_str(), "wbe")) {
    constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
    if (!file_) throw_cannot_be_made(name_, errno);
    std::setvbuf(file_.get(), nullptr, _IOFBF, buffer_bytes);
    format::Header unfinished = header_;
    unfinished.magic = {};
    put(&unfinished, sizeof unfinished);
}

void ElementFile::finish() {
    if (std::fflush(file_.get()) != 0 || std::fseek(file_.get(), 0, SEEK_SET) != 0) fail();
    put(&header_, sizeof header_);
    if (std::fclose(file_.release()) != 0) fail();
}

void ElementFile::fail() const {
    throw WriteError(name_.string() + ": writing failed: " + std::strerror(errno));
}

void ElementFile::put(const void* bytes, std::size_t size) {
    if (std::fwrite(bytes, 1, size, file_.get()) != size) fail();
}

TokenShardWriter::TokenShardWriter(const fs::path& directory, const tokenizer::DnaTokenizer& tokenizer,
                                   Overwrite overwrite, std::int64_t shard_tokens)
    : output_(directory, overwrite, PendingOutput::Kind::folder),
      tokenizer_(tokenizer),
      shard_tokens_(shard_tokens),
      narrow_(tokenizer.vocab_size() <= format::largest_narrow_vocabulary),
      vocabulary_(format::fingerprint(tokenizer)),
      sentences_(open(format::sentences_file, format::Kind::sentence_ends, 8)),
      documents_(open(format::documents_file, format::Kind::document_ends, 8)) {
    BIGBIRD_EXPECTS(shard_tokens > 0, "a shard holds at least one token");
}

ElementFile TokenShardWriter::open(const std::string& name, format::Kind kind, std::uint32_t element_bytes,
                                   std::size_t number, std::int64_t first) {
    files_.push_back(name);
    return {output_.path() / name,
            output_.target() / name,
            {.kind = kind,
             .element_bytes = element_bytes,
             .number = static_cast<std::uint32_t>(number),
             .first = first,
             .vocabulary = vocabulary_}};
}

void TokenShardWriter::add_sentence(std::span<const std::int32_t> ids, std::int64_t bases) {
    if (ids.empty()) return;
    if (!shard_) {
        shard_.emplace(open(format::shard_file(shards_), format::Kind::tokens, narrow_ ? 2 : 4, shards_,
                            counts_.tokens));
        ++shards_;
    }
    if (narrow_) {
        narrow_ids_.assign(ids.begin(), ids.end());
        shard_->append<std::uint16_t>(narrow_ids_);
    } else {
        shard_->append<std::int32_t>(ids);
    }
    counts_.tokens += std::ssize(ids);
    is_marked_ = is_marked_ || std::ranges::max(ids) >= tokenizer_.vocab_size();
    sentences_.append<std::int64_t>({&counts_.tokens, 1});
    ++counts_.sentences;
    counts_.bases += bases;
}

void TokenShardWriter::end_shard() {
    if (shard_) shard_->finish();
    shard_.reset();
}

void TokenShardWriter::end_document() {
    if (counts_.sentences == sentences_of_documents_) return;
    sentences_of_documents_ = counts_.sentences;
    documents_.append<std::int64_t>({&counts_.sentences, 1});
    ++counts_.documents;
    if (shard_->count() >= shard_tokens_) end_shard();
}

Json TokenShardWriter::describe_files(int threads) const {
    std::vector<Json> described(files_.size());
    parallel_for(std::ssize(files_), threads, [&](std::int64_t i) {
        const fs::path path = output_.path() / files_[static_cast<std::size_t>(i)];
        described[static_cast<std::size_t>(i)] = {{"file", path.filename().string()},
                                                  {"bytes", fs::file_size(path)},
                                                  {"sha256", sha256_of_file(path)}};
    });
    return described;
}

PendingOutput& TokenShardWriter::finish(const Json& inputs, int threads) {
    if (counts_.documents == 0) throw InputError("the documents hold no sequence to tokenise");
    BIGBIRD_EXPECTS(sentences_of_documents_ == counts_.sentences, "a document was not ended");
    end_shard();
    sentences_.finish();
    documents_.finish();
    write_atomically(output_.path() / tokenizer_.file_name(), Overwrite::refuse,
                     [&](std::ostream& out) { out << tokenizer_.serialized(); });
    files_.emplace_back(tokenizer_.file_name());

    Json manifest;
    manifest["format"] = format::name;
    manifest["format_version"] = is_marked_ ? format::marked_version : static_cast<int>(format::version);
    manifest["made_by"] = "bigbird-dna " + std::string(version());
    manifest["documents"] = counts_.documents;
    manifest["sentences"] = counts_.sentences;
    manifest["tokens"] = counts_.tokens;
    manifest["bases"] = counts_.bases;
    manifest["token_bytes"] = narrow_ ? 2 : 4;
    manifest["vocab_size"] = tokenizer_.vocab_size();
    manifest["vocabulary_sha256"] = format::vocabulary_sha256(tokenizer_);
    manifest["inputs"] = inputs;
    manifest["files"] = describe_files(threads);
    write_json(output_.path() / format::manifest_file, manifest, Overwrite::refuse);
    return output_;
}

}  // namespace bigbird::corpus
