// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/sequence_lines.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::corpus {

namespace {

constexpr std::size_t characters_per_batch = 4'000'000;
constexpr std::int64_t characters_per_megabyte = 1'000'000;

// Returns all bits set for other characters, so that compilers can vectorize loops over letters.
unsigned char not_letter(char c) {
    const auto lower = static_cast<unsigned char>(static_cast<unsigned char>(c) | 0x20U);
    return mask_if(lower < 'a') | mask_if(lower > 'z');
}

bool all_letters(std::string_view text) {
    unsigned char others = 0;
    for (const char c : text)
        others |= not_letter(c);
    return others == 0;
}

struct Line {
    std::string text;  // the input's, then the output's
    std::int64_t number = 0, bases = 0, tokens = 0;
};

// Characters that will be read, newlines included, or 0 where that is not known beforehand.
std::int64_t characters_of(const std::filesystem::path& path) {
    std::error_code error;
    const bool regular = std::filesystem::is_regular_file(path, error);
    const bool gzip = regular && std::ifstream(path, std::ios::binary).get() == 0x1F;
    return regular && !gzip ? static_cast<std::int64_t>(std::filesystem::file_size(path, error)) : 0;
}

std::vector<Line> read_batch(genome::TextInput& input) {
    std::vector<Line> batch;
    std::string text;
    for (std::size_t size = 0; size < characters_per_batch && input.next(text); size += text.size() + 1)
        batch.push_back({text, input.line_number()});
    return batch;
}

// Writes the text of one(line) for each line, in order. With several threads, a batch is written while the
// next one is computed.
LineCounts convert(genome::TextInput& input, int threads, genome::TextOutput& output, const char* label,
                   const std::function<void(Line&, int)>& one) {
    LineCounts counts;
    Progress progress(label, "MB", characters_of(input.path()) / characters_per_megabyte);
    std::int64_t characters = 0;
    std::future<void> written;
    while (true) {
        stop_if_asked();
        std::vector<Line> batch = read_batch(input);
        if (batch.empty()) break;
        for (const Line& line : batch)
            characters += static_cast<std::int64_t>(line.text.size()) + 1;
        const auto lines = static_cast<std::int64_t>(batch.size());
        const int threads_per_line = lines < threads ? threads : 1;  // long lines are processed one by one
        parallel_for(lines, threads_per_line > 1 ? 1 : threads,
                     [&](std::int64_t i) { one(batch[static_cast<std::size_t>(i)], threads_per_line); });
        for (const Line& line : batch) {
            ++counts.lines;
            counts.bases += line.bases;
            counts.tokens += line.tokens;
        }
        if (written.valid()) written.get();
        written = std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                             [&output, made = std::move(batch)] {
                                 for (const Line& line : made)
                                     output.write(line.text);
                             });
        if (threads <= 1) written.get();
        progress.update(characters / characters_per_megabyte);
    }
    if (written.valid()) written.get();
    progress.end();
    return counts;
}

void append_number(std::uint64_t number, std::string& text) {
    char digits[20];
    text.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

// Writes ids as a line, separated by blanks.
void write_ids(const std::vector<std::int32_t>& ids, std::string& text) {
    constexpr std::size_t longest = 12;  // a number and a blank
    text.resize(ids.size() * longest + 1);
    char* at = text.data();
    for (const std::int32_t id : ids) {
        at = std::to_chars(at, at + longest, id).ptr;
        *at++ = ' ';
    }
    at -= ids.empty() ? 0 : 1;
    *at++ = '\n';
    text.resize(static_cast<std::size_t>(at - text.data()));
}

std::vector<std::int32_t> parse_ids(const Line& line, std::int32_t vocabulary,
                                    const std::filesystem::path& file) {
    std::vector<std::int32_t> ids;
    const char* at = line.text.data();
    const char* const end = at + line.text.size();
    while (true) {
        at = std::find_if_not(at, end, [](char c) { return c == ' ' || c == '\t'; });
        if (at == end) return ids;
        const char* const after = std::find_if(at, end, [](char c) { return c == ' ' || c == '\t'; });
        const std::string_view word(at, after);
        const std::int32_t id = parse_number<std::int32_t>(word).value_or(-1);
        if (id < 0 || id >= vocabulary) {
            throw InputError("'" + shortened(word) +
                                 "' is no token id; this tokenizer's ids are whole numbers from 0 to " +
                                 std::to_string(vocabulary - 1) + ", separated by blanks",
                             file, line.number);
        }
        ids.push_back(id);
        at = after;
    }
}

}  // namespace

