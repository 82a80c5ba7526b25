// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/data_set.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"

#include <set>
#include <utility>

namespace bigbird::profiles {

WindowLengths lengths_for(double covered_share) {
    return covered_share > most_covered ? narrow_lengths : usual_lengths;
}

DataSet::DataSet(DataSetOptions options)
    : options_(std::move(options)),
      regions_(options_.regions),
      read_(read_cut_counts(options_.signals, reference(), options_.reading)),
      summits_(read_summits(options_.peaks, reference())) {
    std::set<std::string> with_peaks;
    for (const Region& summit : summits_)
        with_peaks.insert(reference().contigs()[summit.contig].name);
    regions_.choose_missing_hold_outs([&](const std::string& contig) { return with_peaks.contains(contig); });
    log_info("{} and {}", counted(sites().total(), "read end"), counted(summits_.size(), "summit"));
}

SplitRegions DataSet::split(const WindowLengths& lengths) const {
    SplitRegions made = make_regions(regions_, summits_,
                                     {.window = lengths.input,
                                      .jitter = jitter_of(lengths),
                                      .background = options_.background,
                                      .seed = options_.seed});
    using examples::Split;
    for (const Split split : examples::all_splits)
        log_info("{}: {}, {} of background", to_string(split), counted(made.of(split, true).size(), "peak"),
                 counted(made.of(split, false).size(), "window"));
    return made;
}

}  // namespace bigbird::profiles
