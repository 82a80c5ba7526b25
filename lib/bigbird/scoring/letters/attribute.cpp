// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/letter_window.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/rows/sequence_reader.hpp"
#include "bigbird/scoring/letters/letter_rows.hpp"
#include "bigbird/scoring/letters/letters.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/scorers.hpp"
#include "bigbird/tasks/bigbird_network.hpp"
#include "bigbird/tasks/profile_network.hpp"
#include "bigbird/tasks/sequence_network.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <typeinfo>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

/// Limits of a batch: bases in the stem, and numbers in the encoder.
constexpr std::int64_t most_bases = 65'536, most_encoded = std::int64_t{1} << 26;

/// The part of a region's score that one window contributes.
struct WindowScore {
    std::shared_ptr<bins::LetterWindow> window{};
    std::int64_t first = 0, count = 0;  ///< the region's bases that the window reads
    bool reverse = false;               ///< whether the window is the reverse complement
    at::Tensor weights{};               ///< (window_bins, 1) float32 on the device
    rows::LabelTable labels{};          ///< empty without strand pairs

    at::Tensor of(const at::Tensor& letters) const {
        const at::Tensor seen = letters.narrow(1, first, count);
        const at::Tensor scores = (window->logits(reverse ? seen.flip({1, 2}) : seen) * weights).sum(1);
        return reverse ? on_other_strand(scores, labels) : scores;
    }
};

WindowScore window_score(const BinNetwork& network, std::int64_t begin, const at::Tensor& weights,
                         bool reverse, const genome::Interval& where, const std::string& dna) {
    const std::int64_t bases = network.grid().window_bases();
    const std::int64_t first = std::max(begin, where.begin), end = std::min(begin + bases, where.end);
    WindowScore score{.first = first - where.begin, .count = end - first, .reverse = reverse};
    const at::Tensor codes =
        bins::codes_of(reverse ? genome::reverse_complement(dna) : dna).to(network.device());
    const std::int64_t from = reverse ? begin + bases - end : first - begin;
    score.window =
        std::make_shared<bins::LetterWindow>(network.base_network(), codes, from, from + score.count);
    score.weights = (reverse ? weights.flip(0) : weights).to(network.device());
    return score;
}

std::int64_t at_once_of(const BinNetwork& network, std::int64_t stem_bases) {
    const std::int64_t layers = network.base_network()->config().encoder.num_hidden_layers;
    return std::max<std::int64_t>(
        1, std::min(most_bases / stem_bases,
                    most_encoded / (network.window_positions() * network.hidden_size() * (layers + 1))));
}

void require_letters(const ModelFolder& model, const fs::path& path) {
    const auto records = std::dynamic_pointer_cast<SequenceNetwork>(model.network);
    if (model.info.row().is_solved()) {
        throw ConfigError(path.string() +
                          " is a model of k-mers, whose scores have no gradients; predict-mutagenesis and "
                          "predict tell the effects of changes without them");
    }
    if (model.network->reads_tokens()) return;
    if (!records && !model.bins() && !profile_network(model)) {
        throw ConfigError(path.string() + " is a baseline (" + model.info.architecture +
                          "), and attribute takes bin models (bigbird-bins) and sequence models");
    }
    if (records && records->shape().kmers) {
        log_warning("{}: k-mers make {:.0f}% of its scores; they have no gradients and are not attributed",
                    path.string(), 100 * records->shape().kmer_share);
    }
}

/// Opens models for attribution: bin models with one grid, sequence models that read bases, models that give
/// profiles, or token models of windows or bins. All models must be of one of these kinds. Disables the
/// gradients of their parameters. Throws InputError. Throws ConfigError for other kinds of model, with the
/// command to use.
std::vector<ModelFolder> open_letter_models(std::span<const fs::path> paths, const Job& job) {
    std::vector<ModelFolder> models;
    for (const fs::path& path : paths) {
        for (ModelFolder& opened : open_models(std::span(&path, 1), std::nullopt, job)) {
            const ModelFolder& model = models.emplace_back(std::move(opened));
            require_letters(model, path);
            model.network->module()->eval();
            for (at::Tensor& parameter : model.network->module()->parameters())
                parameter.requires_grad_(false);
            if (typeid(*model.network) != typeid(*models.front().network))
                throw ConfigError(
                    "models that are averaged must be of one kind: bin, sequence, token or published models");
        }
    }
    return models;
}

}  // namespace

