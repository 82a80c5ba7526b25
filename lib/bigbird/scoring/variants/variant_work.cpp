// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/variants/variant_work.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/outputs/variant_sink.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>

namespace bigbird::tasks {

namespace fs = std::filesystem;

namespace {

/// Refuses options that pretrained models do not have.
void require_pretrained_fit(const EffectSpec& spec) {
    require_one_bin(spec.scorer);
    if (spec.models.size() > 1) {
        throw ConfigError(
            "several --model are averaged only for models of a task; give one pretrained model");
    }
    if (!spec.labels.empty())
        throw ConfigError("--labels needs a chromatin model; a pretrained one has none");
    if (!spec.tss.empty()) throw ConfigError("--tss needs a promoter model; this one is only pretrained");
}

void require_tss_fit(const examples::TaskTraits& task, bool has_tss) {
    if (task.about_tss == has_tss) return;
    throw ConfigError(has_tss ? "--tss is for promoter models; --model is one for chromatin"
                              : "a promoter model scores variants in the windows of TSSs: give --tss BED");
}

/// The scorer of the run's models. Its `run` has all settings that effects depend on.
std::unique_ptr<VariantScorer> open_scorer(const EffectSpec& spec, const genome::ReferenceGenome& reference,
                                           bool warns) {
    const Job job = open_job(spec);
    if (spec.models.empty()) throw ConfigError("--model is needed");
    const fs::path first = training::find_model(spec.models.front());
    std::unique_ptr<VariantScorer> scorer;
    Strands strands = spec.strands.value_or(Strands::average);
    if (is_task_model(first)) {
        const TaskInfo info = read_task_info(first);
        const examples::TaskTraits& task = info.traits();
        require_tss_fit(task, !spec.tss.empty());
        if (task.about_tss) strands = spec.strands.value_or(Strands::none);
        std::vector<ModelFolder> models =
            open_models(spec.models, task.labels_bases ? std::nullopt : std::optional(info.task), job);
        const auto warning = warns ? other_build(models.front().info, reference) : std::nullopt;
        if (warning) log_warning("{}", *warning);
        scorer =
            task_scorer(std::move(models), spec.labels, strands, spec.scorer, spec.bins, job.batch_tokens);
    } else {
        require_pretrained_fit(spec);
        tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(first, model::read_config(first));
        if (warns && tokenizer.frame() == 1)
            log_warning(
                "{}: its tokens are k-mers, cut from the left. Only substitutions within one token are "
                "scored; indels, "
                "which shift all tokens behind them, get the status too_long",
                first.string());
        MaskedScorer masked(model::load_pretraining_model(first, job.device), std::move(tokenizer), strands,
                            job);
        scorer = pretrained_scorer(std::move(masked), spec.window, model::weights_checksum(first));
    }
    scorer->run.emplace_back("window", std::to_string(scorer->window));
    scorer->run.emplace_back("reverse_complement", word_of(strand_choices, strands));
    if (spec.scorer != BinScorer::centre) {
        scorer->run.emplace_back("scorer", word_of(bin_scorer_choices, spec.scorer));
        scorer->run.emplace_back("bins", std::to_string(spec.bins));
    }
    return scorer;
}

}  // namespace

VariantWork::VariantWork(const EffectSpec& spec, bool warns)
    : threads(resolve_threads(spec.threads)),
      reference(genome::open_references(spec.references)),
      scorer(open_scorer(spec, *reference, warns)),
      tss(scorer->about_tss
              ? std::optional<rows::TssIndex>(std::in_place, spec.tss, *reference, *scorer->about_tss)
              : std::nullopt),
      rows(spec.variants, *reference, scorer->window, tss ? &*tss : nullptr, scorer->begin_of,
           scorer->aligned) {}

namespace {

constexpr const char* checksum_key = "model_sha256";
constexpr std::size_t shown_digits = 12;

std::vector<std::string> checksums_of(const rows::Provenance& run) {
    std::vector<std::string> sums;
    for (const auto& [key, value] : run)
        if (key == checksum_key) sums.push_back(value.substr(0, shown_digits));
    return sums;
}

/// The entries of `run` that `other` lacks.
std::string words_of(const rows::Provenance& run, const rows::Provenance& other) {
    std::string words;
    for (const auto& entry : run)
        if (std::ranges::find(other, entry) == other.end())
            words += (words.empty() ? "" : ", ") + entry.first + " " + entry.second;
    return words.empty() ? "defaults" : words;
}

}  // namespace

EffectRanks::EffectRanks(const fs::path& given, std::span<const fs::path> models) : path_(given) {
    if (path_.empty() && models.size() == 1) {
        path_ = training::find_model(models.front()) / "background.h5";
        is_own_ = true;
        if (!is_there(path_)) path_.clear();
    }
    if (!path_.empty()) background_ = outputs::read_background(path_);
}

void EffectRanks::require(const rows::Provenance& run, std::span<const std::string> labels) {
    if (!background_) {
        log_info("top_p is NA without a background of effects: build-background makes one");
        return;
    }
    const auto theirs = checksums_of(background_->run), ours = checksums_of(run);
    if (theirs != ours) {
        throw InputError(fmt::format("is a background of another model ({}…, this one is {}…); make one with "
                                     "build-background --model",
                                     fmt::join(theirs, ", "), fmt::join(ours, ", ")),
                         path_);
    }
    if (background_->run != run) {
        const std::string sentence = "is a background of other options (" + words_of(background_->run, run) +
                                     ", not " + words_of(run, background_->run) +
                                     "); make one with build-background and the same options";
        if (!is_own_) throw InputError(sentence, path_);
        log_warning("{}: {}; quantile and p are left out, and top_p is NA", path_.string(), sentence);
        background_.reset();
        return;
    }
    for (const std::string& label : labels) {
        const auto found = background_->find(label);
        if (!found) throw InputError("lacks the label '" + label + "'; make it again", path_);
        labels_.push_back(*found);
    }
    const bool has_all = labels_.size() == background_->labels.size();
    ranks_largest_ = has_all && !background_->of_largest.empty();
    if (!has_all && labels_.size() > 1)
        log_info("top_p is NA, as --labels chooses some of the labels that it compares; p has each label's");
    if (has_all && !ranks_largest_) {
        log_warning(
            "{}: lacks the largest effects of shuffled variants, which earlier versions did not store: top_p "
            "is "
            "NA; make it again with build-background",
            path_.string());
    }
}

void EffectRanks::fill(std::span<AlleleEffects> effects) const {
    if (!background_) return;
    for (AlleleEffects& of_allele : effects) {
        for (std::size_t i = 0; i < of_allele.size(); ++i) {
            AlleleEffect& effect = of_allele[i];
            effect.quantile = static_cast<float>(background_->quantile(labels_[i], effect.log_odds));
            if (!background_->has_models())
                effect.p = static_cast<float>(background_->p(labels_[i], effect.log_odds));
        }
    }
}

std::vector<std::vector<float>> EffectRanks::peaks() const {
    std::vector<std::vector<float>> peaks;
    for (std::int64_t model = 0; background_ && model < background_->models(); ++model)
        for (const std::size_t label : labels_)
            if (const auto own = background_->peaks_of(model, label); !own.empty())
                peaks.emplace_back(own.begin(), own.end());
    return peaks;
}

RankFigures EffectRanks::rank() const {
    if (!background_ || !background_->has_models()) return {};
    return [this](std::size_t model, std::size_t label, const ModelFigures& figures) {
        using Figure = outputs::EffectBackground::Figure;
        const auto p = [&](Figure figure, double value) {
            return background_->p_of_model(figure, model, labels_[label], value);
        };
        return ModelFigures{p(Figure::log2_fold_change, figures.log2_fold_change),
                            p(Figure::jsd, figures.jsd)};
    };
}

TopEffect EffectRanks::top(const AlleleEffects& effects) const {
    TopEffect top = top_of(effects);
    if (ranks_largest_)
        top.p = static_cast<float>(background_->p_of_largest(top.effect));
    else if (labels_.size() == 1 && !effects.empty())
        top.p = effects.front().p;
    return top;
}

VariantReport predict_variants(const VariantSpec& spec) {
    spec.validate();
    const outputs::OutputSpec output = spec.output_spec();
    outputs::prepare_outputs_with_variants(output);
    require_readable(spec.variants);
    EffectRanks ranks(spec.background, spec.models);
    VariantWork work(spec);
    ranks.require(work.scorer->run, work.scorer->labels);
    work.scorer->peaks = ranks.peaks();
    work.scorer->rank = ranks.rank();
    return predict_variants(spec, work, ranks);
}

}  // namespace bigbird::tasks
