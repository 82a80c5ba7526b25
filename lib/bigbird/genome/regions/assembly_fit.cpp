// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/assembly_fit.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace bigbird::genome {

namespace {

/// Lengths of GRCh37's and GRCh38's 1 to 22, X and Y.
constexpr std::array<std::int64_t, 48> known_lengths{
    249250621, 243199373, 198022430, 191154276, 180915260, 171115067, 159138663, 146364022,
    141213431, 135534747, 135006516, 133851895, 115169878, 107349540, 102531392, 90354753,
    81195210,  78077248,  59128983,  63025520,  48129895,  51304566,  155270560, 59373566,
    248956422, 242193529, 198295559, 190214555, 181538259, 170805979, 159345973, 145138636,
    138394717, 133797422, 135086622, 133275309, 114364328, 107043718, 101991189, 90338345,
    83257441,  80373285,  58617616,  64444167,  46709983,  50818468,  156040895, 57227415};

constexpr std::int64_t near_end = 1000;
constexpr std::int64_t one_in = 5;  // more than one misfit in 5 rows suggests another assembly

}  // namespace

std::string AssemblyFit::foreign_names() const {
    constexpr std::size_t most_named = 5;
    std::vector<std::pair<std::int64_t, std::string>> names;
    for (const auto& [name, count] : foreign)
        names.emplace_back(-count, name);
    std::ranges::sort(names);
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
        text += (i > 0 ? ", " : "") + names[i].second;
    return names.size() > most_named ? text + " and others" : text;
}

std::string AssemblyFit::misfits() const {
    std::string text;
    const auto add_reason = [&](std::int64_t count, const std::string& why) {
        if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + why;
    };
    add_reason(unknown_contig, " on contigs that the reference lacks (" + foreign_names() + ")");
    add_reason(past_end, " past a contig's end (" + longer + ")");
    add_reason(ref_mismatch, " " + mismatched);
    return text;
}

void AssemblyFit::add(const Interval& where, Fit fit, const ReferenceGenome& reference, std::int64_t line) {
    ++rows;
    if (fit != Fit::inside && first_line == 0) first_line = line;
    if (fit == Fit::unknown_contig) {
        ++unknown_contig;
        ++foreign[where.contig];
        return;
    }
    const std::size_t index = *reference.find(where.contig);
    const Contig& contig = reference.contigs()[index];
    if (fit == Fit::past_end && longer.empty())
        longer = contig.name + " has " + std::to_string(contig.length) + " bases";
    End& end = named[index];
    past_end += fit == Fit::past_end;
    end.past += fit == Fit::past_end;
    end.reached |= fit == Fit::inside && where.end + near_end >= contig.length;
}

AssemblyFit& AssemblyFit::operator+=(const AssemblyFit& other) {
    rows += other.rows;
    unknown_contig += other.unknown_contig;
    past_end += other.past_end;
    ref_mismatch += other.ref_mismatch;
    if (longer.empty()) longer = other.longer;
    for (const auto& [name, count] : other.foreign)
        foreign[name] += count;
    for (const auto& [index, end] : other.named) {
        named[index].past += end.past;
        named[index].reached |= end.reached;
    }
    return *this;
}

void require_assembly(const AssemblyFit& fit, const ReferenceGenome& reference, const std::string& source,
                      const std::string& what, bool skip_invalid, bool can_skip) {
    const bool part = 2 * fit.named.size() >= reference.contigs().size();
    // Rows past the end of contigs that have the length of a known assembly's, where no other row ends close
    // to their end: another assembly is the likely reason.
    std::int64_t past = 0;
    for (const auto& [index, end] : fit.named) {
        const std::int64_t length = reference.contigs()[index].length;
        const bool known = std::ranges::find(known_lengths, length) != known_lengths.end();
        past += known && !end.reached ? end.past : 0;
    }
    std::int64_t misfits = (part ? 0 : fit.unknown_contig) + past + fit.ref_mismatch;
    std::int64_t judged = fit.rows - (part ? fit.unknown_contig : 0) - (fit.past_end - past);
    if (fit.off_reference() == fit.rows) misfits = judged = fit.rows;
    if (skip_invalid || misfits * one_in <= judged) return;
    const std::string line = fit.first_line > 0 ? ":" + std::to_string(fit.first_line) : "";
    throw InputError(source + line + ": " + std::to_string(misfits) + " of " + std::to_string(judged) + " " +
                     what + " do not fit the reference (" + fit.misfits() + "): are both of one assembly?" +
                     (can_skip ? " --skip-invalid leaves such rows out and goes on" : ""));
}

}  // namespace bigbird::genome
