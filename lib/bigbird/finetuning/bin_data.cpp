// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/bin_data.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::tasks {

namespace {

using examples::Split;
using Rows = std::vector<std::int64_t>;

/// A uniform random sample of at most `most` of the offered items (algorithm R).
class Reservoir {
public:
    Reservoir(std::int64_t most, Rng rng) : most_(most), rng_(rng) {}
    void offer(std::int64_t item) {
        if (std::ssize(kept_) < most_)
            kept_.push_back(item);
        else if (const std::int64_t place = rng_.between(0, offered_); place < most_)
            kept_[static_cast<std::size_t>(place)] = item;
        ++offered_;
    }
    const Rows& kept() const { return kept_; }

private:
    std::int64_t most_, offered_ = 0;
    Rng rng_;
    Rows kept_;
};

Rows background_rows(const BinWindows& windows, std::int64_t most, const Rng& rng) {
    Reservoir chosen(most, rng.split("background"));
    windows.for_each_row([&](std::int64_t row) { chosen.offer(row); });
    Rows rows = chosen.kept();
    std::ranges::sort(rows);
    return rows;
}

/// For each label up to `most` of its bins, minus its bins in the background.
std::vector<Rows> rows_of_labels(const BinWindows& windows, const Rows& background,
                                 const motifs::LabelledSequence& sample, std::int64_t most, const Rng& rng) {
    std::vector<Reservoir> chosen;
    for (const std::vector<std::int32_t>& with : sample.with)
        chosen.emplace_back(std::max<std::int64_t>(0, most - std::ssize(with)),
                            rng.split("label").split(chosen.size()));
    auto next = background.begin();
    windows.for_each_row([&](std::int64_t row) {
        if (next != background.end() && *next == row)
            ++next;
        else
            windows.bins().for_each_label(row, [&](std::size_t label) { chosen[label].offer(row); });
    });
    std::vector<Rows> rows;
    for (const Reservoir& some : chosen)
        rows.push_back(some.kept());
    return rows;
}

void append_codes(const BinWindows& windows, const Rows& rows, motifs::LabelledSequence& sample) {
    sample.codes.reserve(sample.codes.size() + rows.size() * static_cast<std::size_t>(sample.length));
    for (const std::int64_t row : rows) {
        const at::Tensor codes = bins::codes_of(windows.sequence_of(row));
        const auto* const first = codes.const_data_ptr<std::uint8_t>();
        sample.codes.insert(sample.codes.end(), first, first + codes.numel());
    }
}

/// Appends every bin that was chosen for a label, once, after the background.
void append_bins_of_labels(const BinWindows& windows, const std::vector<Rows>& of_labels,
                           motifs::LabelledSequence& sample) {
    Rows added;
    for (const Rows& rows : of_labels)
        added.insert(added.end(), rows.begin(), rows.end());
    std::ranges::sort(added);
    added.erase(std::ranges::unique(added).begin(), added.end());
    for (std::size_t label = 0; label < of_labels.size(); ++label) {
        std::vector<std::int32_t>& with = sample.with[label];
        for (const std::int64_t row : of_labels[label]) {
            const auto place = std::ranges::lower_bound(added, row) - added.begin();
            with.push_back(static_cast<std::int32_t>(sample.background + place));
        }
        std::ranges::sort(with);
    }
    append_codes(windows, added, sample);
}

}  // namespace

motifs::LabelledSequence sample_of(const BinWindows& windows, const SampleSize& size, const Rng& rng) {
    const Rows background = background_rows(windows, size.background, rng);
    motifs::LabelledSequence sample{.length = windows.bins().bin_size(),
                                    .background = std::ssize(background)};
    sample.with.resize(windows.bins().label_table().size());
    for (std::size_t label = 0; label < sample.with.size(); ++label)
        sample.names.push_back(windows.bins().label_table()[label].name);
    for (std::size_t i = 0; i < background.size(); ++i) {
        windows.bins().for_each_label(
            background[i],
            [&](std::size_t label) { sample.with[label].push_back(static_cast<std::int32_t>(i)); });
    }
    append_codes(windows, background, sample);
    if (sample.background == windows.usable()) return sample;
    const std::int64_t most =
        std::min(size.of_label, size.of_labels / std::max<std::int64_t>(sample.labels(), 1));
    append_bins_of_labels(windows, rows_of_labels(windows, background, sample, most, rng), sample);
    return sample;
}

