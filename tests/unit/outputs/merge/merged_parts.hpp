// SPDX-License-Identifier: Apache-2.0
// Parts of some rows, and the same rows in one run.
#pragma once

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"
#include "bigbird/outputs/outputs.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::testing {

inline const std::vector<genome::Contig>& two_contigs() {
    static const std::vector<genome::Contig> contigs{{"2", 1'000'000}, {"1", 500'000}};
    return contigs;
}

/// Where row i lies: bins of 200 bp, the first half on contig 1.
using Placing = std::function<genome::Interval(std::int64_t i, std::int64_t rows)>;
inline genome::Interval bin_of(std::int64_t i, std::int64_t rows) {
    return i < rows / 2 ? genome::Interval{"1", 200 * i, 200 * i + 200}
                        : genome::Interval{"2", 200 * i, 200 * i + 200};
}

/// Writes the part of `rows` rows that `shard` says, or all.
inline void write_scores(const std::filesystem::path& path, std::int64_t rows, std::optional<Shard> shard,
                         outputs::Overlap overlap = outputs::Overlap::mean, const Placing& place = bin_of) {
    const outputs::OutputSpec spec{.paths = {path}, .min_score = 0.3, .overlap = overlap, .shard = shard};
    const std::vector<std::size_t> one{0};
    outputs::Outputs outputs(spec, small_layout(), one, two_contigs(), 1);
    SegmentCounter segments(rows, shard.value_or(Shard{}));
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t segment = segments.next();
        if (!segments.is_mine(segment)) continue;
        const bool scored = i % 4 != 2;
        const rows::Row row{.where = place(i, rows),
                            .name = "row" + std::to_string(i),
                            .status = scored ? rows::RowStatus::ok : rows::RowStatus::all_n,
                            .n_fraction = scored ? 0.125 : 1};
        const std::vector<float> values{static_cast<float>(i) / 1024, static_cast<float>(i % 10) / 10};
        outputs.begin_segment(segment);
        outputs.write(rows::fields_of(row),
                      scored ? std::span<const float>(values) : std::span<const float>());
    }
    outputs.commit();
}

/// part1, part2 … beside `whole`, in falling order.
inline std::vector<std::filesystem::path> write_parts(const TempDir& folder, const std::string& ending,
                                                      std::int64_t rows, std::int64_t count,
                                                      outputs::Overlap overlap = outputs::Overlap::mean,
                                                      const Placing& place = bin_of) {
    std::vector<std::filesystem::path> parts;
    for (std::int64_t number = count; number >= 1; --number) {
        parts.push_back(folder / ("part" + std::to_string(number) + ending));
        write_scores(parts.back(), rows, Shard{number, count}, overlap, place);
    }
    return parts;
}

/// Whether parts of these rows make the file that one run writes.
inline bool merges(const std::string& ending, std::int64_t rows, std::int64_t count,
                   outputs::Overlap overlap = outputs::Overlap::mean, const Placing& place = bin_of) {
    const TempDir folder;
    write_scores(folder / ("whole" + ending), rows, std::nullopt, overlap, place);
    const auto paths = write_parts(folder, ending, rows, count, overlap, place);
    const std::vector<Part> parts = open_parts(paths, 1);
    outputs::merge_scores(parts, folder / ("merged" + ending), Overwrite::refuse, 1);
    return read_file(folder / ("merged" + ending)) == read_file(folder / ("whole" + ending));
}

/// Merges `parts` and says how that was refused, naming the second; nothing must have been written.
inline std::string refusal_of_second(const TempDir& folder, const std::vector<Part>& parts,
                                     const std::string& ending) {
    const std::filesystem::path output = folder / ("refused" + ending);
    const std::string message =
        message_of<InputError>([&] { outputs::merge_scores(parts, output, Overwrite::refuse, 1); });
    DOCTEST_CHECK(!std::filesystem::exists(output));
    DOCTEST_CHECK(message.starts_with((folder / "part2").string()));
    return message;
}

/// Checks that parts are refused in these words whose record counts more or fewer rows than there are.
inline void check_miscounts(const std::string& ending, const std::string& words) {
    using Segments = std::vector<PartSegment>;
    const std::function<void(Segments&)> changes[] = {
        [](Segments& segments) { segments[3].records += 1; }, [](Segments& segments) { segments.pop_back(); },
        [](Segments& segments) { segments[0].records = 0; }, [](Segments& segments) { segments.clear(); }};
    for (const auto& change : changes) {
        const TempDir folder;
        std::vector<Part> parts = open_parts(write_parts(folder, ending, 100, 2), 1);
        change(parts[1].record.segments);
        const std::string message = refusal_of_second(folder, parts, ending);
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(message.find(words) != std::string::npos);
    }
}

}  // namespace bigbird::testing
