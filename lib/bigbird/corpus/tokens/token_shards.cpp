// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_shards.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

namespace bigbird::corpus::shard_format {

std::string shard_file(std::size_t number) {
    std::string digits = std::to_string(number);
    digits.insert(0, digits.size() < 5 ? 5 - digits.size() : 0, '0');
    return "tokens-" + digits + ".bin";
}

std::array<std::uint8_t, 32> fingerprint(const tokenizer::DnaTokenizer& tokenizer) {
    const bool is_model = std::string_view(tokenizer.file_name()) == "tokenizer.model";
    const std::string text = sha256_of_text(is_model ? tokenizer.vocabulary_text() : tokenizer.serialized());
    std::array<std::uint8_t, 32> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, bytes[i], 16);
    return bytes;
}

std::string hex(std::span<const std::uint8_t> bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::vector<FileSum> file_sums(const Json& manifest, const std::filesystem::path& directory) {
    const auto damaged = [&] {
        return InputError("has a damaged list of files; run tokenize again", directory / manifest_file);
    };
    const Json list = manifest.is_object() ? manifest.value("files", Json()) : Json();
    if (!list.is_array() || list.empty()) throw damaged();  // null would be read as an empty list
    std::vector<FileSum> files;
    try {
        for (const Json& file : list) {
            files.push_back({file.at("file").get<std::string>(), file.at("sha256").get<std::string>(),
                             file.value("bytes", std::int64_t{0})});
            if (!is_file_name(files.back().name))
                throw InputError("names a file outside its folder", directory / manifest_file);
        }
    } catch (const Json::exception&) {
        throw damaged();
    }
    return files;
}

Header parse_header(std::span<const std::byte> file, const std::filesystem::path& path) {
    const Header expected;
    Header header;
    if (file.size() < sizeof header)
        throw InputError("is truncated: it ends within its header; run tokenize again", path);
    std::memcpy(&header, file.data(), sizeof header);
    if (header.magic != expected.magic)
        throw InputError("is no file of token shards; run tokenize again", path);
    if (header.format_version != version) {
        throw InputError("is of version " + std::to_string(header.format_version) + ", this program reads " +
                             std::to_string(version) + "; run tokenize again with this program",
                         path);
    }
    const bool narrow_or_wide = header.element_bytes == 2 || header.element_bytes == 4;
    const bool sound = header.kind == Kind::tokens ? narrow_or_wide : header.element_bytes == 8;
    const auto size = static_cast<std::int64_t>(file.size() - sizeof header);
    if (!sound || header.count < 0 || header.first < 0 ||
        header.count > std::numeric_limits<std::int64_t>::max() / 8)
        throw InputError("has a damaged header; run tokenize again", path);
    const std::int64_t expected_size = header.count * header.element_bytes;
    if (size != expected_size) {
        throw InputError(
            std::string(size < expected_size ? "is truncated" : "is longer than its header says") + ": " +
                std::to_string(size) + " bytes of " + std::to_string(expected_size) +
                "; copy it again or run tokenize again",
            path);
    }
    return header;
}

}  // namespace bigbird::corpus::shard_format