namespace {

/// Which bins are rows of train. Both are in the order of the reference.
RankedBits rows_of_train(const examples::ExampleSet& examples, const examples::LabelledBins& bins) {
    const std::vector<std::int64_t> train = examples.rows(Split::train);
    auto next = train.begin();
    RankedBits are;
    for (const examples::BinStretch& stretch : bins.stretches()) {
        for (std::int64_t bin = stretch.first; bin < stretch.first + stretch.count; ++bin) {
            const bool is =
                stretch.split == Split::train && next != train.end() &&
                examples.row(*next).where ==
                    genome::Interval{stretch.contig, bin * bins.bin_size(), (bin + 1) * bins.bin_size()};
            are.push_back(is);
            if (is) ++next;
        }
    }
    if (next != train.end()) throw InputError("--examples: train.bed has rows that are no bins of bins.bed");
    return are;
}

constexpr double most_n = 0.5;  // a counted bin has a smaller share of N
/// Logits of one validation, at about 16 bytes of memory each.
constexpr std::int64_t most_logits = std::int64_t{1} << 24;
/// Bins for the motif search, and for the choice of each label's own motif.
constexpr SampleSize search_size{.background = 131072, .of_label = 2000, .of_labels = 400000};
constexpr SampleSize choice_size{.background = 32768, .of_label = 1000, .of_labels = 131072};

/// Whether each bin of a stretch counts.
std::vector<bool> counting_bins(const examples::LabelledBins& bins, const examples::BinStretch& stretch) {
    const std::int64_t size = bins.bin_size();
    std::vector<bool> counts;
    for (std::int64_t bin = stretch.first; bin < stretch.first + stretch.count; ++bin) {
        const std::string dna = bins.sequence(stretch.contig, bin * size, (bin + 1) * size);
        counts.push_back(genome::n_fraction(dna) < most_n);
    }
    return counts;
}

}  // namespace

Teacher::Teacher(const std::filesystem::path& path, const examples::ExampleSet& examples,
                 const examples::LabelledBins& bins)
    : rows_(rows_of_train(examples, bins)),
      scores_(path, examples::Cells::scores, rows_.ones(), bins.label_table().size()) {
    std::int64_t without = 0;
    for (std::int64_t row = 0; row < rows_.ones(); ++row) {
        const std::span<const float> scores = scores_.numbers(row);
        if (std::isnan(scores[0]) &&
            std::ranges::all_of(scores, [](float score) { return std::isnan(score); }))
            ++without;
        else if (!std::ranges::all_of(scores, [](float score) { return score >= 0 && score <= 1; }))
            throw InputError("holds a number that is no probability", path);
    }
    if (without == rows_.ones()) throw InputError("holds no scores", path);
    if (without > 0) log_info("{} rows of --teacher have no scores and teach by their labels", without);
}

std::span<const float> Teacher::scores(std::int64_t row) const {
    if (!rows_[row]) return {};
    const std::span<const float> scores = scores_.numbers(rows_.ones_before(row));
    return std::isnan(scores[0]) ? std::span<const float>() : scores;
}

std::vector<BinWindow> evenly_spaced(std::vector<BinWindow> windows, std::int64_t most) {
    const std::int64_t count = std::ssize(windows);
    if (count <= most) return windows;
    for (std::int64_t i = 0; i < most; ++i)
        windows[static_cast<std::size_t>(i)] = windows[static_cast<std::size_t>(i * count / most)];
    windows.resize(static_cast<std::size_t>(most));
    return windows;
}

BinWindows::BinWindows(const examples::LabelledBins& bins, const bins::Grid& grid, examples::Split split,
                       int threads)
    : bins_(bins), grid_(grid), split_(split) {
    const auto stretches = bins.stretches();
    std::vector<std::vector<bool>> counts(stretches.size());
    parallel_for(std::ssize(stretches), threads, [&](std::int64_t i) {
        const auto s = static_cast<std::size_t>(i);
        if (stretches[s].split == split) counts[s] = counting_bins(bins, stretches[s]);
    });
    for (std::size_t s = 0; s < stretches.size(); ++s) {
        counts[s].resize(static_cast<std::size_t>(stretches[s].count), false);
        for (const bool one : counts[s])
            counts_.push_back(one);
    }
}

bool BinWindows::is_usable(const examples::BinStretch& stretch, std::int64_t bin) const {
    return bin >= stretch.first && bin < stretch.first + stretch.count &&
           counts_[stretch.row + bin - stretch.first];
}

std::size_t BinWindows::stretch_of(std::int64_t row) const {
    const auto after = std::ranges::upper_bound(bins_.stretches(), row, {}, &examples::BinStretch::row);
    return static_cast<std::size_t>(after - bins_.stretches().begin() - 1);
}

