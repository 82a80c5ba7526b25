// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/profile_reads.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/pipeline/logo.hpp"

#include <algorithm>
#include <vector>

namespace bigbird::tasks {

namespace {

using evaluation::html_cell, evaluation::html_heading;
using examples::ReadCounts, examples::ShiftFound, examples::SignalRead, examples::SignalReading;

std::string shift_text(const examples::EndShift& shift) {
    return fmt::format("{},{}", shift.begin, shift.end);
}

/// "4,-4 (found: ends have 0,0; 20,000 sites per strand, margin 0.53 bits)".
std::string shift_of(const SignalRead& file, const SignalReading& how) {
    if (!file.shift) return shift_text({how.begin_shift, how.end_shift});
    const ShiftFound& shift = *file.shift;
    const char* is = how.has_shift ? "given; found" : shift.clear ? "found" : "unclear, assumed";
    return fmt::format("{} ({}: ends have {}; {} sites per strand, margin {:.2f} bits)",
                       shift_text(shift.applied), is, shift_text(shift.in_file), shift.sites, shift.margin);
}

std::string logo_of(const ShiftFound& shift, const std::string& name) {
    std::vector<motifs::Shares> places;
    double most = 0;
    for (const auto& counts : shift.logo) {
        const double all = counts[0] + counts[1] + counts[2] + counts[3];
        if (all == 0) continue;
        motifs::Shares& place = places.emplace_back();
        std::ranges::transform(counts, place.begin(), [&](double count) { return count / all; });
        most = std::max(most, information_of(place));
    }
    if (most == 0) return "";
    return logo_html(
        places,
        fmt::format("{}: {} bases about those that count, which are number {}; full height: {:.2f} bits",
                    name, places.size(), places.size() / 2 + 1, most),
        most);
}

}  // namespace

std::string reads_html(std::span<const std::filesystem::path> paths, std::span<const SignalRead> files,
                       const SignalReading& how) {
    const auto dropped = [&](std::int64_t ReadCounts::*count) {
        return std::ranges::any_of(
            files, [&](const SignalRead& file) { return file.reads && *file.reads.*count > 0; });
    };
    const bool reads = dropped(&ReadCounts::all);
    std::string head = html_heading("file"), rows, logos;
    if (reads) head += html_heading("reads");
    head += html_heading(reads ? "counted, or rows" : "rows");
    for (const auto& [reason, count] : examples::dropped_reads)
        if (dropped(count)) head += html_heading(std::string(reason));
    for (std::size_t i = 0; i < files.size(); ++i) {
        const SignalRead& file = files[i];
        const std::string name = paths[i].filename().string();
        const auto number = [&](std::int64_t ReadCounts::*count) {
            return html_cell(file.reads ? std::to_string(*file.reads.*count) : "");
        };
        rows += "<tr>" + html_cell(name, true);
        if (reads) rows += number(&ReadCounts::all);
        rows += file.reads ? number(&ReadCounts::counted) : html_cell(std::to_string(file.rows));
        for (const auto& [reason, count] : examples::dropped_reads)
            if (dropped(count)) rows += number(count);
        rows += html_cell(shift_of(file, how), true) + "</tr>\n";
        if (file.shift) logos += logo_of(*file.shift, name);
    }
    return "<h2>Reads</h2><p>Reads that do not count, by the first reason that applies, and by how many "
           "bases "
           "5' ends are moved.</p>\n<table><tr>" +
           head + html_heading("shift") + "</tr>\n" + rows + "</table>\n" +
           (logos.empty() ? "" : "<div class=pictures>" + logos + "</div>\n");
}

}  // namespace bigbird::tasks
