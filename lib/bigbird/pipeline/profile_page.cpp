// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/profile_page.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/plot.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bigbird::tasks {

namespace {

using evaluation::html_cell, evaluation::html_heading, evaluation::PlotLine;
using examples::Split;
using networks::ProfileHeads;
using profiles::Marginal, profiles::ProfileBatch, profiles::ProfileFigures, profiles::ProfilePair,
    profiles::Region, profiles::WindowSource;

constexpr std::size_t marginal_backgrounds = 256, shown_peaks = 3;
constexpr const char *joined_name = "model with bias", *corrected_name = "model, bias removed",
                     *bias_name = "bias model", *plain_name = "model", *mean_name = "mean profile",
                     *hexamer_name = "table of hexamers";
constexpr int floor_bases = 6;
constexpr double gate = 2.5;  // chrombpnet's: the largest marginal in units of a uniform profile

/// Heads of one profile, and of one log count, for any window.
ProfileHeads constant_heads(const at::Tensor& logits, double log_count, std::int64_t windows) {
    return {logits.view({1, -1, 1}).expand({windows, -1, -1}), at::full({windows, 1}, log_count)};
}

void add_mean_profile(ProfileJudgement& judged, const WindowSource& source, std::span<const Region> train,
                      std::span<const Region> test) {
    std::vector<float> counts(static_cast<std::size_t>(source.output()));
    at::Tensor sum = at::ones({source.output()});
    double log_count = 0;
    for (const Region& region : train) {
        source.counts({region}, counts);
        sum += at::from_blob(counts.data(), {source.output()}, at::kFloat);
        log_count +=
            std::log1p(static_cast<double>(source.total(region))) / static_cast<double>(train.size());
    }
    ProfileFigures figures;
    profiles::for_each_prediction(
        source, test,
        [&](const at::Tensor& codes) { return constant_heads(sum.log(), log_count, codes.size(0)); },
        [&](const ProfileBatch& batch, const ProfileHeads& heads) { figures.add(batch, heads); });
    judged.peaks.emplace_back(mean_name, std::move(figures));
}

void add_hexamers(ProfileJudgement& judged, const WindowSource& source, std::span<const Region> train,
                  std::span<const Region> peaks, std::span<const Region> background) {
    const networks::ProfileNet table = profiles::kmer_network(
        profiles::count_kmers(floor_bases, source, train), source.input(), source.output());
    const ProfilePair alone{table};
    judged.peaks.emplace_back(hexamer_name, figures_of(alone, source, peaks, true));
    judged.background.emplace_back(hexamer_name, figures_of(alone, source, background, true));
}

std::string number_text(double value, int digits = 3) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "NA";
}

std::string figures_table(const std::vector<std::pair<std::string, ProfileFigures>>& parts) {
    std::string html = "<table><tr>" + html_heading("");
    for (const char* name : {"Pearson", "Spearman", "error of ln counts", "profile JSD, weighted by reads",
                             "median JSD", "normalized JSD (chrombpnet)"})
        html += html_heading(name);
    html += "</tr>\n";
    for (const auto& [name, figures] : parts) {
        html += "<tr>" + html_cell(name, true) + html_cell(number_text(figures.pearson().value_or(NAN))) +
                html_cell(number_text(figures.spearman().value_or(NAN))) +
                html_cell(number_text(figures.count_loss)) +
                html_cell(number_text(figures.distances.weighted())) +
                html_cell(number_text(figures.distances.median_distance())) +
                html_cell(number_text(figures.distances.median_normalized())) + "</tr>\n";
    }
    const auto& flat = parts.front().second.distances;
    html += "<tr>" + html_cell("uniform profile", true) + html_cell("") + html_cell("") + html_cell("") +
            html_cell(number_text(flat.weighted_uniform())) +
            html_cell(number_text(profiles::median(flat.uniform))) + html_cell("0") + "</tr>\n";
    return html + "</table>\n";
}

