// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/profile_motifs.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/pipeline/logo.hpp"
#include "bigbird/pipeline/report_motifs.hpp"
#include "bigbird/scoring/letters/letters.hpp"

#include <algorithm>
#include <fstream>

namespace bigbird::tasks {

std::vector<motifs::Motif> profile_motifs(const std::filesystem::path& model,
                                          std::span<const genome::Interval> peaks, const TrainSpec& spec) {
    const TemporaryFolder scratch("train-motifs");
    AttributeSpec attribution;
    attribution.models = {model};
    attribution.method = AttributionMethod::input_x_gradient;
    attribution.strands = Strands::none;  // half the time
    attribution.device = spec.model.device;
    attribution.threads = spec.model.threads;
    attribution.references = spec.examples.references;
    attribution.regions = scratch.path() / "peaks.bed";
    std::ofstream bed(attribution.regions);
    for (const genome::Interval& peak : peaks)
        bed << fmt::format("{}\t{}\t{}\n", peak.contig, peak.begin, peak.end);
    bed.close();
    std::vector<motifs::Motif> all;
    for (const AttributionTarget target : {AttributionTarget::counts, AttributionTarget::profile}) {
        attribution.target = target;
        for (motifs::Motif& motif : motifs::find_motifs(contributions(attribution)).motifs) {
            motif.name = target == AttributionTarget::counts ? "counts" : "profile";
            motif.id = fmt::format("{}pattern_{}", motif.id.starts_with("negative_") ? "negative_" : "",
                                   all.size() + 1);
            all.push_back(std::move(motif));
        }
    }
    return all;
}

std::string profile_motifs_html(std::span<const motifs::Motif> learned, std::size_t peaks,
                                std::span<const motifs::Motif> known) {
    constexpr int most_shown = 4;
    std::string html = fmt::format(
        "<h2>Motifs that the model learned</h2><p>Stretches of {} that contribute to the model's log counts "
        "or profile, with the bias removed, and are alike, found as by motifs find. Full height: 2 bits.",
        counted(peaks, "peak"));
    std::string logos;
    for (const char* target : {"counts", "profile"}) {
        int shown = 0;
        for (const motifs::Motif& motif : learned)
            if (motif.name == target && shown++ < most_shown)
                logos += logo_html(
                    motif.shares,
                    fmt::format("{}{}, {}{}", target, motif.id.starts_with("negative_") ? ", lowers it" : "",
                                counted(motif.sites, "site"), nearest_motif(motif, known)));
        if (shown == 0) html += fmt::format(" None for {}.", target);
    }
    if (logos.empty()) return html + "</p>\n";
    return html + " run/" + learned_file + " has them.</p><div class=pictures>" + logos + "</div>\n";
}

}  // namespace bigbird::tasks