std::string BinWindows::sequence_of(std::int64_t row) const {
    const examples::BinStretch& stretch = bins_.stretches()[stretch_of(row)];
    const std::int64_t begin = (stretch.first + row - stretch.row) * grid_.bin;
    return bins_.sequence(stretch.contig, begin, begin + grid_.bin);
}

std::int64_t BinWindows::counted(const BinWindow& window) const {
    const examples::BinStretch& stretch = bins_.stretches()[window.stretch];
    std::int64_t count = 0;
    for (std::int64_t i = window.counted_begin; i < window.counted_end; ++i)
        count += is_usable(stretch, window.first + i) ? 1 : 0;
    return count;
}

std::vector<std::int64_t> BinWindows::positives() const {
    std::vector<std::int64_t> sums(bins_.label_table().size());
    for_each_row([&](std::int64_t row) { bins_.for_each_label(row, [&](std::size_t i) { ++sums[i]; }); });
    return sums;
}

BinWindow BinWindows::draw(Rng rng, std::int64_t shift, bool both_strands) const {
    BIGBIRD_EXPECTS(usable() > 0, "no bin to draw");
    const std::int64_t row = this->row(rng.between(0, usable() - 1));
    const std::size_t index = stretch_of(row);
    const examples::BinStretch& stretch = bins_.stretches()[index];
    const std::int64_t bin = stretch.first + row - stretch.row;
    const std::int64_t least = std::max(stretch.first, bin - grid_.window_bins + 1);
    const std::int64_t most = std::min(bin, stretch.first + stretch.count - grid_.window_bins);
    BinWindow window{.stretch = index,
                     .first = most < least ? stretch.first : rng.between(least, most),
                     .counted_end = grid_.window_bins};
    window.shift = rng.between(-shift, shift);
    window.reverse = both_strands && rng.between(0, 1) == 1;
    return window;
}

std::vector<BinWindow> BinWindows::tiles() const {
    std::vector<BinWindow> windows;
    for (std::size_t s = 0; s < bins_.stretches().size(); ++s) {
        const examples::BinStretch& stretch = bins_.stretches()[s];
        if (stretch.split != split_) continue;
        for (std::int64_t core = 0; core < stretch.count; core += grid_.core_bins()) {
            windows.push_back({.stretch = s,
                               .first = stretch.first + core - grid_.margin_bins,
                               .counted_begin = grid_.margin_bins,
                               .counted_end = grid_.window_bins - grid_.margin_bins});
        }
    }
    return windows;
}

std::string BinWindows::sequence(const BinWindow& window) const {
    const examples::BinStretch& stretch = bins_.stretches()[window.stretch];
    const std::int64_t size = grid_.bin, begin = window.first * size + window.shift,
                       end = begin + grid_.window_bases();
    const std::int64_t from = std::clamp(stretch.first * size, begin, end),
                       to = std::clamp((stretch.first + stretch.count) * size, begin, end);
    std::string dna(static_cast<std::size_t>(from - begin), 'N');
    if (from < to) dna += bins_.sequence(stretch.contig, from, to);
    dna.resize(static_cast<std::size_t>(end - begin), 'N');
    return window.reverse ? genome::reverse_complement(dna) : dna;
}

template <typename Copy>
void BinWindows::copy_bins(const BinWindow& window, std::span<std::uint8_t> counts, const Copy& copy) const {
    const examples::BinStretch& stretch = bins_.stretches()[window.stretch];
    for (std::int64_t i = 0; i < grid_.window_bins; ++i) {
        const std::int64_t bin = window.first + i;
        const bool usable = i >= window.counted_begin && i < window.counted_end && is_usable(stretch, bin);
        const auto at = static_cast<std::size_t>(window.reverse ? grid_.window_bins - 1 - i : i);
        counts[at] = usable ? 1 : 0;
        if (usable) copy(stretch.row + bin - stretch.first, at);
    }
}

void BinWindows::copy_labels(const BinWindow& window, std::span<std::uint8_t> labels,
                             std::span<std::uint8_t> counts) const {
    const std::size_t width = bins_.label_table().size();
    std::ranges::fill(labels, std::uint8_t{0});
    copy_bins(window, counts, [&](std::int64_t row, std::size_t at) {
        bins_.copy_labels(row, labels.subspan(at * width, width));
    });
}