std::string counts_picture(const ProfileFigures& figures) {
    const float most = std::max(std::ranges::max(figures.observed), std::ranges::max(figures.predicted));
    const evaluation::Range range = evaluation::Range{0, static_cast<double>(most) + 0.1}.rounded();
    evaluation::Plot plot("Read ends of test peaks, ln(1 + N)", "observed", "predicted", range, range);
    plot.diagonal();
    for (std::size_t i = 0; i < figures.observed.size(); ++i)
        plot.point(figures.observed[i], figures.predicted[i], "#30638e", "", 1.5);
    return plot.html();
}

/// Mean profiles of test peaks, weighted by read ends, in units of a uniform profile: observed, and predicted
/// by each part of the model.
std::string mean_picture(const ProfileJudgement& judged) {
    const auto line_of = [](const std::vector<double>& sums) {
        const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(sums.size());
        PlotLine line;
        for (std::size_t i = 0; i < sums.size(); ++i)
            line.emplace_back(static_cast<double>(i) - static_cast<double>(sums.size() / 2), sums[i] / mean);
        return line;
    };
    std::vector<std::pair<PlotLine, const char*>> lines{{line_of(judged.peaks.front().second.ends), "#333"}};
    for (const auto& [name, figures] : judged.peaks)
        for (const auto& [part, colour] :
             {std::pair(plain_name, "#d1495b"), std::pair(joined_name, "#aaa"),
              std::pair(corrected_name, "#d1495b"), std::pair(bias_name, "#30638e")})
            if (name == part) lines.emplace_back(line_of(figures.expected), colour);
    double most = 0;
    for (const auto& [line, colour] : lines)
        most = std::max(most, std::ranges::max(line, {}, &PlotLine::value_type::second).second);
    const auto about = static_cast<double>(lines.front().first.size() / 2);
    evaluation::Plot plot("Mean profile of test peaks", "base from the summit", "times uniform",
                          evaluation::Range{-about, about}.rounded(), evaluation::Range{0, most}.rounded());
    plot.level(1);
    for (const auto& [line, colour] : lines)
        plot.line(line, colour);
    return plot.html();
}

/// The 200 middle bases of marginal profiles, in units of a uniform profile.
std::string marginal_picture(const PartMarginals& marginals, double uniform) {
    constexpr std::int64_t about = 100;
    std::vector<std::pair<const Marginal*, const char*>> curves{
        {&marginals.corrected, "#d1495b"}, {&marginals.joined, "#aaa"}, {&marginals.bias, "#30638e"}};
    std::erase_if(curves, [](const auto& curve) { return curve.first->profile.empty(); });
    double most = gate;
    std::vector<PlotLine> lines;
    for (const auto& [marginal, colour] : curves) {
        PlotLine& line = lines.emplace_back();
        const auto middle = std::ssize(marginal->profile) / 2;
        for (std::int64_t at = std::max<std::int64_t>(0, middle - about);
             at < std::min<std::int64_t>(std::ssize(marginal->profile), middle + about); ++at) {
            line.emplace_back(at - middle, marginal->profile[static_cast<std::size_t>(at)] / uniform);
            most = std::max(most, line.back().second);
        }
    }
    evaluation::Plot plot(std::string(marginals.motif.name) + ": " + std::string(marginals.motif.sequence),
                          "base from the motif's middle", "times uniform", {-about, about},
                          evaluation::Range{0, most}.rounded());
    plot.level(1);
    plot.level(gate);
    for (std::size_t i = 0; i < lines.size(); ++i)
        plot.line(lines[i], curves[i].second);
    return plot.html();
}

