// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/variants/variant_scorers.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/scoring/edited_window.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/scorers.hpp"
#include "bigbird/scoring/variants/task_scorer.hpp"
#include "bigbird/tasks/bigbird_network.hpp"
#include "bigbird/tasks/profile_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace bigbird::tasks {

namespace {

struct Sums {
    double ref = 0, alt = 0, difference = 0, additive = 0;  ///< sums over the bins
    double squares = 0, additive_squares = 0;               ///< sums of squared differences
};

AlleleEffect rounded(double ref, double alt, double difference, double log_odds) {
    return {.ref = static_cast<float>(ref),
            .alt = static_cast<float>(alt),
            .difference = static_cast<float>(difference),
            .log_odds = static_cast<float>(log_odds)};
}

}  // namespace

AlleleEffect effect_over(std::span<const double> ref, std::span<const double> alt, BinScorer scorer,
                         LinkFunction link) {
    const auto count = static_cast<double>(ref.size());
    std::size_t largest = 0;
    double largest_effect = 0;
    Sums sums;
    for (std::size_t i = 0; i < ref.size(); ++i) {
        const double difference = alt[i] - ref[i], effect = additive(alt[i], link) - additive(ref[i], link);
        if (i == 0 || std::isnan(largest_effect) || std::abs(effect) > std::abs(largest_effect)) {
            largest = i;
            largest_effect = effect;
        }
        sums.ref += ref[i];
        sums.alt += alt[i];
        sums.difference += difference;
        sums.additive += effect;
        sums.squares += difference * difference;
        sums.additive_squares += effect * effect;
    }
    switch (scorer) {
        case BinScorer::mean:
            return rounded(sums.ref / count, sums.alt / count, sums.difference / count,
                           sums.additive / count);
        case BinScorer::l2:
            return rounded(sums.ref / count, sums.alt / count, std::sqrt(sums.squares),
                           std::sqrt(sums.additive_squares));
        case BinScorer::sum:
            return rounded(sums.ref, sums.alt, sums.difference,
                           gives_probabilities(link) ? sums.additive
                                                     : additive(sums.alt, link) - additive(sums.ref, link));
        case BinScorer::centre:
        case BinScorer::max:
            break;
    }
    return rounded(ref[largest], alt[largest], alt[largest] - ref[largest], largest_effect);
}

TopEffect top_of(const AlleleEffects& effects) {
    TopEffect top;
    for (std::size_t i = 0; i < effects.size(); ++i) {
        const float effect = effects[i].log_odds;
        if (std::isnan(effect) || (top.label && std::abs(effect) <= std::abs(top.effect))) continue;
        top.label = i;
        top.effect = effect;
    }
    return top;
}

namespace {

constexpr std::int64_t tokens_together = 16;

using Ids = std::vector<std::int32_t>;

/// Tokens that two encodings have in common at both ends.
struct Common {
    std::size_t before = 0, behind = 0;
};

Common common_of(const Ids& a, const Ids& b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    Common common;
    while (common.before < shorter && a[common.before] == b[common.before])
        ++common.before;
    while (common.behind < shorter - common.before &&
           a[a.size() - 1 - common.behind] == b[b.size() - 1 - common.behind])
        ++common.behind;
    return common;
}

/// The tokens of both alleles; none if they cannot be compared. Nucleotide Transformer cuts k-mers from the
/// left: up to 5 bases are left out there, so that one token differs. Indels shift all tokens behind them.
std::pair<Ids, Ids> ids_of(std::string_view ref, std::string_view alt,
                           const tokenizer::DnaTokenizer& tokenizer) {
    constexpr std::size_t bases = 6;
    const bool grid = tokenizer.frame() == 1;
    for (std::size_t skipped = 0; skipped < std::min({ref.size(), alt.size(), grid ? bases : 1}); ++skipped) {
        Ids a = tokenizer.encode(ref.substr(skipped)), b = tokenizer.encode(alt.substr(skipped));
        const Common common = common_of(a, b);
        if (!grid || a == b || (a.size() == b.size() && common.before + common.behind + 1 == a.size()))
            return {std::move(a), std::move(b)};
    }
    return {};
}

/// Makes the query: [CLS], context, masked tokens, context, [SEP], with as much context as fits.
MaskedScorer::Query query_of(const Ids& ids, const Common& common, std::size_t left, std::size_t right,
                             const tokenizer::SpecialIds& special) {
    const auto begin = static_cast<std::ptrdiff_t>(common.before - left);
    const auto end = static_cast<std::ptrdiff_t>(ids.size() - common.behind + right);
    MaskedScorer::Query query;
    query.input.ids.push_back(special.cls);
    query.input.ids.insert(query.input.ids.end(), ids.begin() + begin, ids.begin() + end);
    if (special.sep >= 0) query.input.ids.push_back(special.sep);
    query.first_masked = static_cast<std::int64_t>(left) + 1;
    const std::size_t count = ids.size() - common.before - common.behind;
    const auto first = query.input.ids.begin() + query.first_masked;
    query.originals.assign(first, first + static_cast<std::ptrdiff_t>(count));
    std::fill_n(first, count, special.mask);
    return query;
}

}  // namespace