RowScore region_score(std::span<const ModelFolder> models, Strands strands, const genome::Interval& where,
                      const SequenceOf& sequence_of) {
    const Placement placement(models, false);
    std::vector<WindowScore> parts;
    std::int64_t at_once = most_bases, means = 0;
    for (const RowPart& part : placement.parts(where, genome::Strand::none)) {
        const std::string dna = sequence_of(part.window);
        const at::Tensor weights = part.weights_of_all(placement.grid().window_bins);
        means = 0;
        for (const ModelFolder& model : models) {
            for (const bool reverse : directions_of(strands)) {
                parts.push_back(window_score(*model.bins(), part.window.begin, weights, reverse, where, dna));
                if (model.labels.has_strand_pairs()) parts.back().labels = model.labels;
                at_once = std::min(at_once, at_once_of(*model.bins(), parts.back().window->stem_bases()));
                ++means;
            }
        }
    }
    const auto scores = [parts, means](const at::Tensor& letters) {
        at::Tensor sum;
        for (const WindowScore& part : parts) {
            const at::Tensor own = part.of(letters);
            sum = sum.defined() ? sum + own : own;
        }
        return sum / means;
    };
    return {scores, at_once};
}

RowScore record_score(std::span<const ModelFolder> models, std::int64_t length) {
    std::vector<std::shared_ptr<SequenceNetwork>> networks;
    for (const ModelFolder& model : models)
        networks.push_back(std::dynamic_pointer_cast<SequenceNetwork>(model.network));
    const auto scores = [networks](const at::Tensor& letters) {
        at::Tensor sum;
        for (const auto& network : networks) {
            const std::int64_t read = std::min(letters.size(1), network->shape().member.longest);
            const at::Tensor own =
                network->letter_logits(letters.narrow(1, (letters.size(1) - read) / 2, read));
            sum = sum.defined() ? sum + own : own;
        }
        return sum / std::ssize(networks);
    };
    return {scores, std::max<std::int64_t>(1, most_bases / length)};
}

namespace {

// Contributions of bases to the scores of models that read tokens, for attribute.

struct TokenContributions {
    at::Tensor of_bases;             ///< (selected labels, bases) float32 on the CPU
    double gap = 0, difference = 0;  ///< see AttributeReport
};

constexpr std::int64_t most_numbers = std::int64_t{1} << 21;  ///< maximum numbers in the vectors of a batch

/// A window of a row as one model reads it, on one strand.
class TokenReading {
public:
    /// `weights`: of the window's segments in the score, (segments, 1).
    TokenReading(const TaskNetwork& network, const LetterRow& row, const genome::Interval& window,
                 const at::Tensor& weights, bool reverse)
        : vectors_of_(dynamic_cast<const TokenVectors&>(network)),
          window_(network.encode(row.sequence_of(window), reverse)),
          weights_((reverse ? weights.flip(0) : weights).to(network.device())) {
        const std::int64_t bases = window.size(), begin = row.where.begin - window.begin,
                           end = row.where.end - window.begin;
        const std::vector<TokenSpan> spans = network.spans(window_);
        for (std::int64_t id = 0; id < std::ssize(spans); ++id) {
            TokenSpan span = spans[static_cast<std::size_t>(id)];
            if (reverse) span = {bases - span.end, bases - span.begin};
            if (span.begin == span.end || span.begin >= end || span.end <= begin) continue;
            if (spans_.empty()) first_ = id;
            spans_.push_back({span.begin - begin, span.end - begin});
        }
        vectors_ = vectors_of_.word_vectors(window_);
    }
    bool reads_nothing() const { return spans_.empty(); }