std::string sweep_table(const Json& sweep) {
    if (!sweep.is_array() || sweep.empty()) return "";
    std::string html =
        "<h2>The bias model</h2><p>Trained on background below a share of the peaks' 1 % quantile of read "
        "ends. "
        "It is to predict background, to know the enzyme's motifs, and no factor.</p>\n<table><tr>";
    for (const char* name :
         {"threshold", "windows", "steps", "Pearson, background", "Pearson, peaks", "profile JSD, background",
          "enzyme's motifs, times uniform", "largest effect of a factor", "factor", ""})
        html += html_heading(name);
    html += "</tr>\n";
    for (const Json& trial : sweep) {
        html += "<tr>";
        for (const char* key : {"threshold", "regions", "steps", "pearson_background", "pearson_peaks",
                                "profile_jsd", "enzyme_marginal", "factor_effect"})
            html += html_cell(trial.at(key).is_number_integer()
                                  ? trial.at(key).dump()
                                  : fmt::format("{:.3g}", trial.at(key).get<double>()));
        html += html_cell(trial.at("factor").get<std::string>(), true) +
                html_cell(trial.value("taken", false) ? "taken" : "", true) + "</tr>\n";
    }
    return html + "</table>\n";
}

/// Observed read ends above what the model predicts.
std::string peak_picture(const Region& region, const ProfilePair& pair, const WindowSource& source,
                         const genome::ReferenceGenome& reference) {
    const at::NoGradGuard no_gradients;
    const std::vector<profiles::Sample> sample{{region}};
    const ProfileBatch batch = batch_of(source, sample);
    const std::int64_t begin = region.centre - source.output() / 2;
    const genome::Interval where{reference.contigs()[region.contig].name, begin, begin + source.output()};
    evaluation::RegionPicture picture(where);
    const auto values = [](const at::Tensor& tensor) {
        const at::Tensor flat = tensor.flatten().contiguous();
        return std::vector<float>(flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel());
    };
    const auto reads = [&](const ProfileHeads& heads) {
        return values(heads.profile.squeeze(2).softmax(1) * heads.counts.expm1());
    };
    picture.track("observed", values(batch.counts), 1, {}, "#333");
    if (pair.bias) picture.track(joined_name, reads(pair.scores(batch.codes)), 1, {}, "#999");
    picture.track(pair.bias ? corrected_name : plain_name, reads(pair.main.ptr()->scores(batch.codes)), 1);
    return picture.html(fmt::format("{}:{}-{}", where.contig, where.begin + 1, where.end));
}

}  // namespace

ProfileJudgement judge_profiles(const ProfilePair& pair, const WindowSource& source,
                                const profiles::SplitRegions& regions, bool dnase) {
    ProfileJudgement judged{.uniform = 1.0 / static_cast<double>(source.output())};
    const auto &peaks = regions.of(Split::test, true), &background = regions.of(Split::test, false);
    const auto add = [&](const char* name, const ProfilePair& part) {
        judged.peaks.emplace_back(name, figures_of(part, source, peaks, true));
        if (!background.empty())
            judged.background.emplace_back(name, figures_of(part, source, background, true));
    };
    const ProfilePair corrected{pair.main}, bias{pair.bias};
    add(pair.bias ? joined_name : plain_name, pair);
    if (pair.bias) {
        add(corrected_name, corrected);
        add(bias_name, bias);
    }
    add_mean_profile(judged, source, regions.of(Split::train, true), peaks);
    if (!background.empty()) add_hexamers(judged, source, regions.of(Split::train, false), peaks, background);
    const std::vector<std::string> dna =
        sequences_of(source, background.empty() ? peaks : background, marginal_backgrounds);
    const auto marginal = [&](const ProfilePair& part, const profiles::ProbeMotif& motif) {
        return profiles::marginal_of([&](const at::Tensor& codes) { return part.scores(codes); }, dna,
                                     motif.sequence);
    };
    for (const profiles::ProbeMotif& motif : profiles::enzyme_motifs(dnase)) {
        judged.marginals.push_back({.motif = motif, .corrected = marginal(corrected, motif)});
        if (!pair.bias) continue;
        judged.marginals.back().joined = marginal(pair, motif);
        judged.marginals.back().bias = marginal(bias, motif);
    }
    judged.shown = peaks;
    std::ranges::stable_sort(judged.shown, std::greater{},
                             [&](const Region& peak) { return source.total(peak); });
    judged.shown.resize(std::min(judged.shown.size(), shown_peaks));
    return judged;
}

