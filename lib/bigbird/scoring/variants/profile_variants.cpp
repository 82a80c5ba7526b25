// SPDX-License-Identifier: Apache-2.0
// Variants by models that give profiles, by the definitions of variant-scorer (profile_figures.hpp): a window
// begins input / 2 bases before the variant, each model is read by itself, figures are means over models.
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/scoring/edited_window.hpp"
#include "bigbird/scoring/placement.hpp"
#include "bigbird/scoring/variants/profile_figures.hpp"
#include "bigbird/scoring/variants/task_scorer.hpp"
#include "bigbird/tasks/profile_network.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::tasks {

namespace {

constexpr std::size_t rows_on_cpu = 4;

/// A window of the reference and the alleles that are read in it.
struct AllelesOfWindow {
    std::string ref;
    std::vector<bins::Substitution> each;
    std::vector<std::string> texts;                ///< of alleles that are no substitutions
    std::vector<std::size_t> substituted, edited;  ///< rows of each and of texts

    /// Of the reference's window, each substitution's and each text's, in this order.
    std::size_t windows() const { return 1 + each.size() + texts.size(); }
    std::vector<std::string> all() const {
        std::vector<std::string> windows{ref};
        for (const bins::Substitution& one : each) {
            windows.push_back(ref);
            windows.back()[static_cast<std::size_t>(one.at)] = "ACGTN"[one.code];
        }
        windows.insert(windows.end(), texts.begin(), texts.end());
        return windows;
    }
};

/// What one model gives for windows, as the mean of its strands: float64 on the CPU.
struct StrandMean {
    at::Tensor counts;  ///< (windows, groups), exp(log counts)
    at::Tensor logits;  ///< (windows, output, columns)

    void add(const networks::ProfileHeads& heads, double share) {
        const at::Tensor reads = heads.counts.to(at::kCPU, at::kDouble).exp() * share,
                         profile = heads.profile.to(at::kCPU, at::kDouble) * share;
        counts = counts.defined() ? counts + reads : reads;
        logits = logits.defined() ? logits + profile : profile;
    }
};

/// Sums over the models of a label's figures.
struct ProfileFigures {
    double ref = 0, alt = 0, log2_fold_change = 0, jsd = 0, quantile = 0, log_p = 0, log_jsd_p = 0;
};

class ProfileVariants : public TaskScorer {
public:
    ProfileVariants(std::vector<ModelFolder> models, std::string_view chosen, Strands strands,
                    std::int64_t batch_tokens, std::optional<AllelePasses> passes)
        : TaskScorer(models, chosen),
          models_(std::move(models)),
          networks_(profile_networks(models_)),
          directions_(directions_of(strands)),
          batch_tokens_(batch_tokens),
          passes_(passes.value_or(networks_.front()->device().is_cpu() ? AllelePasses::edited
                                                                       : AllelePasses::complete)) {
        begin_of = [half = shape().input / 2](std::int64_t position) { return position - half; };
        gives_profiles = true;
        count_offset = tasks::count_offset(link());
        if (passes_ == AllelePasses::edited) rows_at_once = rows_on_cpu;
        for (const ModelFolder& model : models_)
            if (const auto component = component_of(model.info)) run.emplace_back("component", *component);
    }

    std::vector<AlleleEffects> score(std::span<rows::VariantRow> rows, int threads) override {
        std::vector<AlleleEffects> effects(rows.size());
        const std::vector<AllelesOfWindow> windows = windows_of(rows);
        if (windows.empty()) return effects;
        std::vector<std::vector<ProfileFigures>> sums(rows.size(),
                                                      std::vector<ProfileFigures>(chosen().size()));
        for (std::size_t model = 0; model < networks_.size(); ++model) {
            const StrandMean heads = passes_ == AllelePasses::edited
                                         ? edited(model, windows)
                                         : complete(model, texts_of(windows), threads);
            add(model, rows, windows, heads, sums);
        }
        for (std::size_t row = 0; row < rows.size(); ++row)
            for (const ProfileFigures& sum : sums[row])
                if (rows::is_scored(rows[row].status)) effects[row].push_back(effect_of(sum));
        return effects;
    }