    /// (labels, tokens) on the CPU.
    at::Tensor contributions(AttributionMethod method, std::span<const std::size_t> labels,
                             TokenContributions& sums) const {
        const std::int64_t count = std::ssize(spans_), ids = vectors_.size(0);
        const bins::LetterScores scores = [&](const at::Tensor& some) {
            const auto part = [&](std::int64_t begin, std::int64_t end) {
                return vectors_.slice(0, begin, end).expand({some.size(0), -1, -1});
            };
            const at::Tensor all = at::cat({part(0, first_), some, part(first_ + count, ids)}, 1);
            return (vectors_of_.vector_logits(window_, all) * weights_).sum(1);
        };
        const at::Tensor own = vectors_.narrow(0, first_, count);
        const bins::Attributed what{scores, own, labels,
                                    std::max<std::int64_t>(1, most_numbers / vectors_.numel())};
        if (method == AttributionMethod::saliency) return bins::gradients(what).norm(2, 2).cpu();
        if (method == AttributionMethod::input_x_gradient) return (bins::gradients(what) * own).sum(2).cpu();
        const at::Tensor nothing = at::zeros_like(own).unsqueeze(0);
        const at::Tensor found = (bins::integrated_gradients(what, nothing) * own).sum(2).cpu();
        const at::Tensor differences = bins::score_differences(what, nothing);
        sums.gap += (found.sum(1) - differences).abs().sum().item<double>();
        sums.difference += differences.abs().sum().item<double>();
        return found;
    }
    /// Adds contributions (labels, tokens) to those of bases, (labels, bases). A token's contribution is
    /// divided equally among its bases.
    void spread(const at::Tensor& contributions, at::Tensor& bases) const {
        for (std::int64_t token = 0; token < std::ssize(spans_); ++token) {
            const auto [begin, end] = spans_[static_cast<std::size_t>(token)];
            bases.slice(1, std::max<std::int64_t>(0, begin), std::min(end, bases.size(1))) +=
                contributions.narrow(1, token, 1) / (end - begin);
        }
    }

private:
    const TokenVectors& vectors_of_;
    EncodedWindow window_;
    at::Tensor weights_;
    std::vector<TokenSpan>
        spans_;               ///< tokens that cover bases of the row; coordinates from the row's first base
    std::int64_t first_ = 0;  ///< index of the first of these tokens
    at::Tensor vectors_;      ///< (ids, hidden)
};

/// Contributions to the row's logits, as the mean over models and strands; for bin models the logits are the
/// mean over the row's bins (region_score). A token that covers bases of
/// `where` contributes through its word embedding. integrated_gradients compares that vector with the vector
/// 0. input_x_gradient takes the product of vector and slope; saliency takes the length of the slope. The
/// bases that a token covers have equal shares, and bases without a token have 0. `models` are those of
/// open_letter_models().
TokenContributions token_contributions(std::span<const ModelFolder> models, const Placement& placement,
                                       const AttributeSpec& spec, std::span<const std::size_t> labels,
                                       const LetterRow& row) {
    const std::vector<RowPart> parts = placement.parts(row.where, row.head.strand);
    const std::int64_t segments = placement.by_bins() ? placement.grid().window_bins : 1;
    TokenContributions all{at::zeros({std::ssize(labels), row.where.size()})};
    std::int64_t readings = 0;
    for (const ModelFolder& model : models) {
        for (const bool other :
             directions_of(placement.reads_both_strands() ? spec.strands : Strands::none)) {
            ++readings;
            for (const RowPart& part : parts) {
                const TokenReading reading(*model.network, row, part.window, part.weights_of_all(segments),
                                           other != placement.is_turned(row.head.strand));
                if (reading.reads_nothing()) continue;
                reading.spread(reading.contributions(spec.method, labels, all), all.of_bases);
            }
        }
    }
    all.of_bases /= readings;
    return all;
}

/// Initial points of integrated gradients and DeepLIFT. Their number is doubled, at most three times, until
/// contributions sum to the difference of scores. The tolerated gap is most_gap times the difference, or
/// least_gap per label.
constexpr int first_steps = 50, first_points = 8, most_doublings = 3;
constexpr double most_gap = 0.01, least_gap = 1e-3;

/// (length, 4) float32.
at::Tensor letters_of(std::string_view dna, const at::Device& device) {
    return bins::base_channels(bins::codes_of(dna).unsqueeze(0))[0].to(device);
}

rows::Provenance provenance_of(const AttributeSpec& spec, std::span<const ModelFolder> models) {
    rows::Provenance provenance{{"bigbird-dna", std::string(version())}};
    for (const ModelFolder& model : models)
        provenance.emplace_back("model_sha256", model.sha256);
    provenance.emplace_back("method", std::string(word_of(attribution_method_choices, spec.method)));
    if (spec.has_baseline()) {
        const bool shuffled = spec.baseline == AttributionBaseline::shuffled;
        provenance.emplace_back("baseline", shuffled ? std::to_string(spec.shuffles) + " shuffles" : "zero");
    }
    if (spec.mean_centered) provenance.emplace_back("mean_centered", "yes");
    const bool profiles = profile_network(models.front()) != nullptr;
    if (profiles) {
        const auto target = spec.target.value_or(AttributionTarget::counts);
        provenance.emplace_back("target", std::string(word_of(attribution_target_choices, {target})));
        if (const auto component = component_of(models.front().info))
            provenance.emplace_back("component", *component);
    }
    if (models.front().bins() || profiles)
        provenance.emplace_back("reverse_complement", word_of(strand_choices, spec.strands));
    return provenance;
}

/// Computes the contributions of rows.
class Attributor {
public:
    Attributor(const AttributeSpec& spec, const Job& job)
        : spec_(spec),
          models_(open_letter_models(spec.models, job)),
          placement_(models_, spec.by_records()),
          labels_(models_.front().labels.select(spec.labels)),
          profiles_(profile_network(models_.front()) != nullptr) {
        placement_.require_one_grid(models_);
        if (profiles_) profile_networks(models_);  // throws unless all fit
        if (spec.target && !profiles_)
            throw ConfigError("--target needs a model that gives profiles: ChromBPNet, BPNet or Cherimoya");
        const bool tokens = models_.front().network->reads_tokens();
        if (tokens) spec.require_tokens_fit();
        if (!spec.by_records() && !placement_.by_bins() && !profiles_ &&
            (!tokens || placement_.of_records())) {
            throw ConfigError(
                "--regions needs a bin model or a token model of windows; give --sequences to a sequence "
                "model");
        }
    }