Json to_json(const ProfileJudgement& judged) {
    Json json{{"peaks", Json::object()}, {"background", Json::object()}, {"marginals", Json::array()}};
    for (const auto& [name, figures] : judged.peaks)
        json["peaks"][name] = figures.to_json();
    for (const auto& [name, figures] : judged.background)
        json["background"][name] = figures.to_json();
    for (const PartMarginals& of : judged.marginals) {
        Json one{{"motif", of.motif.sequence}, {"corrected", of.corrected.most() / judged.uniform}};
        if (!of.bias.profile.empty()) {
            one["joined"] = of.joined.most() / judged.uniform;
            one["bias"] = of.bias.most() / judged.uniform;
        }
        json["marginals"].push_back(one);
    }
    json["marginal_limit"] = gate;
    return json;
}

std::vector<std::string> summary_of(const ProfileJudgement& judged) {
    const auto line = [](const char* kind, const std::pair<std::string, ProfileFigures>& part) {
        const auto& [name, figures] = part;
        return fmt::format("{:<10} {}: Pearson of counts {}, profile JSD {} (uniform {}), normalized {}",
                           kind, name, number_text(figures.pearson().value_or(NAN)),
                           number_text(figures.distances.weighted()),
                           number_text(figures.distances.weighted_uniform()),
                           number_text(figures.distances.median_normalized()));
    };
    std::vector<std::string> lines;
    for (const auto& part : judged.peaks)
        lines.push_back(line("peaks", part));
    for (const auto& part : judged.background)
        lines.push_back(line("background", part));
    double corrected = 0, joined = 0;
    for (const PartMarginals& of : judged.marginals) {
        corrected = std::max(corrected, of.corrected.most() / judged.uniform);
        joined = std::max(joined, of.joined.most() / judged.uniform);
    }
    lines.push_back(fmt::format("enzyme     largest marginal {:.2f} times uniform{}", corrected,
                                joined > 0 ? fmt::format(" (with the bias {:.2f})", joined) : ""));
    return lines;
}

std::string profile_sections(const ProfileJudgement& judged, const ProfilePair& pair,
                             const WindowSource& source, const genome::ReferenceGenome& reference,
                             const Json& sweep) {
    std::string html = fmt::format(
        "<h2>Test peaks</h2><p>{} peaks, {} bases each. Distances (JSD) are square roots of Jensen-Shannon "
        "divergences with natural logarithms; the normalized one is 0 for a uniform profile and 1 for the "
        "observed one. They depend on the depth of sequencing.</p>\n",
        judged.peaks.front().second.regions(), source.output());
    html += figures_table(judged.peaks) + "<div class=pictures>" +
            counts_picture(judged.peaks.front().second) + mean_picture(judged) +
            fmt::format(
                "</div><p>The mean profile: observed (black), predicted {}.</p>\n",
                pair.bias ? "with the bias (grey) and without it (red), and the bias alone (blue)" : "(red)");
    if (!judged.background.empty())
        html += fmt::format("<h2>Test background</h2><p>{} windows without peaks.</p>\n",
                            judged.background.front().second.regions()) +
                figures_table(judged.background);
    html += sweep_table(sweep);
    html += fmt::format(
        "<h2>What the enzyme prefers</h2><p>Mean predicted profiles about its motifs in background: without "
        "the "
        "bias (red){}. Dashes: uniform, and chrombpnet's limit for a corrected model, {} times it.</p>"
        "<div class=pictures>",
        pair.bias ? ", with it (grey), and the bias model (blue)" : "", gate);
    for (const PartMarginals& marginals : judged.marginals)
        html += marginal_picture(marginals, judged.uniform);
    html +=
        "</div>\n<h2>Held-out peaks</h2><p>Test peaks with the most reads: read ends observed and "
        "predicted.</p>\n";
    for (const Region& region : judged.shown)
        html += peak_picture(region, pair, source, reference);
    return html;
}

}  // namespace bigbird::tasks
