// SPDX-License-Identifier: Apache-2.0
// One sequence per line, in letters or as token ids separated by blanks.
#pragma once

#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace bigbird::corpus {

/// Throws InputError with file and line where the line holds anything but letters.
void expect_sequence_line(std::string_view text, const std::filesystem::path& file, std::int64_t line);

struct LineCounts {
    std::int64_t lines = 0, bases = 0, tokens = 0;
};

/// Writes a line of ids for each line of sequence, in order, including empty lines. Throws InputError as
/// above.
LineCounts encode_lines(genome::TextInput& input, const tokenizer::DnaTokenizer& tokenizer, int threads,
                        genome::TextOutput& output);

/// Writes a row per token instead, tab-separated: line (from 1), start, end (letters of the line, 0-based,
/// half-open), id, piece; after a header line that begins with #.
LineCounts encode_offsets(genome::TextInput& input, const tokenizer::DnaTokenizer& tokenizer, int threads,
                          genome::TextOutput& output);

/// Decodes lines of ids to sequence. Throws InputError with file and line if a field is not an id of the
/// vocabulary.
LineCounts decode_lines(genome::TextInput& input, const tokenizer::DnaTokenizer& tokenizer, int threads,
                        genome::TextOutput& output);

}  // namespace bigbird::corpus