    std::span<const ModelFolder> models() const { return models_; }
    const Placement& placement() const { return placement_; }
    std::span<const std::size_t> labels() const { return labels_; }
    /// (selected labels, bases, 4) hypothetical contributions; NaN where there are none.
    std::vector<float> scores(const LetterRow& row, AttributeReport& report) const {
        stop_if_asked();
        report.bases += std::ssize(row.dna);
        std::vector<float> scores(labels_.size() * row.dna.size() * dna_letters.size(),
                                  std::numeric_limits<float>::quiet_NaN());
        if (models_.front().network->reads_tokens()) {
            add_tokens(row, scores, report);
        } else if (row.dna.find_first_not_of('N') != std::string::npos) {
            const at::Tensor found = mean_contributions(row, report).to(at::kCPU).contiguous();
            std::copy_n(found.const_data_ptr<float>(), scores.size(), scores.begin());
        }
        return scores;
    }

private:
    /// Scores whose mean is the row's.
    std::vector<RowScore> row_scores(const LetterRow& row) const {
        if (profiles_)
            return profile_scores(models_, spec_.strands, spec_.target.value_or(AttributionTarget::counts),
                                  row.where, row.sequence_of);
        return {placement_.by_bins() ? region_score(models_, spec_.strands, row.where, row.sequence_of)
                                     : record_score(models_, std::ssize(row.dna))};
    }
    /// (selected labels, length, 4).
    at::Tensor mean_contributions(const LetterRow& row, AttributeReport& report) const {
        const std::vector<RowScore> all = row_scores(row);
        const auto count = static_cast<double>(all.size());
        AttributeReport sums;
        at::Tensor sum;
        for (const RowScore& score : all) {
            stop_if_asked();
            const at::Tensor found = contributions(row.dna, score, sums);
            sum = sum.defined() ? sum + found : found;
        }
        report.gap += sums.gap / count;
        report.difference += sums.difference / count;
        return sum / count;
    }
    void add_tokens(const LetterRow& row, std::vector<float>& scores, AttributeReport& report) const {
        const TokenContributions found = token_contributions(models_, placement_, spec_, labels_, row);
        const at::Tensor of_bases = found.of_bases.contiguous();
        for (std::size_t i = 0; i < labels_.size() * row.dna.size(); ++i) {
            const std::size_t letter = dna_letters.find(row.dna[i % row.dna.size()]);
            if (letter < dna_letters.size())
                scores[i * dna_letters.size() + letter] = of_bases.const_data_ptr<float>()[i];
        }
        report.gap += found.gap;
        report.difference += found.difference;
    }