MaskedScorer::MaskedScorer(model::PreTrainingModel network, tokenizer::DnaTokenizer tokenizer,
                           Strands strands, const Job& job)
    : network_(std::move(network)),
      tokenizer_(std::move(tokenizer)),
      strands_(strands),
      job_(job),
      max_tokens_(max_tokens(network_->config())) {
    network_->eval();
}

std::vector<MaskedScorer::Query> MaskedScorer::queries_of(std::string_view ref, std::string_view alt) const {
    const auto trimmed = [](std::string_view dna) {  // long runs of N at the ends carry no information
        const std::size_t first = dna.find_first_not_of('N');
        return first == std::string_view::npos ? std::string_view()
                                               : dna.substr(first, dna.find_last_not_of('N') - first + 1);
    };
    const auto [ref_ids, alt_ids] = ids_of(trimmed(ref), trimmed(alt), tokenizer_);
    if (ref_ids.empty() || alt_ids.empty() || ref_ids == alt_ids) return {};
    const Common common = common_of(ref_ids, alt_ids);
    const std::size_t middle = std::max(ref_ids.size(), alt_ids.size()) - common.before - common.behind;
    const auto most = static_cast<std::size_t>(max_tokens_ - tokenizer_.frame());
    if (middle > most) return {};
    const std::size_t room = most - middle;
    std::size_t left = std::min(common.before, room / 2);
    const std::size_t right = std::min(common.behind, room - left);
    left = std::min(common.before, room - right);
    const tokenizer::SpecialIds special = tokenizer_.special_ids();
    return {query_of(ref_ids, common, left, right, special), query_of(alt_ids, common, left, right, special)};
}

at::Tensor MaskedScorer::log_p_of(const at::Tensor& hidden, std::vector<std::int64_t> positions,
                                  std::vector<std::int64_t> originals) {
    const auto masked = std::ssize(positions);
    // Rounding of products depends on the number of rows. Groups have one size (the last is filled up), so
    // that a token's result does not depend on the number of masked tokens.
    const std::int64_t size = job_.device.is_cpu() ? tokens_together : masked;
    const auto filled = static_cast<std::size_t>((masked + size - 1) / size * size);
    positions.resize(filled, positions.back());
    originals.resize(filled, originals.back());
    const at::Tensor places = model::copy_to_device(at::tensor(positions, at::kLong), job_.device),
                     labels = model::copy_to_device(at::tensor(originals, at::kLong), job_.device);
    std::vector<at::Tensor> log_p;
    for (std::int64_t i = 0; i < masked; i += size) {
        const at::Tensor logits = network_->predict(hidden, places.narrow(0, i, size)).prediction_logits;
        log_p.push_back(logits.to(at::kFloat)
                            .log_softmax(1)
                            .gather(1, labels.narrow(0, i, size).unsqueeze(1)));  // (size, 1)
    }
    return at::cat(log_p).narrow(0, 0, masked).to(at::kCPU, at::kDouble).contiguous();
}

std::vector<double> MaskedScorer::log_likelihoods(std::span<const Query> queries) {
    const at::NoGradGuard no_gradients;
    std::vector<model::TokenSequence> inputs;
    for (const Query& query : queries)
        inputs.push_back(query.input);
    std::vector<double> sums(queries.size(), 0);
    const model::BigBirdConfig& config = network_->config();
    for (const auto& group : model::group_by_blocks(inputs, config.pattern.block_size, job_.batch_tokens,
                                                    model::sizes_for_scores(job_.device))) {
        stop_if_asked();
        const model::EncoderInput input = gather_input(inputs, group, config, job_.device);
        const std::int64_t length = input.input_ids.size(1);
        std::vector<std::int64_t> positions, originals;
        for (std::size_t row = 0; row < group.size(); ++row) {
            const Query& query = queries[group[row]];
            for (std::size_t i = 0; i < query.originals.size(); ++i) {
                positions.push_back(static_cast<std::int64_t>(row) * length + query.first_masked +
                                    static_cast<std::int64_t>(i));
                originals.push_back(query.originals[i]);
            }
        }
        if (positions.empty()) continue;
        const training::Autocast autocast(job_.computing.type, job_.device);
        const at::Tensor log_p = log_p_of(network_->encode(input).hidden, positions, originals);
        const double* next = log_p.const_data_ptr<double>();
        for (const std::size_t index : group) {
            const auto count = static_cast<std::ptrdiff_t>(queries[index].originals.size());
            sums[index] = std::accumulate(next, next + count, 0.0);
            next += count;
        }
    }
    return sums;
}

