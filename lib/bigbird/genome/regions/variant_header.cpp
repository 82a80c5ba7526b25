// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/variant_header.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/byte_stream.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::genome::detail {

namespace {

constexpr std::size_t longest_header = std::size_t{1} << 28, bcf_prefix = 9;
constexpr std::int64_t largest_place = 10'000'000;
constexpr std::string_view bcf_magic = "BCF\x02";

/// The end of the header in `text`, the file's first bytes; npos if it is not in `text`.
std::size_t end_of_header(std::string_view text) {
    if (text.starts_with(bcf_magic)) {
        if (text.size() < bcf_prefix) return std::string_view::npos;
        const std::size_t end = bcf_prefix + little_endian(text.substr(5, 4));
        return end <= text.size() ? end : std::string_view::npos;
    }
    if (!text.empty() && text.front() != '#') return 0;
    std::size_t newline = text.find('\n');
    while (newline + 1 < text.size() && newline != std::string_view::npos) {
        if (text[newline + 1] != '#') return newline + 1;
        newline = text.find('\n', newline + 1);
    }
    return std::string_view::npos;
}

/// The header, or the complete file if the header has no end.
std::string read_header(const std::filesystem::path& path) {
    ByteStream stream(path);
    std::string text;
    std::vector<char> buffer(1 << 16);
    while (const std::size_t size = stream.read(buffer.data(), buffer.size(), 0)) {
        text.append(buffer.data(), size);
        if (const std::size_t end = end_of_header(text); end != std::string_view::npos) {
            text.resize(end);
            break;
        }
        if (text.size() > longest_header) throw InputError("has a header of more than 256 MB", path);
    }
    return text;
}

/// A line of the header, without its line end.
struct HeaderLine {
    std::string_view text;
    std::int64_t number = 0;
};

std::vector<HeaderLine> lines_of(std::string_view header) {
    if (header.starts_with(bcf_magic)) header.remove_prefix(std::min(bcf_prefix, header.size()));
    std::vector<HeaderLine> lines;
    while (header.starts_with('#')) {
        const std::size_t end = std::min(header.find('\n'), header.size());
        lines.push_back({header.substr(0, end), std::ssize(lines) + 1});
        header.remove_prefix(std::min(end + 1, header.size()));
    }
    return lines;
}

/// The value of a field in '##KIND=<ID=…,KEY=value>', outside quotes; nullopt if the line has none.
std::optional<std::string_view> field_of(std::string_view line, std::string_view key) {
    bool quoted = false, escaped = false, begins = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char letter = line[i];
        if (quoted) {
            quoted = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
        } else if (begins && line.substr(i).starts_with(key)) {
            const std::string_view value = line.substr(i + key.size());
            return value.substr(0, value.find_first_of(",>"));
        } else {
            begins = letter == '<' || letter == ',' || (begins && letter == ' ');
            quoted = letter == '"' && i > 0 && line[i - 1] == '=';
        }
    }
    return std::nullopt;
}

/// The error of a line of the header. A BCF has no lines in the file, so the message names its header's.
InputError fault_of(const HeaderLine& line, const std::string& what, bool bcf,
                    const std::filesystem::path& path) {
    if (!bcf) return InputError(what, path, line.number);
    return InputError("line " + std::to_string(line.number) + " of its header " + what, path);
}

/// Refuses indices in htslib's dictionaries that would need gigabytes, or that two names share.
void check_places(const std::vector<HeaderLine>& lines, bool bcf, const std::filesystem::path& path) {
    std::map<std::pair<bool, std::int64_t>, std::string_view> names;  // by dictionary and place
    for (const HeaderLine& line : lines) {
        const auto text = field_of(line.text, "IDX=");
        if (!text) continue;
        std::int64_t place = 0;
        const auto read = std::from_chars(text->data(), text->data() + text->size(), place);
        if (read.ec == std::errc::invalid_argument) continue;
        const std::string idx = "IDX=" + std::string(*text);
        const std::string remedy =
            bcf ? "; write the file again with the program that made it" : "; delete '," + idx + "'";
        if (read.ec != std::errc() || place < 0 || place > largest_place) {
            throw fault_of(line, "has " + idx + ", which no dictionary of a real file reaches" + remedy, bcf,
                           path);
        }
        const std::string_view name = field_of(line.text, "ID=").value_or("");
        const auto [other, fresh] = names.emplace(std::pair(line.text.starts_with("##contig="), place), name);
        if (!fresh && other->second != name) {
            throw fault_of(line, "has " + idx + ", as '" + std::string(other->second) + "' has" + remedy, bcf,
                           path);
        }
    }
}

}  // namespace

void refuse_variant_header(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) throw InputError("its header is damaged", path);
    const std::string header = read_header(path);
    for (const HeaderLine& line : lines_of(header)) {
        if (!line.text.starts_with("#CHROM")) continue;
        const bool bcf = header.starts_with(bcf_magic);
        std::set<std::string_view> columns;
        for (std::string_view left = line.text; !left.empty();) {
            const std::string_view column = left.substr(0, left.find('\t'));
            if (!columns.insert(column).second)
                throw fault_of(line, "names '" + std::string(column) + "' twice", bcf, path);
            left.remove_prefix(std::min(column.size() + 1, left.size()));
        }
        if (columns.size() == 1) throw fault_of(line, "needs tabs between its columns", bcf, path);
        throw InputError("its header is damaged; 'bcftools view --header-only' says where", path);
    }
    throw InputError("its header is damaged: a line '#CHROM POS ID REF ALT …' is needed", path);
}

void check_variant_header(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return;
    const std::string header = read_header(path);
    check_places(lines_of(header), header.starts_with(bcf_magic), path);
    if (header.starts_with(bcf_magic) && end_of_header(header) == std::string_view::npos)
        throw InputError("its header says that it is longer than the file; copy it again", path);
}

}  // namespace bigbird::genome::detail