    /// (references, length, 4).
    at::Tensor references(const std::string& dna, const at::Tensor& letters) const {
        if (spec_.baseline == AttributionBaseline::zero) return at::zeros_like(letters).unsqueeze(0);
        std::vector<at::Tensor> all;
        const Rng stream = Rng(0).split("attribution-shuffles");
        for (std::int64_t i = 0; i < spec_.shuffles; ++i) {
            Rng rng = stream.split(static_cast<std::uint64_t>(i));
            all.push_back(letters_of(genome::dinucleotide_shuffle(dna, rng), letters.device()));
        }
        return at::stack(all);
    }

    /// (selected labels, length, 4).
    at::Tensor contributions(const std::string& dna, const RowScore& score, AttributeReport& report) const {
        using enum AttributionMethod;
        bins::Attributed what{score.scores, letters_of(dna, models_.front().network->device()), labels_,
                              score.at_once};
        if (!spec_.has_baseline()) {
            const at::Tensor slopes = centered(bins::gradients(what));
            return spec_.method == saliency ? slopes.abs() : slopes;
        }
        const at::Tensor others = references(dna, what.letters);
        const at::Tensor differences = bins::score_differences(what, others);
        const double difference = differences.abs().sum().item<double>(),
                     enough =
                         std::max(most_gap * difference, least_gap * static_cast<double>(labels_.size()));
        at::Tensor found;
        double gap = 0;
        for (int doubled = 0; doubled <= most_doublings && (doubled == 0 || gap > enough); ++doubled) {
            found = spec_.method == deeplift
                        ? bins::deeplift(what, others, first_points << doubled)
                        : bins::integrated_gradients(what, others, first_steps << doubled);
            const at::Tensor sums = (found * what.letters).sum({1, 2}).to(at::kCPU, at::kDouble);
            gap = (sums - differences).abs().sum().item<double>();
        }
        report.gap += gap;
        report.difference += difference;
        return centered(found);
    }
    at::Tensor centered(const at::Tensor& scores) const {
        return spec_.mean_centered ? scores - scores.mean(2, true) : scores;
    }

    const AttributeSpec& spec_;
    std::vector<ModelFolder> models_;
    Placement placement_;
    std::vector<std::size_t> labels_;
    bool profiles_;
};

}  // namespace

AttributeReport attribute(const AttributeSpec& spec) {
    spec.validate();
    AttributeSpec own = spec;
    own.outputs.tracks = !spec.by_records();
    LetterOutputs::prepare(own.outputs);
    if (spec.by_records()) require_readable(spec.sequences);
    const Job job = open_job(spec);
    const Attributor attributor(own, job);
    const ModelFolder& first = attributor.models().front();
    LetterRows rows(own, first, attributor.placement(), {.can_skip = false});
    LetterOutputs outputs(own.outputs, first.labels, attributor.labels(),
                          provenance_of(own, attributor.models()), LetterTrack::own, rows.contigs(),
                          job.threads);
    rows.require_one_length(own.outputs);
    AttributeReport report;
    Progress progress("Attributing", "bases", 0);
    while (const auto row = rows.next()) {
        outputs.write(row->head, row->dna, attributor.scores(*row, report));
        progress.update(report.bases);
    }
    rows.report();
    progress.finish();
    outputs.commit();
    report.tiled = rows.tiled();
    return report;
}

std::vector<motifs::Contributions> contributions(const AttributeSpec& spec) {
    const Job job = open_job(spec);
    const Attributor attributor(spec, job);
    BIGBIRD_EXPECTS(attributor.labels().size() == 1, "contributions to other than one label");
    LetterRows rows(spec, attributor.models().front(), attributor.placement(), {.can_skip = false});
    AttributeReport report;
    std::vector<motifs::Contributions> found;
    while (const auto row = rows.next()) {
        const std::vector<float> scores = attributor.scores(*row, report);
        motifs::Contributions& region = found.emplace_back(row->dna);
        for (std::size_t i = 0; i < row->dna.size(); ++i) {
            const float* of_base = &scores[dna_letters.size() * i];
            const std::size_t letter = dna_letters.find(row->dna[i]);
            const float value =
                letter < dna_letters.size()
                    ? of_base[letter] - (of_base[0] + of_base[1] + of_base[2] + of_base[3]) / 4
                    : 0;
            region.values.push_back(std::isfinite(value) ? value : 0);
        }
    }
    return found;
}

}  // namespace bigbird::tasks
