// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/outputs/merge/bigwig_reader.hpp"
#include "bigbird/outputs/merge/part_rows.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/track_sink.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

std::vector<Segment> read_bedgraph(const fs::path& path, const std::vector<genome::Contig>& contigs) {
    std::vector<Segment> segments;
    std::map<std::string, std::uint32_t, std::less<>> numbers;
    for (const genome::Contig& contig : contigs)
        numbers.emplace(contig.name, static_cast<std::uint32_t>(numbers.size()));
    genome::TextInput input(path);
    std::string line;
    while (input.next(line)) {
        auto fields = rows::split_fields(line, '\t');
        const bool fits = fields.size() == 4;
        fields.resize(4);
        const auto contig = numbers.find(fields[0]);
        const auto begin = parse_number<std::uint32_t>(fields[1]),
                   end = parse_number<std::uint32_t>(fields[2]);
        const auto value = parse_number<float>(fields[3]);
        if (!fits || contig == numbers.end() || !begin || !end || !value)
            throw InputError("is no line of a bedGraph of this run", path, input.line_number());
        segments.push_back({contig->second, *begin, *end, *value});
    }
    return segments;
}

/// A mean over rows in several parts cannot be computed from the parts' means.
void require_apart(std::vector<Segment>& segments, const std::vector<genome::Contig>& contigs) {
    std::ranges::sort(segments, {}, [](const Segment& s) { return std::tie(s.contig, s.begin, s.end); });
    for (std::size_t i = 1; i < segments.size(); ++i) {
        const Segment &before = segments[i - 1], &here = segments[i];
        if (before.contig != here.contig || before.end <= here.begin) continue;
        throw InputError(
            "rows of two parts overlap at " + contigs[here.contig].name + ":" +
            std::to_string(here.begin + 1) +
            "; their mean cannot be told from parts of a track: write such rows as .tsv, .npy or .h5");
    }
}

}  // namespace

void copy_tracks(std::span<const Part> parts, const ScoreRun& run, Outputs& whole) {
    std::vector<Segment> segments;
    for (const Part& part : parts) {
        stop_if_asked();
        const std::vector<Segment> some = part.record.kind == to_string(Kind::bigwig)
                                              ? read_bigwig(part.path, run.contigs)
                                              : read_bedgraph(part.path, run.contigs);
        segments.insert(segments.end(), some.begin(), some.end());
    }
    if (run.overlap == Overlap::mean) require_apart(segments, run.contigs);
    for (const Segment& segment : segments) {
        const rows::Field head[] = {std::string_view(run.contigs[segment.contig].name),
                                    std::int64_t{segment.begin}, std::int64_t{segment.end}};
        whole.write(head, std::span(&segment.value, 1));
    }
}

}  // namespace bigbird::outputs