namespace bigbird::corpus {
namespace fs = std::filesystem;
namespace format = shard_format;

namespace {

Json read_manifest(const fs::path& directory) {
    const fs::path path = directory / format::manifest_file;
    std::error_code error;
    if (!fs::is_directory(directory, error) || !fs::exists(path, error))
        throw InputError("is no folder of token shards; make one with tokenize", directory);
    Json manifest = read_json(path);
    if (!manifest.is_object() || manifest.value("format", Json()) != format::name)
        throw InputError("describes no token shards; make them with tokenize", path);
    const Json found = manifest.value("format_version", Json());
    if (found != format::version && found != format::marked_version) {
        throw InputError("is of version " + found.dump() + ", this program reads " +
                             std::to_string(format::marked_version) +
                             "; run tokenize again with this program",
                         path);
    }
    return manifest;
}

/// A memory-mapped file of the corpus, whose header is checked against the manifest.
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
    if (header.vocabulary != vocabulary)
        throw InputError("was made with another tokenizer than the one beside it; run tokenize again", path);
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
          vocabulary(format::fingerprint(tokenizer)),
          is_marked(manifest.at("format_version") == format::marked_version) {
        read_counts();
        for (std::int64_t first = 0; first < counts.tokens || shards.empty();) {
            const std::size_t number = shards.size();
            shards.push_back(map_shard(directory / format::shard_file(number), format::Kind::tokens, number,
                                       first, vocabulary));
            const MappedShard& shard = shards.back();
            if (shard.header.count == 0 || shard.header.element_bytes != shards.front().header.element_bytes)
                throw InputError("has a damaged header; run tokenize again", shard.file.path());
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
    bool is_marked;
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
        throw InputError("was made with another --tokenizer than the one given; run tokenize with that one",
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

bool TokenShards::is_marked() const {
    return state_->is_marked;
}

void TokenShards::append_marked(const IndexRange& tokens, std::vector<std::int32_t>& out) const {
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
        if (here.header.element_bytes == 2)
            append<std::uint16_t>(here.elements(), begin - first, end - first, out);
        else
            append<std::int32_t>(here.elements(), begin - first, end - first, out);
        begin = end;
    }
    std::uint32_t largest = 0;
    std::for_each(out.begin() + before, out.end(),
                  [&](std::int32_t id) { largest = std::max(largest, static_cast<std::uint32_t>(id)); });
    const std::int32_t ids = state_->tokenizer.vocab_size() * (is_marked() ? 2 : 1);
    if (largest >= static_cast<std::uint32_t>(ids)) {
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
        if (sha256_of_file(path) != file.sha256)
            throw InputError(
                "is damaged: its checksum is not the manifest's; copy it again or run tokenize again", path);
    });
}

bool is_token_corpus(const fs::path& directory) {
    std::error_code error;
    const fs::path path = directory / format::manifest_file;
    if (!fs::is_directory(directory, error) || !fs::exists(path, error)) return false;
    const Json manifest = read_json(path);
    return manifest.is_object() && manifest.value("format", Json()) == format::name;
}

namespace {

/// Rounded to a thousandth; 0 where there is nothing to divide by.
double ratio(std::int64_t whole, std::int64_t parts) {
    return parts == 0 ? 0 : std::round(1000 * static_cast<double>(whole) / static_cast<double>(parts)) / 1000;
}

}  // namespace

Json describe(const TokenShards& shards, bool verified) {
    const TokenCounts& counts = shards.counts();
    const Json& manifest = shards.manifest();
    Json json = {{"kind", "token shards"},
                 {"documents", counts.documents},
                 {"sentences", counts.sentences},
                 {"tokens", counts.tokens},
                 {"bases", counts.bases},
                 {"bases_per_token", ratio(counts.bases, counts.tokens)},
                 {"tokens_per_document", ratio(counts.tokens, counts.documents)},
                 {"sentences_per_document", ratio(counts.sentences, counts.documents)},
                 {"vocab_size", shards.tokenizer().vocab_size()},
                 {"vocabulary_sha256", manifest.value("vocabulary_sha256", Json())},
                 {"made_by", manifest.value("made_by", Json())},
                 {"checksums", verified ? "verified" : "not compared; --verify does"}};
    std::int64_t bytes = 0;
    for (const shard_format::FileSum& file : shard_format::file_sums(manifest, shards.directory())) {
        bytes += file.bytes;
        json["files"][file.name] = std::to_string(file.bytes) + " bytes";
    }
    json["bytes"] = bytes;
    for (const Json& input : manifest.value("inputs", Json::array()))
        json["made_from"].push_back(input);
    return json;
}

}  // namespace bigbird::corpus