std::vector<std::optional<MaskedScore>> MaskedScorer::score(std::span<const AllelePair> pairs, int threads) {
    const std::vector<bool> directions = directions_of(strands_);
    std::vector<std::vector<Query>> of_pairs(pairs.size());
    parallel_for(static_cast<std::int64_t>(pairs.size()), threads, [&](std::int64_t index) {
        const AllelePair& pair = pairs[static_cast<std::size_t>(index)];
        std::vector<Query>& all = of_pairs[static_cast<std::size_t>(index)];
        const auto add = [&](const std::string& ref, const std::string& alt) {
            for (Query& query : queries_of(ref, alt))
                all.push_back(std::move(query));
        };
        for (const bool reverse : directions)
            reverse ? add(genome::reverse_complement(pair.ref), genome::reverse_complement(pair.alt))
                    : add(pair.ref, pair.alt);
    });
    std::vector<Query> queries;
    for (std::vector<Query>& some : of_pairs)
        std::move(some.begin(), some.end(), std::back_inserter(queries));
    const std::vector<double> sums = log_likelihoods(queries);
    std::vector<std::optional<MaskedScore>> scores(pairs.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (of_pairs[i].empty()) continue;
        MaskedScore score;
        const auto strands = static_cast<double>(of_pairs[i].size() / 2);
        for (std::size_t q = 0; q < of_pairs[i].size(); q += 2, next += 2) {
            score.ref += sums[next] / strands;
            score.alt += sums[next + 1] / strands;
        }
        scores[i] = score;
    }
    return scores;
}

TaskScorer::TaskScorer(std::span<const ModelFolder> models, std::string_view chosen)
    : all_labels_(models.front().labels.size()),
      link_(models.front().calibration.link),
      chosen_(models.front().labels.select(chosen)) {
    const TaskInfo& info = models.front().info;
    window = info.window.size();
    if (info.traits().about_tss) about_tss = info.window;
    label_columns = outputs::label_columns(models.front().labels, chosen_);
    for (const outputs::Column& column : label_columns)
        labels.push_back(column.name);
    effect = additive_effect(link_);
    run = {{"task", std::string(to_string(info.task))}};
    for (const ModelFolder& model : models)
        run.emplace_back("model_sha256", model.sha256);
}

AlleleEffects TaskScorer::effects_of(std::span<const double> ref, std::span<const double> alt,
                                     BinScorer scorer) const {
    const std::size_t bins = ref.size() / all_labels_;
    AlleleEffects effects;
    for (const std::size_t label : chosen_) {
        effects.push_back(
            effect_over(ref.subspan(label * bins, bins), alt.subspan(label * bins, bins), scorer, link_));
    }
    return effects;
}

namespace {

/// Scores windows around the variants, or windows of TSSs.
class WindowVariants : public TaskScorer {
public:
    WindowVariants(Predictor predictor, std::string_view chosen)
        : TaskScorer(predictor.models(), chosen), predictor_(std::move(predictor)) {}
    std::vector<AlleleEffects> score(std::span<rows::VariantRow> rows, int threads) override {
        std::vector<std::string> sequences;
        std::vector<std::pair<std::size_t, std::size_t>> places(rows.size());  // indices of ref and alt
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows::is_scored(rows[i].status)) continue;
            // The alleles of one record share the reference's window.
            const bool again = i > 0 && rows[i].record == rows[i - 1].record &&
                               rows::is_scored(rows[i - 1].status) &&
                               rows[i].ref_sequence == rows[i - 1].ref_sequence;
            places[i].first = again ? places[i - 1].first : sequences.size();
            if (!again) sequences.push_back(rows[i].ref_sequence);
            places[i].second = sequences.size();
            sequences.push_back(rows[i].alt_sequence);
        }
        const PreparedRows encoded = predictor_.encode(sequences, threads);
        const std::vector<double> scores = predictor_.probabilities(encoded);
        const std::size_t width = predictor_.labels().size();
        std::vector<AlleleEffects> effects(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows::is_scored(rows[i].status)) continue;
            const auto [ref, alt] = places[i];
            if (encoded.truncated[ref] || encoded.truncated[alt]) rows[i].status = rows::RowStatus::truncated;
            const std::span<const double> all(scores);
            effects[i] = effects_of(all.subspan(ref * width, width), all.subspan(alt * width, width));
        }
        return effects;
    }

