// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/base_kernels.hpp"

#include "support/testing.hpp"
#include "support/vector_units.hpp"

#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <string>
#include <string_view>

using namespace bigbird;
using namespace bigbird::genome::detail;
using bigbird::testing::for_each_vector_unit;

namespace {

// The slow twins, letter by letter.

constexpr std::string_view nucleotide_codes = "ACGTURYSWKMBDHVNXacgturyswkmbdhvnx";

std::string slow_normalise(const std::string& text, std::size_t line_bases, std::size_t line_bytes,
                           std::size_t lines, bool& all_codes, bool keeps_case = false) {
    std::string out;
    all_codes = true;
    for (std::size_t line = 0; line < lines; ++line) {
        for (std::size_t i = 0; i < line_bases; ++i) {
            const char letter = text[line * line_bytes + i];
            const char base = normalised_base(letter);
            out += keeps_case && base != 'N' && letter >= 'a' ? static_cast<char>(base + 'a' - 'A') : base;
            all_codes = all_codes && nucleotide_codes.find(letter) != std::string_view::npos;
        }
    }
    return out;
}

std::string slow_complement(const std::string& text) {
    std::string out;
    for (auto letter = text.rbegin(); letter != text.rend(); ++letter) {
        const std::size_t at = std::string_view("ACGTacgt").find(*letter);
        out += at == std::string_view::npos ? 'N' : "TGCAtgca"[at];
    }
    return out;
}

std::size_t slow_regular(const std::string& text, std::size_t line_bases, std::size_t line_bytes) {
    std::size_t lines = 0;
    for (; (lines + 1) * line_bytes <= text.size(); ++lines) {
        const std::string line = text.substr(lines * line_bytes, line_bytes);
        const bool plain = std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(line_bases),
                                       [](char c) { return c >= '!' && c <= '~'; });
        const std::string end = line.substr(line_bases);
        if (!plain || line[0] == '>' || (end != "\n" && end != "\r\n")) break;
    }
    return lines;
}

char pick(Rng& random, std::string_view letters) {
    return letters[static_cast<std::size_t>(
        random.between(0, static_cast<std::int64_t>(letters.size()) - 1))];
}

}  // namespace

DOCTEST_TEST_CASE("base_kernels: all bytes are normalised as the rule has it") {
    for_each_vector_unit([] {
        for (int byte = 0; byte < 256; ++byte) {
            for (const std::size_t size : {1U, 16U, 33U, 100U}) {
                for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
                    std::string text(size, 'A');
                    text[at] = static_cast<char>(byte);
                    bool expected_codes = true;
                    const std::string expected = slow_normalise(text, size, size, 1, expected_codes);
                    std::string cased(size, '!');
                    normalise_letters(text.data(), size, cased.data(), genome::LetterCase::kept);
                    DOCTEST_REQUIRE(cased == slow_normalise(text, size, size, 1, expected_codes, true));
                    const bool codes = normalise_letters(text.data(), size, text.data());
                    DOCTEST_REQUIRE(text == expected);
                    DOCTEST_REQUIRE(codes == expected_codes);
                }
            }
        }
    });
}

DOCTEST_TEST_CASE("base_kernels: lines are closed up") {
    for_each_vector_unit([] {
        Rng random(1);
        for (int round = 0; round < 500; ++round) {
            const auto line_bases = static_cast<std::size_t>(random.between(1, 150));
            const auto line_bytes = line_bases + static_cast<std::size_t>(random.between(0, 2));
            const auto lines = static_cast<std::size_t>(random.between(0, 12));
            const std::string_view letters = round % 2 == 0 ? "ACGTNacgtnRyU" : "ACGT-5\nE";
            std::string text(lines * line_bytes, '\n');
            std::generate(
                text.begin(), text.end(), [&] { return pick(random, letters); });
            bool expected_codes = true;
            const std::string expected = slow_normalise(text, line_bases, line_bytes, lines, expected_codes);
            std::string out(lines * line_bases + 1, '!');
            DOCTEST_REQUIRE(normalise_lines(text.data(), line_bases, line_bytes, lines, out.data()) ==
                            expected_codes);
            DOCTEST_REQUIRE(out == expected + "!");  // and nothing behind it is touched
        }
    });
}

DOCTEST_TEST_CASE("base_kernels: regular lines are counted up to the first that is not") {
    for_each_vector_unit([] {
        Rng random(2);
        for (int round = 0; round < 2000; ++round) {
            const auto line_bases = static_cast<std::size_t>(random.between(1, 100));
            const bool carriage_return = random.between(0, 1) == 1;
            const std::size_t line_bytes = line_bases + (carriage_return ? 2 : 1);
            const auto lines = static_cast<std::size_t>(random.between(1, 60));
            std::string text;
            for (std::size_t line = 0; line < lines; ++line) {
                for (std::size_t i = 0; i < line_bases; ++i)
                    text += pick(random, "ACGT");
                text += carriage_return ? "\r\n" : "\n";
            }
            if (random.between(0, 3) > 0)
                text[static_cast<std::size_t>(
                    random.between(0, static_cast<std::int64_t>(text.size()) - 1))] =
                    pick(random, std::string_view(">\n\r \t\0A\x80", 8));
            DOCTEST_CAPTURE(text);
            DOCTEST_REQUIRE(count_regular_lines(text.data(), line_bases, line_bytes, lines) ==
                            slow_regular(text, line_bases, line_bytes));
        }
    });
}

DOCTEST_TEST_CASE("base_kernels: the other strand") {
    for_each_vector_unit([] {
        Rng random(3);
        for (std::size_t size = 0; size < 200; ++size) {
            std::string text(size, 'A');
            std::generate(
                text.begin(), text.end(), [&] { return pick(random, "ACGTNacgtU?\xC1"); });
            DOCTEST_REQUIRE(genome::reverse_complement(text) == slow_complement(text));
        }
    });
}

DOCTEST_TEST_CASE("base_kernels: nucleotide codes") {
    for (int byte = 0; byte < 256; ++byte) {
        const char letter = static_cast<char>(byte);
        DOCTEST_CHECK(is_nucleotide_code(letter) ==
                      (nucleotide_codes.find(letter) != std::string_view::npos));
    }
}
