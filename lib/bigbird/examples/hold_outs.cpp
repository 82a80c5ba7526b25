// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/hold_outs.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"

#include <filesystem>

namespace bigbird::examples {

namespace {

using genome::Interval;
using genome::IntervalSet;

/// `fold` chooses the rows with this name; empty: all rows.
std::vector<Interval> intervals_of_bed(const genome::ReferenceGenome& reference, const std::string& path,
                                       const std::string& fold, const std::string& option) {
    const genome::PlacedBed bed = genome::read_bed_on(reference, path);
    if (bed.records.empty())
        throw InputError("holds no region of the reference to hold out for " + option, path);
    if (bed.fit.off_reference() > 0) log_warning("{}: left out {}", path, bed.fit.misfits());
    std::vector<Interval> intervals;
    for (const genome::BedRecord& record : bed.records)
        if (fold.empty() || record.name == fold) intervals.push_back(record.where);
    if (intervals.empty())
        throw InputError("has no row named '" + fold + "', the fold to hold out for " + option, path);
    return intervals;
}

Json describe_set(const IntervalSet& set) {
    Json regions = Json::array();
    std::string text;
    for (const Interval& interval : set.intervals()) {
        regions.push_back(genome::to_string(interval));
        text += genome::to_string(interval) + '\n';
    }
    constexpr std::size_t longest = 100;
    return regions.size() > longest ? Json("sha256:" + sha256_of_text(text)) : regions;
}

}  // namespace

IntervalSet read_held_out(const genome::ReferenceGenome& reference, std::span<const std::string> texts,
                          const std::string& option) {
    std::vector<Interval> intervals;
    for (const std::string& text : texts) {
        std::error_code ignored;
        const std::size_t colon = text.rfind(':');  // FILE:FOLD
        const bool contig = reference.find(text).has_value();
        const bool file = !contig && std::filesystem::exists(text, ignored);
        const bool folds = !contig && !file && colon != std::string::npos && colon > 0 &&
                           std::filesystem::is_regular_file(text.substr(0, colon), ignored);
        if (file || folds) {
            const auto listed = intervals_of_bed(reference, folds ? text.substr(0, colon) : text,
                                                 folds ? text.substr(colon + 1) : "", option);
            intervals.insert(intervals.end(), listed.begin(), listed.end());
        } else {
            intervals.push_back(genome::region_on(reference, text, option));
        }
    }
    return IntervalSet(intervals);
}

HoldOuts::HoldOuts(const genome::ReferenceGenome& reference, std::span<const std::string> validation,
                   std::span<const std::string> test)
    : validation_(read_held_out(reference, validation, "--validation")),
      test_(read_held_out(reference, test, "--test")) {
    const IntervalSet both = validation_.intersected(test_);
    if (!both.empty()) {
        throw ConfigError("--validation and --test overlap at " +
                          genome::to_string(both.intervals().front()) + "; give regions that do not");
    }
}

Split HoldOuts::split_of(const Interval& where) const {
    if (test_.overlaps(where)) return Split::test;
    return validation_.overlaps(where) ? Split::validation : Split::train;
}

const IntervalSet& HoldOuts::regions(Split held_out) const {
    BIGBIRD_EXPECTS(held_out != Split::train, "training has no regions of its own");
    return held_out == Split::test ? test_ : validation_;
}

Json HoldOuts::describe() const {
    return {{"validation", describe_set(validation_)}, {"test", describe_set(test_)}};
}

std::vector<bool> without_shared_windows(std::span<const SplitWindow> windows) {
    std::vector<Interval> test, validation;
    for (const SplitWindow& one : windows)
        if (one.split == Split::test) test.push_back(one.window);
    const IntervalSet of_test(test);
    std::vector<bool> kept(windows.size(), true);
    for (std::size_t i = 0; i < windows.size(); ++i) {
        if (windows[i].split == Split::validation) {
            kept[i] = !of_test.overlaps(windows[i].window);
            if (kept[i]) validation.push_back(windows[i].window);
        }
    }
    const IntervalSet held_out = of_test.united(IntervalSet(validation));
    for (std::size_t i = 0; i < windows.size(); ++i)
        if (windows[i].split == Split::train) kept[i] = !held_out.overlaps(windows[i].window);
    return kept;
}

}  // namespace bigbird::examples