private:
    Predictor predictor_;
};

/// Scores windows of a contig's grid: the bin that contains POS, in the window whose core contains that bin.
class BinVariants : public TaskScorer {
public:
    BinVariants(std::vector<ModelFolder> models, const bins::Grid& grid, std::string_view chosen,
                Strands strands, BinScorer scorer, std::int64_t bins)
        : TaskScorer(models, chosen),
          models_(std::move(models)),
          strands_(strands),
          grid_(grid),
          scorer_(scorer),
          side_(bins / 2),
          shares_passes_(std::ranges::all_of(
              models_, [](const ModelFolder& model) { return model.bins()->shares_passes(); })) {
        if (side_ > grid_.margin_bins) {
            throw ConfigError(fmt::format(
                "--scorer: {} bins reach over the window's margin of {}: the most for this model is {}", bins,
                grid_.margin_bins, 2 * grid_.margin_bins + 1));
        }
        aligned = side_ > 0;
        window = grid_.window_bases();
        begin_of = [grid](std::int64_t position) {
            return grid.begin_of(grid.window_of(position / grid.bin));
        };
    }
    std::vector<AlleleEffects> score(std::span<rows::VariantRow> rows, int) override {
        std::map<std::string_view, std::vector<std::size_t>> members;  // row indices by reference sequence
        std::string_view last;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows::is_scored(rows[i].status)) members[last = rows[i].ref_sequence].push_back(i);
        std::vector<Window> windows;
        for (const auto& [dna, of_it] : members)
            windows.push_back(dna == last_.dna ? std::move(last_) : Window{.dna = std::string(dna)});
        std::vector<AlleleEffects> effects(rows.size());
        const std::vector<std::pair<std::string_view, std::vector<std::size_t>>> each(members.begin(),
                                                                                      members.end());
        model::for_each_pass(std::ssize(windows), shares_passes_, [&](std::int64_t i) {
            const auto at = static_cast<std::size_t>(i);
            score(rows, each[at].second, windows[at], effects);
            // Variants are sorted, and the next chunk often begins in the same window.
            if (windows[at].dna == last) last_ = std::move(windows[at]);
            windows[at] = {};
        });
        return effects;
    }

private:
    struct Window {
        std::string dna{};
        std::optional<EditedWindow> edited{};
        at::Tensor ref{};  ///< its scores, (window_bins, labels)
    };

    /// Scores rows that share a window of the reference.
    void score(std::span<const rows::VariantRow> rows, std::span<const std::size_t> members, Window& window,
               std::vector<AlleleEffects>& effects) const {
        stop_if_asked();
        if (!window.edited) {
            window.edited.emplace(models_, strands_, window.dna);
            window.ref = window.edited->reference();
        }
        std::vector<bins::Substitution> each;
        std::vector<std::int64_t> bins;
        std::vector<std::size_t> substituted, others;
        for (const std::size_t i : members) {
            const rows::VariantRow& row = rows[i];
            (row.substitution ? substituted : others).push_back(i);
            if (!row.substitution) continue;
            each.push_back(
                {row.offset, bins::code_of(row.alt_sequence[static_cast<std::size_t>(row.offset)])});
            for (std::int64_t bin = -side_; bin <= side_; ++bin)
                bins.push_back(bin_of(row) + bin);
        }
        model::for_each_pass(std::ssize(others), shares_passes_, [&](std::int64_t i) {
            const std::size_t row = others[static_cast<std::size_t>(i)];
            effects[row] = effects_at(rows[row], window.ref, edited(rows[row], *window.edited));
        });
        if (each.empty()) return;
        const at::Tensor alt =
            window.edited->substituted(each, at::tensor(bins, at::kLong).view({-1, width()}));
        for (std::size_t i = 0; i < substituted.size(); ++i)
            effects[substituted[i]] =
                effects_at(rows[substituted[i]], window.ref, alt[static_cast<std::int64_t>(i)]);
    }
    std::int64_t bin_of(const rows::VariantRow& row) const { return row.offset / grid_.bin; }
    std::int64_t width() const { return 2 * side_ + 1; }
    /// The scores of the other allele, (bins, labels), for the bins around the variant's. Bins after the
    /// variant come from the window in which the bases after ALT keep their offsets. They are thus compared
    /// with the same bases.
    at::Tensor edited(const rows::VariantRow& row, const EditedWindow& window) const {
        const std::int64_t bin = bin_of(row);
        const at::Tensor left = window.edited({&row.alt_sequence, 1})[0].narrow(0, bin - side_, width());
        if (row.right_sequence.empty()) return left;
        const at::Tensor right = window.edited({&row.right_sequence, 1})[0].narrow(0, bin + 1, side_);
        return at::cat({left.narrow(0, 0, side_ + 1), right});
    }
    /// `alt`: (bins, labels) around the variant's bin. Bins beyond the contig's ends are ignored.
    AlleleEffects effects_at(const rows::VariantRow& row, const at::Tensor& ref,
                             const at::Tensor& alt) const {
        const std::int64_t first = bin_of(row) - side_, begin = row.window_begin + first * grid_.bin;
        const std::int64_t skipped = std::max<std::int64_t>(0, -begin / grid_.bin);
        const std::int64_t end = std::min(width(), (row.contig_length - begin + grid_.bin - 1) / grid_.bin);
        const at::Tensor r = ref.narrow(0, first + skipped, end - skipped).t().contiguous(),
                         a = alt.narrow(0, skipped, end - skipped).t().contiguous();
        const auto count = static_cast<std::size_t>(r.numel());
        return effects_of({r.const_data_ptr<double>(), count}, {a.const_data_ptr<double>(), count}, scorer_);
    }

    std::vector<ModelFolder> models_;
    Strands strands_;
    bins::Grid grid_;
    BinScorer scorer_;
    std::int64_t side_;  ///< bins on each side of the variant's bin
    bool shares_passes_;
    Window last_{};  ///< the window of the last variant
};