void BinWindows::copy_taught(const BinWindow& window, const Teacher& teacher, std::span<float> targets,
                             std::span<std::uint8_t> counts) const {
    const std::size_t width = bins_.label_table().size();
    std::vector<std::uint8_t> labels(width);
    std::ranges::fill(targets, 0.0F);
    copy_bins(window, counts, [&](std::int64_t row, std::size_t at) {
        bins_.copy_labels(row, labels);
        const std::span<const float> scores = teacher.scores(row);
        const std::span<float> target = targets.subspan(2 * at * width, 2 * width);
        const auto probabilities = std::ranges::copy(labels, target.begin()).out;
        if (scores.empty())
            std::fill(probabilities, target.end(), -1.0F);
        else
            std::ranges::copy(scores, probabilities);
    });
}

void BinWindows::copy_numbers(const BinWindow& window, std::span<float> numbers,
                              std::span<std::uint8_t> counts) const {
    const std::size_t width = bins_.label_table().size();
    std::ranges::fill(numbers, 0.0F);
    copy_bins(window, counts, [&](std::int64_t row, std::size_t at) {
        const std::span<const float> from = bins_.numbers(row);
        for (std::size_t track = 0; track < width; ++track)
            numbers[at * width + track] =
                from[window.reverse ? bins_.label_table().on_other_strand(track) : track];
    });
}

std::vector<double> mean_numbers(const BinWindows& train) {
    std::vector<double> means(train.bins().label_table().size(), 0);
    train.for_each_row([&](std::int64_t row) {
        const std::span<const float> numbers = train.bins().numbers(row);
        for (std::size_t track = 0; track < means.size(); ++track)
            means[track] += static_cast<double>(numbers[track]);
    });
    for (std::size_t track = 0; track < means.size(); ++track) {
        means[track] /= static_cast<double>(std::max<std::int64_t>(1, train.usable()));
        if (means[track] > 0) continue;
        throw InputError("track " + train.bins().label_table()[track].name +
                         " has no signal on the bins of train that count");
    }
    return means;
}

BinData::BinData(std::shared_ptr<const BinNetwork> network, const examples::LabelledBins& bins,
                 const ClassifierSpec& spec, const BinsSpec& of_bins, int threads,
                 std::shared_ptr<const Teacher> teacher)
    : network_(std::move(network)),
      grid_(network_->grid()),
      bins_(bins),
      spec_(spec),
      of_bins_(of_bins),
      threads_(threads),
      training_(bins, grid_, Split::train, threads),
      validation_(bins, grid_, Split::validation, threads),
      teacher_(std::move(teacher)),
      positives_(training_.positives()) {
    if (training_.usable() == 0) {
        throw InputError(
            "--examples holds no bin of train that is not N; build it again with a larger part for training");
    }
    if (bins.has_numbers())
        means_ = mean_numbers(training_);
    else if (std::ranges::all_of(positives_, [](std::int64_t count) { return count == 0; }))
        throw InputError("--examples has no bin of train with a label: there is nothing to learn");
    if (validation_.usable() > 0) {
        const std::int64_t bins_of_tile = grid_.core_bins() * static_cast<std::int64_t>(positives_.size());
        tiles_ = evenly_spaced(validation_.tiles(), std::max<std::int64_t>(1, most_logits / bins_of_tile));
    }
}

std::unique_ptr<Target> BinData::target(const at::Device& device) const {
    if (bins_.has_numbers()) return numbers_target(LinkFunction::softplus, of_bins_.loss);
    std::vector<double> weights;
    for (const std::int64_t ones : positives_)
        weights.push_back(balanced_weight(ones, training_.usable()));
    if (spec_.positive_weight) weights = {*spec_.positive_weight};
    return labels_target(weights, device);
}

void BinData::start(TaskNetwork& network, const Target& target, bool speaks) const {
    std::vector<double> rates;
    for (const std::int64_t ones : positives_)
        rates.push_back((static_cast<double>(ones) + 0.5) / (static_cast<double>(training_.usable()) + 1));
    if (bins_.has_numbers()) rates.assign(means_.size(), 1);
    start_at(rates, network, target);
    if (of_bins_.motifs > 0) plant(dynamic_cast<const BinNetwork&>(network), speaks);
}

