// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/specs/score_specs.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>

namespace bigbird::tasks {

namespace {

/// In the order of the default.
constexpr Choices<Quantity, 10> columns{{{Quantity::ref, "ref"},
                                         {Quantity::alt, "alt"},
                                         {Quantity::difference, "difference"},
                                         {Quantity::log_odds, "log_odds"},
                                         {Quantity::log2_fold_change, "log2_fold_change"},
                                         {Quantity::jsd, "jsd"},
                                         {Quantity::quantile, "quantile"},
                                         {Quantity::p, "p"},
                                         {Quantity::jsd_p, "jsd_p"},
                                         {Quantity::active_allele_quantile, "active_allele_quantile"}}};

Quantity parse_quantity(std::string_view word) {
    std::string name(word);
    std::ranges::replace(name, '-', '_');
    for (const Choice<Quantity>& column : columns)
        if (column.word == name) return column.value;
    throw ConfigError(
        "--write takes ref, alt, difference, log_odds, quantile and p, of models that give profiles "
        "also log2_fold_change, jsd, jsd_p and active_allele_quantile, separated by commas, not '" +
        std::string(word) + "'");
}

/// What a run lacks for a quantity; nullptr: nothing.
const char* lacks(Quantity quantity, const EffectKinds& kinds) {
    constexpr const char* of_profiles = "is for models that give profiles: leave it out";
    switch (quantity) {
        case Quantity::jsd_p:
            if (!kinds.profiles) return of_profiles;
            [[fallthrough]];
        case Quantity::quantile:
        case Quantity::p:
            if (kinds.ranked) return nullptr;
            return "needs a background of effects: make one with build-background and give it as "
                   "--background";
        case Quantity::log2_fold_change:
        case Quantity::jsd:
        case Quantity::active_allele_quantile:
            if (!kinds.profiles) return of_profiles;
            if (quantity != Quantity::active_allele_quantile || kinds.peaks) return nullptr;
            return "needs a background with peaks: make one with build-background --regions and give it as "
                   "--background";
        default:
            return nullptr;
    }
}

}  // namespace

std::string_view to_string(Quantity quantity) {
    return word_of(columns, quantity);
}

std::vector<Quantity> parse_quantities(std::string_view words, const EffectKinds& kinds) {
    std::vector<Quantity> quantities;
    for (const Choice<Quantity>& column : columns)
        if (words.empty() && lacks(column.value, kinds) == nullptr) quantities.push_back(column.value);
    if (words.empty()) return quantities;
    for (const std::string_view word : rows::split_fields(words, ',')) {
        const Quantity quantity = parse_quantity(word);
        if (const char* const reason = lacks(quantity, kinds))
            throw ConfigError("--write " + std::string(word) + " " + reason);
        if (std::ranges::find(quantities, quantity) == quantities.end()) quantities.push_back(quantity);
    }
    return quantities;
}

void EffectSpec::validate() const {
    const std::string word(word_of(bin_scorer_choices, scorer));
    if (bins % 2 == 0) {
        throw ConfigError(
            "--scorer: the number of bins must be odd, so that as many are on both sides of the variant's, "
            "not " +
            std::to_string(bins));
    }
    if (scorer == BinScorer::centre && bins > 1)
        throw ConfigError("--scorer centre is the variant's own bin; max, mean, l2 and sum take several");
    if (scorer != BinScorer::centre && bins == 1)
        throw ConfigError("--scorer " + word + " needs a number of bins, such as " + word + ":5");
}

void VariantSpec::validate() const {
    if (!splicing) parse_quantities(quantities, {.ranked = true, .profiles = true, .peaks = true});
    if (splicing && !quantities.empty() && quantities != "status")
        throw ConfigError("--write takes status with a splice model, not '" + quantities + "'");
    if (splicing && annotation.empty())
        throw ConfigError("a splice model needs the exons of genes: give --annotation");
    if (outputs.stream != outputs::Kind::table &&
        std::ranges::find(outputs.paths, "-") == outputs.paths.end())
        throw ConfigError("--format is of --output -: the ending of a file tells its format");
    EffectSpec::validate();
}

outputs::OutputSpec VariantSpec::output_spec() const {
    outputs::OutputSpec spec = outputs;
    spec.inputs = {{"variants", variants}};
    if (!tss.empty()) spec.inputs.emplace_back("tss", tss);
    if (splicing) {
        spec.inputs.emplace_back("annotation", annotation);
        return spec;
    }
    spec.options = {{"dtype", dtype}};
    return spec;
}

void PredictSpec::validate() const {
    const examples::TaskTraits& traits = traits_of(task);
    if (regions.empty() && ((examples.empty() && sequences.empty()) || traits.labels_bases)) {
        throw ConfigError(traits.has_records    ? "--sequences or --examples is needed"
                          : traits.labels_bases ? "--regions with --reference is needed"
                                                : "--regions with --reference, --sequences or --examples is "
                                                  "needed");
    }
    if (tile > 0 && by_records()) throw ConfigError("--sequences are scored whole: leave out --tile");
    if (tile == 0 && pool && (*pool == Pool::none || traits.about_tss))
        throw ConfigError("--pool " + std::string(word_of(pool_choices, pool)) + " needs tiles: give --tile");
    if (tile > 0 && anchor == rows::Anchor::summit)
        throw ConfigError("--anchor summit is of whole rows, --tile cuts them: leave one of them out");
}

bool PredictSpec::writes_tracks() const {
    return std::ranges::any_of(
        outputs.paths,
        [&](const auto& path) {
            const auto kind = outputs::kind_of(path, outputs.stream);
            return kind && outputs::is_track(*kind);
        });
}

outputs::OutputSpec PredictSpec::output_spec() const {
    outputs::OutputSpec spec = outputs;
    // The two strands of a promoter scan overlap.
    spec.overlap = traits_of(task).about_tss ? outputs::Overlap::max : outputs::Overlap::mean;
    spec.tracks = !by_records();
    if (!sequences.empty())
        spec.inputs = {{"sequences", sequences}};
    else if (examples.empty())
        spec.inputs = {{"regions", regions}};
    spec.options = {{"anchor", std::string(word_of(anchor_choices, anchor))}, {"dtype", dtype}};
    return spec;
}

void LetterSpec::validate() const {
    if (regions.empty() == sequences.empty())
        throw ConfigError("either --regions with --reference, or --sequences, is needed");
    if (!regions.empty() && references.empty()) throw ConfigError("--regions needs --reference");
}

void AttributeSpec::validate() const {
    LetterSpec::validate();
    if (shuffles < 1) throw ConfigError("--baseline shuffled:N needs N of at least 1");
    if (baseline == AttributionBaseline::shuffled && !has_baseline()) {
        throw ConfigError("--baseline is of integrated-gradients and deeplift: leave it out with --method " +
                          std::string(word_of(attribution_method_choices, method)));
    }
}

void AttributeSpec::require_tokens_fit() const {
    if (method == AttributionMethod::deeplift) {
        throw ConfigError(
            "deeplift needs a model that reads bases; token models have integrated-gradients, "
            "input-x-gradient and saliency");
    }
    if (baseline == AttributionBaseline::shuffled)
        throw ConfigError("--baseline shuffled needs a model that reads bases: shuffles have other tokens");
    if (mean_centered)
        throw ConfigError("--mean-centered needs a model that reads bases: other letters have other tokens");
}

void EmbedSpec::validate() const {
    if (regions.empty() && sequences.empty())
        throw ConfigError("--regions with --reference, or --sequences, is needed");
}

}  // namespace bigbird::tasks