    std::vector<std::vector<float>> reads_of(std::span<const std::string> windows) override {
        std::vector<std::vector<float>> reads;
        for (std::size_t model = 0; model < networks_.size(); ++model) {
            const at::Tensor counts = complete(model, windows, 1).counts;
            for (const std::size_t label : chosen()) {
                std::vector<float>& own = reads.emplace_back();
                for (std::int64_t i = 0; i < counts.size(0); ++i)
                    own.push_back(static_cast<float>(reads_in(counts, i, label)));
            }
        }
        return reads;
    }

private:
    const networks::ProfileShape& shape() const { return networks_.front()->shape(); }
    double reads_in(const at::Tensor& counts, std::int64_t index, std::size_t label) const {
        return counts[index][static_cast<std::int64_t>(label)].item<double>() - count_offset;
    }

    /// Alleles of adjacent rows share a window.
    static std::vector<AllelesOfWindow> windows_of(std::span<const rows::VariantRow> rows) {
        std::vector<AllelesOfWindow> windows;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const rows::VariantRow& row = rows[i];
            if (!rows::is_scored(row.status)) continue;
            if (windows.empty() || windows.back().ref != row.ref_sequence)
                windows.emplace_back().ref = row.ref_sequence;
            AllelesOfWindow& shared = windows.back();
            if (row.substitution) {
                const char letter = row.alt_sequence[static_cast<std::size_t>(row.offset)];
                shared.each.push_back({row.offset, bins::code_of(letter)});
                shared.substituted.push_back(i);
            } else {
                shared.texts.push_back(row.alt_sequence);
                shared.edited.push_back(i);
            }
        }
        return windows;
    }
    static std::vector<std::string> texts_of(std::span<const AllelesOfWindow> windows) {
        std::vector<std::string> texts;
        for (const AllelesOfWindow& shared : windows)
            std::ranges::move(shared.all(), std::back_inserter(texts));
        return texts;
    }

    /// Computes for a substitution only what it changes.
    StrandMean edited(std::size_t model, std::span<const AllelesOfWindow> windows) const {
        const at::NoGradGuard no_gradients;
        std::vector<std::string> texts;
        std::vector<std::vector<bins::Substitution>> each;
        for (const AllelesOfWindow& shared : windows) {
            texts.push_back(shared.ref);
            each.push_back(shared.each);
            texts.insert(texts.end(), shared.texts.begin(), shared.texts.end());
            each.resize(texts.size());
        }
        StrandMean mean;
        for (const bool reverse : directions_) {
            stop_if_asked();
            mean.add(networks_[model]->heads(texts, each, reverse), share());
        }
        return mean;
    }
    /// Computes all windows in batches.
    StrandMean complete(std::size_t model, std::span<const std::string> windows, int threads) const {
        const at::NoGradGuard no_gradients;
        const ProfileNetwork& network = *networks_[model];
        StrandMean mean;
        for (const bool reverse : directions_) {
            std::vector<EncodedWindow> encoded(windows.size());
            parallel_for(std::ssize(windows), threads, [&](std::int64_t i) {
                const auto at = static_cast<std::size_t>(i);
                encoded[at] = network.encode(windows[at], reverse);
                if (encoded[at].all_n()) encoded[at].ids.assign(windows[at].size(), bins::code_of('N'));
            });
            std::vector<at::Tensor> profiles, counts;
            for (const auto& group : network.group(encoded, batch_tokens_, model::GroupSizes::any)) {
                stop_if_asked();
                networks::ProfileHeads heads = network.heads(encoded, group);
                if (reverse) heads = on_other_strand(heads, shape());
                profiles.push_back(heads.profile.to(at::kCPU));
                counts.push_back(heads.counts.to(at::kCPU));
            }
            mean.add({at::cat(profiles), at::cat(counts)}, share());
        }
        return mean;
    }
    double share() const { return 1.0 / static_cast<double>(directions_.size()); }