void BinData::plant(const BinNetwork& network, bool speaks) const {
    constexpr double norm = 0.9;  // norm of planted motifs; the other filters have 0.58
    const bins::BinsNetwork base = network.base_network();
    if (!base || grid_.bin < motifs::least_motif_width) return;
    at::Tensor filters = base->first_filters();
    const motifs::MotifSearch search{
        .width = std::clamp(filters.size(2), motifs::least_motif_width, grid_.bin),
        .most = std::min(of_bins_.motifs, filters.size(0))};
    const Rng rng = Rng(spec_.seed).split("motifs");
    const motifs::MotifSet found =
        motifs::find_enriched(sample_of(training_, search_size, rng), search, threads_);
    const at::NoGradGuard no_gradients;
    at::Tensor planted = filters.cpu();
    bins::plant_motifs(planted, found, norm);
    filters.copy_(planted);
    std::int64_t own = 0;
    if (const bins::OwnMotifs head = base->own_motifs(); head.weight.defined()) {
        const bins::OwnMotifs chosen = bins::choose_own_motifs(planted.narrow(0, 0, head.mean.size(0)),
                                                               sample_of(training_, choice_size, rng));
        head.mean.copy_(chosen.mean);
        head.weight.copy_(chosen.weight);
        own = chosen.weight.count_nonzero().item<std::int64_t>();
    }
    if (speaks && !of_bins_.motif_file.empty() && !found.motifs.empty())
        motifs::write_motifs(of_bins_.motif_file, found, Overwrite::allow);
    if (speaks) {
        log_info(
            "{} of the first filters begin as motifs of the training bins; {} of {} have one of their own",
            found.motifs.size(), own, counted(labels().size(), "label"));
    }
}

void BinData::say(const TaskNetwork& network, std::int64_t steps, std::int64_t batch_size) const {
    std::int64_t parameters = 0;
    for (const at::Tensor& parameter : network.trained_parameters())
        parameters += parameter.numel();
    const double seen = static_cast<double>(steps * batch_size * grid_.window_bins);
    log_info("{} to learn from, {} for validation; {} parameters; {} of {} of {}, each bin seen {:.1f} times",
             counted(training_.usable(), "bin"), validation_.usable(), parameters, counted(steps, "step"),
             counted(batch_size, "window"), counted(grid_.window_bins, "bin"),
             seen / static_cast<double>(training_.usable()));
    std::int64_t measured = 0;
    for (const BinWindow& tile : tiles_)
        measured += validation_.counted(tile);
    if (measured < validation_.usable())
        log_info("{} of the bins for validation, evenly spaced, are measured", measured);
}

BinWindow BinData::sample(std::int64_t number) const {
    const Rng stream = Rng(spec_.seed).split("windows of bins").split(static_cast<std::uint64_t>(number));
    return training_.draw(stream, of_bins_.shift, spec_.both_strands);
}

Batch BinData::batch_of(const BinWindows& source, std::span<const BinWindow> windows) const {
    const bool numbers = bins_.has_numbers(), taught = teacher_ && &source == &training_;
    const std::int64_t count = std::ssize(windows), bins = grid_.window_bins,
                       width = bins * static_cast<std::int64_t>(labels().size()) * (taught ? 2 : 1);
    Batch batch;
    batch.windows.resize(windows.size());
    batch.wanted = {at::empty({count, bins, width / bins}, numbers || taught ? at::kFloat : at::kByte),
                    at::empty({count, bins, 1}, at::kByte)};
    at::Tensor& targets = batch.wanted.targets;
    auto* const counted = batch.wanted.counts.mutable_data_ptr<std::uint8_t>();
    parallel_for(count, threads_, [&](std::int64_t i) {
        const BinWindow& window = windows[static_cast<std::size_t>(i)];
        const std::span<std::uint8_t> counts(counted + i * bins, static_cast<std::size_t>(bins));
        const auto size = static_cast<std::size_t>(width);
        if (numbers)
            source.copy_numbers(window, {targets.mutable_data_ptr<float>() + i * width, size}, counts);
        else if (taught)
            source.copy_taught(window, *teacher_, {targets.mutable_data_ptr<float>() + i * width, size},
                               counts);
        else
            source.copy_labels(window, {targets.mutable_data_ptr<std::uint8_t>() + i * width, size}, counts);
        batch.windows[static_cast<std::size_t>(i)] = network_->encode(source.sequence(window));
    });
    if (numbers) targets /= at::tensor(means_, at::kFloat);
    return batch;
}

Batch BinData::train(std::int64_t begin, std::int64_t end) {
    std::vector<BinWindow> windows;
    for (std::int64_t number = begin; number < end; ++number)
        windows.push_back(sample(number));
    return batch_of(training_, windows);
}

double BinData::weight(std::int64_t begin, std::int64_t end) const {
    std::int64_t counted = 0;
    for (std::int64_t number = begin; number < end; ++number)
        counted += training_.counted(sample(number));
    return static_cast<double>(counted * static_cast<std::int64_t>(labels().size()));
}

Batch BinData::validation(std::int64_t begin, std::int64_t end) const {
    return batch_of(validation_, std::span(tiles_).subspan(static_cast<std::size_t>(begin),
                                                           static_cast<std::size_t>(end - begin)));
}

}  // namespace bigbird::tasks
