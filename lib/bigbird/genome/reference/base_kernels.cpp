// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/base_kernels.hpp"

#include "bigbird/core/nucleotide.hpp"

#include <algorithm>
#include <cstdint>

// This file is compiled once for each kind of vector unit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bigbird/genome/reference/base_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bigbird::genome::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Letters are looked up by their low four bits, which distinguish A C G T U; then the high bits are compared.
alignas(16) constexpr std::uint8_t spelling[16] = {255, 'A', 255, 'C', 'T', 'U', 255, 'G',
                                                   255, 255, 255, 255, 255, 255, 255, 255};
alignas(16) constexpr std::uint8_t base[16] = {0, 'A', 0, 'C', 'T', 'T', 0, 'G', 0, 0, 0, 0, 0, 0, 0, 0};
alignas(16) constexpr std::uint8_t partner[16] = {0, 'T', 0, 'G', 'A', 0, 0, 'C', 0, 0, 0, 0, 0, 0, 0, 0};
// Nucleotide codes: bit 0 is set if 0x40 + index is one, bit 1 if 0x50 + index is one. The second table has
// the bit that the high four bits of a byte select.
alignas(16) constexpr std::uint8_t codes[16] = {0, 1, 3, 3, 3, 2, 2, 3, 3, 2, 0, 1, 0, 1, 1, 0};
alignas(16) constexpr std::uint8_t columns[16] = {0, 0, 0, 0, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0};

inline bool is_code(std::uint8_t letter) {
    return (codes[letter & 15U] & columns[letter >> 4U]) != 0;
}

template <class D>
struct Normaliser {
    using V = hn::Vec<D>;
    D d;
    std::uint8_t case_bit;  // 0x20 keeps the case of A C G T, 0 makes them upper case
    V spelling_v = hn::LoadDup128(d, spelling), base_v = hn::LoadDup128(d, base),
      codes_v = hn::LoadDup128(d, codes), columns_v = hn::LoadDup128(d, columns);
    V others = hn::Zero(d);  // all bits where a byte was no nucleotide code

    HWY_INLINE void one(const std::uint8_t* in, std::uint8_t* out) {
        const V letters = hn::LoadU(d, in);
        const V low = hn::And(letters, hn::Set(d, 15)), high = hn::ShiftRight<4>(letters);
        const V upper = hn::And(letters, hn::Set(d, 0xDF));
        const auto known = hn::Eq(upper, hn::TableLookupBytes(spelling_v, low));
        const V cased = hn::Or(hn::TableLookupBytes(base_v, low), hn::And(letters, hn::Set(d, case_bit)));
        hn::StoreU(hn::IfThenElse(known, cased, hn::Set(d, 'N')), d, out);
        const V code = hn::And(hn::TableLookupBytes(codes_v, low), hn::TableLookupBytes(columns_v, high));
        others = hn::Or(others, hn::VecFromMask(d, hn::Eq(code, hn::Zero(d))));
    }

    /// size >= Lanes(d); the last vector overlaps the one before.
    HWY_INLINE void run(const std::uint8_t* in, std::size_t size, std::uint8_t* out) {
        const std::size_t lanes = hn::Lanes(d);
        for (std::size_t i = 0; i + lanes < size; i += lanes)
            one(in + i, out + i);
        one(in + size - lanes, out + size - lanes);
    }

    bool all_codes() const { return hn::AllTrue(d, hn::Eq(others, hn::Zero(d))); }
};

template <class D>
bool normalise_by_vectors(D d, const std::uint8_t* text, std::size_t line_bases, std::size_t line_bytes,
                          std::size_t lines, std::uint8_t* out, std::uint8_t case_bit) {
    Normaliser<D> normaliser{d, case_bit};
    for (std::size_t line = 0; line < lines; ++line)
        normaliser.run(text + line * line_bytes, line_bases, out + line * line_bases);
    return normaliser.all_codes();
}

bool normalise(const std::uint8_t* text, std::size_t line_bases, std::size_t line_bytes, std::size_t lines,
               std::uint8_t* out, std::uint8_t case_bit) {
    const hn::CappedTag<std::uint8_t, 32> wide;  // lines of 60 letters are usual
    const hn::CappedTag<std::uint8_t, 16> narrow;
    const bool has_vectors = hn::Lanes(narrow) == 16;
    if (has_vectors && line_bases >= hn::Lanes(wide))
        return normalise_by_vectors(wide, text, line_bases, line_bytes, lines, out, case_bit);
    if (has_vectors && line_bases >= hn::Lanes(narrow))
        return normalise_by_vectors(narrow, text, line_bases, line_bytes, lines, out, case_bit);
    bool all_codes = true;
    for (std::size_t line = 0; line < lines; ++line) {
        for (std::size_t i = 0; i < line_bases; ++i) {
            const std::uint8_t letter = text[line * line_bytes + i];
            all_codes = all_codes && is_code(letter);
            const auto base_of = static_cast<std::uint8_t>(normalised_base(static_cast<char>(letter)));
            out[line * line_bases + i] =
                base_of == 'N' ? base_of : static_cast<std::uint8_t>(base_of | (letter & case_bit));
        }
    }
    return all_codes;
}