void expect_sequence_line(std::string_view text, const std::filesystem::path& file, std::int64_t line) {
    if (all_letters(text)) return;
    const auto stranger = std::find_if(text.begin(), text.end(), not_letter);
    if (text.front() == '>')
        throw InputError("is a FASTA header, and plain sequence is needed here, one a line", file, line);
    const bool gap = genome::without_outer_blanks(text).find_first_of(" \t") < text.size();
    if (gap && (*stranger == ' ' || *stranger == '\t'))
        throw InputError(genome::fault_of_gaps(text), file, line);
    const auto byte = static_cast<unsigned char>(*stranger);
    const std::string shown = byte >= ' ' && byte < 0x7f ? std::string("'") + *stranger + "'"
                                                         : fmt::format("the byte 0x{:02x}", byte);
    throw InputError(
        "holds " + shown +
            ", which is no letter of a sequence; one sequence a line is needed, without blanks or gaps",
        file, line);
}

LineCounts encode_lines(genome::TextInput& input, const tokenizer::DnaTokenizer& tokenizer, int threads,
                        genome::TextOutput& output) {
    return convert(
        input, threads, output, "encoding",
        [&](Line& line, int threads_per_line) {
            expect_sequence_line(line.text, input.path(), line.number);
            const std::vector<std::int32_t> ids = tokenizer.encode(line.text, threads_per_line);
            line.bases = static_cast<std::int64_t>(line.text.size());
            line.tokens = static_cast<std::int64_t>(ids.size());
            write_ids(ids, line.text);
        });
}

LineCounts encode_offsets(genome::TextInput& input, const tokenizer::DnaTokenizer& tokenizer, int threads,
                          genome::TextOutput& output) {
    output.write("#line\tstart\tend\tid\tpiece\n");
    return convert(input, threads, output, "encoding", [&](Line& line, int threads_per_line) {
        expect_sequence_line(line.text, input.path(), line.number);
        const tokenizer::Encoding encoding = tokenizer.encode_with_spans(line.text, threads_per_line);
        line.bases = static_cast<std::int64_t>(line.text.size());
        line.tokens = static_cast<std::int64_t>(encoding.ids.size());
        line.text.clear();
        for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
            const std::int32_t id = encoding.ids[i];
            for (const std::uint64_t field :
                 {static_cast<std::uint64_t>(line.number), std::uint64_t{encoding.spans[i].begin},
                  std::uint64_t{encoding.spans[i].end}, static_cast<std::uint64_t>(id)}) {
                append_number(field, line.text);
                line.text += '\t';
            }
            line.text += tokenizer.piece(id);
            line.text += '\n';
        }
    });
}

LineCounts decode_lines(genome::TextInput& input, const tokenizer::DnaTokenizer& tokenizer, int threads,
                        genome::TextOutput& output) {
    return convert(
        input, threads, output, "decoding",
        [&](Line& line, int) {
            const std::vector<std::int32_t> ids = parse_ids(line, tokenizer.vocab_size(), input.path());
            line.text = tokenizer.decode(ids);
            line.tokens = static_cast<std::int64_t>(ids.size());
            line.bases = static_cast<std::int64_t>(line.text.size());
            line.text += '\n';
        });
}

}  // namespace bigbird::corpus
