// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_shards.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace bigbird::corpus::shard_format {

std::string shard_file(std::size_t number) {
    std::string digits = std::to_string(number);
    digits.insert(0, digits.size() < 5 ? 5 - digits.size() : 0, '0');
    return "tokens-" + digits + ".bin";
}

std::string vocabulary_sha256(const tokenizer::DnaTokenizer& tokenizer) {
    const bool is_model = std::string_view(tokenizer.file_name()) == "tokenizer.model";
    return sha256_of_text(is_model ? tokenizer.vocabulary_text() : tokenizer.serialized());
}

std::array<std::uint8_t, 32> fingerprint(const tokenizer::DnaTokenizer& tokenizer) {
    const std::string text = vocabulary_sha256(tokenizer);
    std::array<std::uint8_t, 32> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, bytes[i], 16);
    return bytes;
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

bool describes_tokens(const Json& manifest) {
    return manifest.is_object() && manifest.value("format", Json()) == format::name;
}

Json read_manifest(const fs::path& directory) {
    const fs::path path = directory / format::manifest_file;
    std::error_code error;
    if (!fs::is_directory(directory, error) || !fs::exists(path, error))
        throw InputError("is no folder of token shards; make one with tokenize", directory);
    Json manifest = read_json(path);
    if (!describes_tokens(manifest))
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

TokenCounts counts_of(const Json& manifest, const fs::path& directory) {
    try {
        return {whole_number(manifest, "documents"), whole_number(manifest, "sentences"),
                whole_number(manifest, "tokens"), whole_number(manifest, "bases")};
    } catch (const Json::exception&) {
        throw InputError("lacks a count; run tokenize again", directory / format::manifest_file);
    }
}

/// Rounded to a thousandth; 0 where there is nothing to divide by.
double ratio(std::int64_t whole, std::int64_t parts) {
    return parts == 0 ? 0 : std::round(1000 * static_cast<double>(whole) / static_cast<double>(parts)) / 1000;
}

}  // namespace

TokenShards::TokenShards(const fs::path& directory)
    : directory_(directory),
      manifest_(read_manifest(directory)),
      tokenizer_(tokenizer::DnaTokenizer::load(directory)),
      vocabulary_(format::fingerprint(tokenizer_)),
      is_marked_(manifest_.at("format_version") == format::marked_version),
      counts_(counts_of(manifest_, directory)),
      shards_(map_tokens()),
      sentences_(
          map_ends(format::sentences_file, Kind::sentence_ends, counts_.sentences, shards_.back().end())),
      documents_(
          map_ends(format::documents_file, Kind::document_ends, counts_.documents, counts_.sentences)) {
    if (shards_.back().end() != counts_.tokens) {
        throw InputError("does not fit its shards; copy the whole folder again, or run tokenize again",
                         directory / format::manifest_file);
    }
}

TokenShards::TokenShards(const fs::path& directory, const tokenizer::DnaTokenizer& tokenizer)
    : TokenShards(directory) {
    if (vocabulary_ != format::fingerprint(tokenizer)) {
        throw InputError("was made with another --tokenizer than the one given; run tokenize with that one",
                         directory);
    }
}

TokenShards::Shard TokenShards::map(const std::string& name, Kind kind, std::size_t number,
                                    std::int64_t first) const {
    const fs::path path = directory_ / name;
    MappedFile file(path);
    const format::Header header = format::parse_header(file.bytes(), path);
    if (header.vocabulary != vocabulary_)
        throw InputError("was made with another tokenizer than the one beside it; run tokenize again", path);
    if (header.kind != kind || header.number != number || header.first != first) {
        throw InputError("does not belong in this place; copy the whole folder again, or run tokenize again",
                         path);
    }
    return {std::move(file), header};
}

std::vector<TokenShards::Shard> TokenShards::map_tokens() const {
    std::vector<Shard> shards;
    for (std::int64_t first = 0; first < counts_.tokens || shards.empty(); first = shards.back().end()) {
        shards.push_back(map(format::shard_file(shards.size()), Kind::tokens, shards.size(), first));
        const format::Header& header = shards.back().header;
        if (header.count == 0 || header.element_bytes != shards.front().header.element_bytes)
            throw InputError("has a damaged header; run tokenize again", shards.back().file.path());
    }
    return shards;
}

TokenShards::Shard TokenShards::map_ends(const char* name, Kind kind, std::int64_t count,
                                         std::int64_t last) const {
    Shard ends = map(name, kind, 0, 0);
    if (ends.header.count != count || (count > 0 && ends.as<std::int64_t>().back() != last)) {
        throw InputError("does not fit the other files; copy the whole folder again, or run tokenize again",
                         ends.file.path());
    }
    return ends;
}

void TokenShards::append_marked(const IndexRange& tokens, std::vector<std::int32_t>& out) const {
    if (tokens.begin < 0 || tokens.begin > tokens.end || tokens.end > counts_.tokens) {
        throw InputError(
            "is damaged: a sentence's end does not lie between its neighbours'; see info --verify, and copy "
            "the "
            "folder again or run tokenize again",
            directory_);
    }
    const auto before = static_cast<std::ptrdiff_t>(out.size());
    auto shard = std::ranges::upper_bound(shards_, tokens.begin, {}, &Shard::end);
    for (std::int64_t begin = tokens.begin; begin < tokens.end; ++shard) {
        const std::int64_t first = shard->header.first, end = std::min(tokens.end, shard->end());
        const auto append = [&](auto ids) {
            out.insert(out.end(), ids.begin() + (begin - first), ids.begin() + (end - first));
        };
        if (shard->header.element_bytes == 2)
            append(shard->as<std::uint16_t>());
        else
            append(shard->as<std::int32_t>());
        begin = end;
    }
    std::uint32_t largest = 0;
    std::for_each(out.begin() + before, out.end(),
                  [&](std::int32_t id) { largest = std::max(largest, static_cast<std::uint32_t>(id)); });
    const std::int32_t ids = tokenizer_.vocab_size() * (is_marked_ ? 2 : 1);
    if (largest >= static_cast<std::uint32_t>(ids)) {
        throw InputError(
            "is damaged: a token's id lies outside the vocabulary; see info --verify, and copy the "
            "folder again or run tokenize again",
            directory_);
    }
}

void TokenShards::require_rising_ends() const {
    for (const Shard* shard : {&sentences_, &documents_}) {
        const auto ends = shard->as<std::int64_t>();
        if (!ends.empty() && (ends.front() <= 0 || !std::ranges::is_sorted(ends))) {
            throw InputError("is damaged: its ends do not rise; copy it again or run tokenize again",
                             shard->file.path());
        }
    }
}

void TokenShards::verify(int threads) const {
    require_rising_ends();
    const std::vector<format::FileSum> files = format::file_sums(manifest_, directory_);
    parallel_for(static_cast<std::int64_t>(files.size()), threads, [&](std::int64_t i) {
        stop_if_asked();
        const format::FileSum& file = files[static_cast<std::size_t>(i)];
        const fs::path path = directory_ / file.name;
        if (sha256_of_file(path) != file.sha256)
            throw InputError(
                "is damaged: its checksum is not the manifest's; copy it again or run tokenize again", path);
    });
}

bool is_token_corpus(const fs::path& directory) {
    std::error_code error;
    const fs::path path = directory / format::manifest_file;
    return fs::is_directory(directory, error) && fs::exists(path, error) && describes_tokens(read_json(path));
}

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
