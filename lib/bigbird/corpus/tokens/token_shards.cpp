// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_shards.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/formats/whole_number.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/corpus/tokens/shard_format.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace bigbird::corpus {
namespace fs = std::filesystem;
namespace format = shard_format;

namespace {

Json read_manifest(const fs::path& directory) {
    const fs::path path = directory / format::manifest_file;
    std::error_code error;
    if (!fs::is_directory(directory, error) || !fs::exists(path, error)) {
        throw InputError("is no folder of token shards; make one with tokenize", directory);
    }
    Json manifest = read_json(path);
    if (!manifest.is_object() || manifest.value("format", Json()) != format::name) {
        throw InputError("describes no token shards; make them with tokenize", path);
    }
    const Json found = manifest.value("format_version", Json());
    if (found != format::version) {
        throw InputError("is of version " + found.dump() + ", this program reads " +
                             std::to_string(format::version) + "; run tokenize again with this program",
                         path);
    }
    return manifest;
}

/// A file of the corpus, its header checked against what the manifest lets expect.
struct MappedShard {
    MappedFile file;
    format::Header header;

    const std::byte* elements() const { return file.bytes().data() + sizeof(format::Header); }
    template <typename Element>
    std::span<const Element> as() const {
        return {reinterpret_cast<const Element*>(elements()), static_cast<std::size_t>(header.count)};
    }
};

MappedShard map_shard(const fs::path& path, format::Kind kind, std::size_t number, std::int64_t first,
                      const std::array<std::uint8_t, 32>& vocabulary) {
    MappedFile file(path);
    const format::Header header = format::parse_header(file.bytes(), path);
    if (header.vocabulary != vocabulary) {
        throw InputError("was made with another tokenizer than the one beside it; run tokenize again", path);
    }
    if (header.kind != kind || header.number != number || header.first != first) {
        throw InputError("does not belong in this place; copy the whole folder again, or run tokenize again",
                         path);
    }
    return {std::move(file), header};
}

template <typename Id>
void append(const std::byte* elements, std::int64_t begin, std::int64_t end, std::vector<std::int32_t>& out) {
    const Id* const ids = reinterpret_cast<const Id*>(elements);
    out.insert(out.end(), ids + begin, ids + end);
}

}  // namespace

struct TokenShards::State {
    explicit State(const fs::path& folder)
        : directory(folder),
          manifest(read_manifest(folder)),
          tokenizer(tokenizer::DnaTokenizer::load(folder)),
          vocabulary(format::fingerprint(tokenizer)) {
        read_counts();
        for (std::int64_t first = 0; first < counts.tokens || shards.empty();) {
            const std::size_t number = shards.size();
            shards.push_back(map_shard(directory / format::shard_file(number), format::Kind::tokens, number,
                                       first, vocabulary));
            const MappedShard& shard = shards.back();
            if (shard.header.count == 0 ||
                shard.header.element_bytes != shards.front().header.element_bytes) {
                throw InputError("has a damaged header; run tokenize again", shard.file.path());
            }
            first += shard.header.count;
            shard_ends.push_back(first);
        }
        sentences = map_ends(format::sentences_file, format::Kind::sentence_ends, counts.sentences,
                             shard_ends.back());
        documents =
            map_ends(format::documents_file, format::Kind::document_ends, counts.documents, counts.sentences);
        if (shard_ends.back() != counts.tokens) {
            throw InputError("does not fit its shards; copy the whole folder again, or run tokenize again",
                             directory / format::manifest_file);
        }
    }

    std::span<const std::int64_t> sentence_ends() const { return sentences->as<std::int64_t>(); }
    std::span<const std::int64_t> document_ends() const { return documents->as<std::int64_t>(); }

    fs::path directory;
    Json manifest;
    tokenizer::DnaTokenizer tokenizer;
    std::array<std::uint8_t, 32> vocabulary;
    TokenCounts counts;
    std::vector<MappedShard> shards;
    std::vector<std::int64_t> shard_ends;  // tokens up to and including each
    std::optional<MappedShard> sentences, documents;

private:
    void read_counts() {
        try {
            counts = {whole_number(manifest, "documents"), whole_number(manifest, "sentences"),
                      whole_number(manifest, "tokens"), whole_number(manifest, "bases")};
        } catch (const Json::exception&) {
            throw InputError("lacks a count; run tokenize again", directory / format::manifest_file);
        }
    }

