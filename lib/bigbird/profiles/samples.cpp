// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/samples.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <utility>

namespace bigbird::profiles {

SampleOrder::SampleOrder(std::vector<Region> peaks, std::vector<Region> background,
                         std::int64_t background_per_epoch, std::int64_t jitter, std::uint64_t seed)
    : peaks_(std::move(peaks)),
      background_(std::move(background)),
      drawn_(std::min(background_per_epoch, std::ssize(background_))),
      jitter_(jitter),
      seed_(seed) {
    BIGBIRD_EXPECTS(epoch_size() > 0, "training samples without a region");
}

void SampleOrder::begin_epoch(std::int64_t epoch) {
    Rng rng = Rng(seed_).split("profile samples").split(static_cast<std::uint64_t>(epoch));
    const auto is_reverse = [&] { return rng.between(0, 1) == 1; };
    samples_.clear();
    for (const Region& peak : peaks_)
        samples_.push_back({peak, rng.between(-jitter_, jitter_), is_reverse()});
    std::vector<Region> background = background_;
    draw_to_front(background, static_cast<std::size_t>(drawn_), rng);
    const auto shift = [&] { return peaks_.empty() ? rng.between(-jitter_, jitter_) : 0; };
    for (std::int64_t i = 0; i < drawn_; ++i)
        samples_.push_back({background[static_cast<std::size_t>(i)], shift(), is_reverse()});
    shuffle(samples_, rng);
    epoch_ = epoch;
}

Sample SampleOrder::at(std::int64_t index) {
    const std::int64_t epoch = index / epoch_size();
    if (epoch != epoch_) begin_epoch(epoch);
    return samples_[static_cast<std::size_t>(index % epoch_size())];
}

std::string WindowSource::dna(const Sample& sample) const {
    const std::int64_t begin = begin_of(sample, input_);
    const std::string& contig = reference_.contigs()[sample.region.contig].name;
    std::string dna = reference_.fetch({contig, begin, begin + input_});
    return sample.reverse ? genome::reverse_complement(dna) : dna;
}

void WindowSource::counts(const Sample& sample, std::span<float> counts) const {
    BIGBIRD_EXPECTS(std::ssize(counts) == output_, "a profile of another length");
    sites_.copy(sample.region.contig, begin_of(sample, output_), counts);
    if (sample.reverse) std::ranges::reverse(counts);
}

std::int64_t WindowSource::total(const Region& region) const {
    const std::int64_t begin = begin_of({region}, output_);
    return sites_.count(region.contig, begin, begin + output_);
}

}  // namespace bigbird::profiles