    /// Adds one model's figures of all rows.
    void add(std::size_t model, std::span<const rows::VariantRow> rows,
             std::span<const AllelesOfWindow> windows, const StrandMean& heads,
             std::vector<std::vector<ProfileFigures>>& sums) const {
        for (std::size_t i = 0; i < chosen().size(); ++i) {
            const std::size_t label = chosen()[i];
            const at::Tensor profiles = profile_probabilities(heads.logits, shape(), label)
                                            .contiguous();  // (windows, output, columns)
            const std::span<const float> own_peaks =
                peaks.empty() ? std::span<const float>() : peaks[model * chosen().size() + i];
            const auto add_row = [&](std::size_t row, std::int64_t ref, std::int64_t alt) {
                const double of_ref = reads_in(heads.counts, ref, label),
                             of_alt = reads_in(heads.counts, alt, label);
                ProfileFigures& sum = sums[row][i];
                sum.ref += of_ref;
                sum.alt += of_alt;
                const ModelFigures figures{
                    std::log2((of_alt + count_offset) / (of_ref + count_offset)),
                    profile_distance(numbers_of(profiles[ref]), numbers_of(profiles[alt]), profiles.size(2),
                                     rows[row].ref_bases, rows[row].alt_bases)};
                const ModelFigures p = rank ? rank(model, i, figures) : ModelFigures();
                sum.log2_fold_change += figures.log2_fold_change;
                sum.jsd += figures.jsd;
                sum.log_p += std::log(p.log2_fold_change);
                sum.log_jsd_p += std::log(p.jsd);
                sum.quantile += quantile_among(own_peaks, std::max(of_ref, of_alt));
            };
            std::int64_t first = 0;
            for (const AllelesOfWindow& shared : windows) {
                std::int64_t next = first + 1;
                for (const auto& of_kind : {shared.substituted, shared.edited})
                    for (const std::size_t row : of_kind)
                        add_row(row, first, next++);
                first = next;
            }
        }
    }
    static std::span<const double> numbers_of(const at::Tensor& profile) {
        return {profile.const_data_ptr<double>(), static_cast<std::size_t>(profile.numel())};
    }
    AlleleEffect effect_of(const ProfileFigures& sum) const {
        const auto mean = [&](double of) { return of / static_cast<double>(networks_.size()); };
        const double ref = mean(sum.ref), alt = mean(sum.alt);
        return {.ref = static_cast<float>(ref),
                .alt = static_cast<float>(alt),
                .difference = static_cast<float>(alt - ref),
                .log_odds = static_cast<float>(additive(alt, link()) - additive(ref, link())),
                .p = static_cast<float>(std::exp(mean(sum.log_p))),
                .log2_fold_change = static_cast<float>(mean(sum.log2_fold_change)),
                .jsd = static_cast<float>(mean(sum.jsd)),
                .jsd_p = static_cast<float>(std::exp(mean(sum.log_jsd_p))),
                .active_allele_quantile = static_cast<float>(mean(sum.quantile))};
    }

    std::vector<ModelFolder> models_;
    std::vector<std::shared_ptr<ProfileNetwork>> networks_;
    std::vector<bool> directions_;
    std::int64_t batch_tokens_;
    AllelePasses passes_;
};

}  // namespace

std::unique_ptr<VariantScorer> profile_variants(std::vector<ModelFolder> models, std::string_view labels,
                                                Strands strands, std::int64_t batch_tokens,
                                                std::optional<AllelePasses> passes) {
    return std::make_unique<ProfileVariants>(std::move(models), labels, strands, batch_tokens, passes);
}

}  // namespace bigbird::tasks
