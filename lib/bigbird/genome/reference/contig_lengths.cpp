// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/reference/fasta_file.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <string_view>
#include <utility>

namespace bigbird::genome::detail {

namespace {

/// Contig and length, the first two columns of a .fai or chrom.sizes; blanks may replace tabs.
FastaContig parse(std::string_view line, const std::filesystem::path& path, std::int64_t number) {
    const std::size_t gap = line.find_first_of("\t ");
    const std::size_t start = line.find_first_not_of("\t ", gap);
    FastaContig contig{{std::string(line.substr(0, gap)), -1}, number};
    if (gap != std::string_view::npos && start != std::string_view::npos) {
        const std::string_view text = line.substr(start, line.find_first_of("\t ", start) - start);
        contig.contig.length = parse_number<std::int64_t>(text).value_or(-1);
    }
    if (contig.contig.name.empty() || contig.contig.length < 0 || contig.contig.length > longest_contig) {
        throw InputError("is no line of contig and length, as a .fai or chrom.sizes file has them", path,
                         number);
    }
    return contig;
}

}  // namespace

FastaFile open_lengths(const std::filesystem::path& path) {
    require_readable(path);
    std::filesystem::path index = path;
    index += ".fai";
    const bool indexed = is_fresh_index(index, path);
    TextInput input(indexed ? index : path);
    std::string line;
    std::vector<FastaContig> contigs;
    while (input.next(line)) {
        if (!indexed && contigs.empty() && line.starts_with('>')) {
            log_info("{} has no fresh .fai and is read through for its contigs' lengths", path.string());
            return open_fasta(path, LetterCase::upper);
        }
        if (!line.empty() && line.front() != '#')
            contigs.push_back(parse(line, input.path(), input.line_number()));
    }
    if (contigs.empty()) throw InputError("holds no contig", path);
    return {path, std::move(contigs), [](std::size_t, std::int64_t, std::int64_t) -> std::string {
                BIGBIRD_EXPECTS(false, "only lengths were asked for, not sequence");
            }};
}

}  // namespace bigbird::genome::detail
