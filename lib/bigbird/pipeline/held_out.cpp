// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/held_out.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace bigbird::tasks {

namespace {

using examples::ExampleSet, examples::Split;

constexpr std::int64_t few_positives = 50;

/// Bins with each label, and bins with any.
struct Positives {
    std::vector<std::int64_t> of_label{};
    std::int64_t any = 0;
};

/// By split.
std::array<Positives, 3> count_positives(const ExampleSet& set) {
    std::array<Positives, 3> counts;
    counts.fill({std::vector<std::int64_t>(set.label_table().size())});
    std::vector<std::uint8_t> labels(set.label_table().size());
    for (std::int64_t row = 0; row < set.size(); ++row) {
        set.copy_labels(row, labels);
        Positives& of_split = counts[static_cast<std::size_t>(set.split(row))];
        for (std::size_t label = 0; label < labels.size(); ++label)
            of_split.of_label[label] += labels[label];
        of_split.any += std::ranges::max(labels);
    }
    return counts;
}

}  // namespace

void check_positives(const ExampleSet& set, const std::filesystem::path& folder) {
    const auto counts = count_positives(set);
    const auto any = [&](Split split) { return counts[static_cast<std::size_t>(split)].any; };
    for (const Split split : {Split::train, Split::test}) {
        if (any(split) > 0) continue;
        throw InputError(
            fmt::format(
                "no bin of {} has a label, so the model could not {} (bins with a label: {} in train, "
                "{} in validation, {} in test); give other --validation and --test, or none",
                to_string(split), split == Split::train ? "learn" : "be judged", any(Split::train),
                any(Split::validation), any(Split::test)),
            folder);
    }
    for (const Split split : {Split::validation, Split::test}) {
        if (set.rows(split).empty()) continue;
        std::vector<std::string> names;
        for (std::size_t label = 0; label < set.label_table().size(); ++label)
            if (counts[static_cast<std::size_t>(split)].of_label[label] == 0)
                names.push_back(set.label_table()[label].name);
        if (names.empty()) continue;
        log_warning("{} of {} without a positive bin in {}: {}", names.size(),
                    counted(set.label_table().size(), "label"), to_string(split), listed(names, ""));
    }
}

std::int64_t fewest_positives(const ExampleSet& set, std::int64_t wanted) {
    const auto counts = count_positives(set);
    return std::ranges::max(counts[static_cast<std::size_t>(Split::test)].of_label) < wanted ? 1 : wanted;
}

std::optional<std::string> few_positives_text(const evaluation::EvaluationReport& report) {
    using evaluation::EvaluatedColumn;
    const auto most = std::ranges::max_element(report.columns, {}, &EvaluatedColumn::positives);
    if (most->positives >= few_positives) return std::nullopt;
    const std::string label = report.columns.size() == 1 ? "" : " of " + report.labels[most->label].name;
    const bool intervals = report.units >= evaluation::fewest_blocks;
    return fmt::format(
        "{} in test{}: {}", counted(most->positives, "positive bin"), label,
        intervals ? "with so few, read the intervals, not the figures"
                  : fmt::format("too few to trust the figures, and no intervals, which need {} blocks of "
                                "genome in test and not {}",
                                evaluation::fewest_blocks, report.units));
}

}  // namespace bigbird::tasks