/// The windows of both alleles without the reference bases at the end that only one of them contains. Windows
/// have equal lengths, so after an indel one of them extends further.
AllelePair same_context(const rows::VariantRow& row) {
    const std::size_t longer = std::max(row.ref.size(), row.alt.size());
    return {row.ref_sequence.substr(0, row.ref_sequence.size() - (longer - row.ref.size())),
            row.alt_sequence.substr(0, row.alt_sequence.size() - (longer - row.alt.size()))};
}

class PretrainedScorer : public VariantScorer {
public:
    PretrainedScorer(MaskedScorer scorer, std::int64_t bases, const std::string& sha256)
        : scorer_(std::move(scorer)) {
        window = bases;
        labels = {"."};
        effect = "log_likelihood_ratio";
        run = {{"task", "masked tokens"}, {"model_sha256", sha256}};
    }
    std::vector<AlleleEffects> score(std::span<rows::VariantRow> rows, int threads) override {
        std::vector<AllelePair> pairs;
        for (const rows::VariantRow& row : rows)
            pairs.push_back(rows::is_scored(row.status) ? same_context(row) : AllelePair{});
        const auto scores = scorer_.score(pairs, threads);
        std::vector<AlleleEffects> effects(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows::is_scored(rows[i].status)) continue;
            if (!scores[i] && pairs[i].ref != pairs[i].alt) {  // more tokens than the network has positions
                rows[i].status = rows::RowStatus::too_long;
                continue;
            }
            // No value means equal tokens: neither allele is more likely.
            const MaskedScore score = scores[i].value_or(MaskedScore{});
            const auto odds = static_cast<float>(score.alt - score.ref);
            effects[i] = {{static_cast<float>(score.ref), static_cast<float>(score.alt), odds, odds}};
        }
        return effects;
    }

private:
    MaskedScorer scorer_;
};

}  // namespace

void require_one_bin(BinScorer scorer) {
    if (scorer == BinScorer::centre) return;
    throw ConfigError("--scorer " + std::string(word_of(bin_scorer_choices, scorer)) +
                      " is for models that score bins; this one gives one score per window: leave it out");
}

std::unique_ptr<VariantScorer> task_scorer(std::vector<ModelFolder> models, std::string_view labels,
                                           Strands strands, BinScorer scorer, std::int64_t bins,
                                           std::int64_t batch_tokens) {
    const Placement placement(models, false);
    placement.require_one_grid(models);
    if (placement.by_bins())
        return std::make_unique<BinVariants>(std::move(models), placement.grid(), labels, strands, scorer,
                                             bins);
    require_one_bin(scorer);
    if (profile_network(models.front()))
        return profile_variants(std::move(models), labels, strands, batch_tokens);
    return std::make_unique<WindowVariants>(Predictor(std::move(models), strands, batch_tokens), labels);
}

std::unique_ptr<VariantScorer> pretrained_scorer(MaskedScorer scorer, std::int64_t window,
                                                 const std::string& sha256) {
    return std::make_unique<PretrainedScorer>(std::move(scorer), window, sha256);
}

}  // namespace bigbird::tasks