/// Counts bytes that are not visible ASCII.
std::size_t count_invisible(const std::uint8_t* text, std::size_t size) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto first = hn::Set(d, '!'), width = hn::Set(d, '~' - '!');
    std::size_t count = 0, i = 0;
    for (; i + lanes <= size; i += lanes)
        count += hn::CountTrue(d, hn::Gt(hn::Sub(hn::LoadU(d, text + i), first), width));
    for (; i < size; ++i)
        count += static_cast<std::uint8_t>(text[i] - '!') > '~' - '!' ? 1 : 0;
    return count;
}

/// Whether all of the lines are regular: line ends and line starts are where they should be, and nothing else
/// is invisible.
bool are_regular(const std::uint8_t* text, std::size_t line_bases, std::size_t line_bytes,
                 std::size_t lines) {
    const std::size_t gap = line_bytes - line_bases;
    unsigned wrong = gap < 1 || gap > 2 ? 1 : 0;
    for (std::size_t line = 0; line < lines; ++line) {
        const std::uint8_t* const start = text + line * line_bytes;
        wrong |= static_cast<unsigned>(start[0] == '>') |
                 static_cast<unsigned>(start[line_bytes - 1] != '\n') |
                 static_cast<unsigned>(gap == 2 && start[line_bytes - 2] != '\r');
    }
    return wrong == 0 && count_invisible(text, lines * line_bytes) == lines * gap;
}

std::size_t regular_lines(const std::uint8_t* text, std::size_t line_bases, std::size_t line_bytes,
                          std::size_t lines) {
    constexpr std::size_t most_bytes = 16384;  // stays in the first cache between the two passes
    std::size_t done = 0, step = 1;
    while (done < lines) {
        const std::size_t count = std::min(step, lines - done);
        if (are_regular(text + done * line_bytes, line_bases, line_bytes, count)) {
            done += count;
            step = count * line_bytes < most_bytes ? 2 * step : step;
        } else if (count > 1) {
            step = count / 2;
        } else {
            break;
        }
    }
    return done;
}

void complement(const std::uint8_t* text, std::size_t size, std::uint8_t* out) {
    const hn::CappedTag<std::uint8_t, 16> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto spelling_v = hn::LoadDup128(d, spelling), partner_v = hn::LoadDup128(d, partner);
    const auto backwards = hn::Sub(hn::Set(d, static_cast<std::uint8_t>(lanes - 1)), hn::Iota(d, 0));
    std::size_t left = size;
    for (; left >= lanes && lanes == 16; left -= lanes) {
        const auto letters = hn::TableLookupBytes(hn::LoadU(d, text + left - lanes), backwards);
        const auto low = hn::And(letters, hn::Set(d, 15)), upper = hn::And(letters, hn::Set(d, 0xDF));
        const auto other = hn::TableLookupBytes(partner_v, low);
        const auto known = hn::And(hn::VecFromMask(d, hn::Eq(upper, hn::TableLookupBytes(spelling_v, low))),
                                   hn::VecFromMask(d, hn::Ne(other, hn::Zero(d))));
        const auto cased = hn::Or(other, hn::And(letters, hn::Set(d, 0x20)));
        hn::StoreU(hn::IfThenElse(hn::MaskFromVec(known), cased, hn::Set(d, 'N')), d, out + (size - left));
    }
    for (; left > 0; --left) {
        const std::uint8_t letter = text[left - 1], other = partner[letter & 15U];
        const bool known = (letter & 0xDFU) == spelling[letter & 15U] && other != 0;
        out[size - left] = known ? static_cast<std::uint8_t>(other | (letter & 0x20U)) : 'N';
    }
}

}  // namespace bigbird::genome::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bigbird::genome::detail {

namespace {

HWY_EXPORT(normalise);
HWY_EXPORT(regular_lines);
HWY_EXPORT(complement);

const std::uint8_t* bytes(const char* text) {
    return reinterpret_cast<const std::uint8_t*>(text);
}

std::uint8_t* bytes(char* text) {
    return reinterpret_cast<std::uint8_t*>(text);
}

/// `out`: as long as `text`.
void complement_backwards(std::string_view text, std::string& out) {
    HWY_DYNAMIC_DISPATCH(complement)(bytes(text.data()), text.size(), bytes(out.data()));
}

}  // namespace

bool normalise_lines(const char* text, std::size_t line_bases, std::size_t line_bytes, std::size_t lines,
                     char* out, LetterCase letter_case) {
    return HWY_DYNAMIC_DISPATCH(normalise)(bytes(text), line_bases, line_bytes, lines, bytes(out),
                                           letter_case == LetterCase::kept ? 0x20 : 0);
}

std::size_t count_regular_lines(const char* text, std::size_t line_bases, std::size_t line_bytes,
                                std::size_t lines) {
    return HWY_DYNAMIC_DISPATCH(regular_lines)(bytes(text), line_bases, line_bytes, lines);
}

bool is_nucleotide_code(char letter) {
    return HWY_STATIC_DISPATCH(is_code)(static_cast<std::uint8_t>(letter));
}

}  // namespace bigbird::genome::detail

namespace bigbird::genome {

void normalise(std::string& dna, LetterCase letter_case) {
    detail::normalise_letters(dna.data(), dna.size(), dna.data(), letter_case);
}

std::string reverse_complement(std::string_view dna) {
    std::string result(dna.size(), 'N');
    detail::complement_backwards(dna, result);
    return result;
}

double n_fraction(std::string_view dna) {
    if (dna.empty()) return 0;
    return static_cast<double>(std::ranges::count(dna, 'N')) / static_cast<double>(dna.size());
}

}  // namespace bigbird::genome
#endif