    MappedShard map_ends(const char* name, format::Kind kind, std::int64_t count, std::int64_t last) const {
        MappedShard ends = map_shard(directory / name, kind, 0, 0, vocabulary);
        const auto values = ends.as<std::int64_t>();
        if (ends.header.count != count || (count > 0 && values.back() != last)) {
            throw InputError(
                "does not fit the other files; copy the whole folder again, or run tokenize again",
                ends.file.path());
        }
        return ends;
    }
};

TokenShards::TokenShards(const fs::path& directory) : state_(std::make_shared<const State>(directory)) {}

TokenShards::TokenShards(const fs::path& directory, const tokenizer::DnaTokenizer& tokenizer)
    : TokenShards(directory) {
    if (state_->vocabulary != format::fingerprint(tokenizer)) {
        throw InputError(
            "was made with another --tokenizer or --input than the one given; run tokenize with that one",
            directory);
    }
}

const TokenCounts& TokenShards::counts() const {
    return state_->counts;
}

const tokenizer::DnaTokenizer& TokenShards::tokenizer() const {
    return state_->tokenizer;
}

const Json& TokenShards::manifest() const {
    return state_->manifest;
}

const fs::path& TokenShards::directory() const {
    return state_->directory;
}

std::span<const std::int64_t> TokenShards::sentence_ends() const {
    return state_->sentence_ends();
}

std::span<const std::int64_t> TokenShards::document_ends() const {
    return state_->document_ends();
}

void TokenShards::append_ids(const IndexRange& tokens, std::vector<std::int32_t>& out) const {
    if (tokens.begin < 0 || tokens.begin > tokens.end || tokens.end > counts().tokens) {
        throw InputError(
            "is damaged: a sentence's end does not lie between its neighbours'; see info --verify, and copy "
            "the "
            "folder again or run tokenize again",
            state_->directory);
    }
    const auto before = static_cast<std::ptrdiff_t>(out.size());
    const auto& ends = state_->shard_ends;
    auto shard =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), tokens.begin) - ends.begin());
    for (std::int64_t begin = tokens.begin; begin < tokens.end; ++shard) {
        const MappedShard& here = state_->shards[shard];
        const std::int64_t end = std::min(tokens.end, ends[shard]), first = here.header.first;
        if (here.header.element_bytes == 2) {
            append<std::uint16_t>(here.elements(), begin - first, end - first, out);
        } else {
            append<std::int32_t>(here.elements(), begin - first, end - first, out);
        }
        begin = end;
    }
    std::uint32_t largest = 0;
    std::for_each(out.begin() + before, out.end(),
                  [&](std::int32_t id) { largest = std::max(largest, static_cast<std::uint32_t>(id)); });
    if (largest >= static_cast<std::uint32_t>(state_->tokenizer.vocab_size())) {
        throw InputError(
            "is damaged: a token's id lies outside the vocabulary; see info --verify, and copy the "
            "folder again or run tokenize again",
            state_->directory);
    }
}

void TokenShards::require_rising_ends() const {
    const auto rise = [](std::span<const std::int64_t> ends) {
        return ends.empty() || (ends.front() > 0 && std::is_sorted(ends.begin(), ends.end()));
    };
    for (const MappedShard* ends : {&*state_->sentences, &*state_->documents}) {
        if (!rise(ends->as<std::int64_t>())) {
            throw InputError("is damaged: its ends do not rise; copy it again or run tokenize again",
                             ends->file.path());
        }
    }
}

void TokenShards::verify(int threads) const {
    require_rising_ends();
    const std::vector<format::FileSum> files = format::file_sums(state_->manifest, state_->directory);
    parallel_for(static_cast<std::int64_t>(files.size()), threads, [&](std::int64_t i) {
        stop_if_asked();
        const format::FileSum& file = files[static_cast<std::size_t>(i)];
        const fs::path path = state_->directory / file.name;
        if (sha256_of_file(path) != file.sha256) {
            throw InputError(
                "is damaged: its checksum is not the manifest's; copy it again or run tokenize again", path);
        }
    });
}

bool is_token_corpus(const fs::path& directory) {
    std::error_code error;
    const fs::path path = directory / format::manifest_file;
    if (!fs::is_directory(directory, error) || !fs::exists(path, error)) {
        return false;
    }
    const Json manifest = read_json(path);
    return manifest.is_object() && manifest.value("format", Json()) == format::name;
}

}  // namespace bigbird::corpus
