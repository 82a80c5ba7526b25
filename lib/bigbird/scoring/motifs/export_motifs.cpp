// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/network.hpp"
#include "bigbird/bins/stem.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/scoring/motifs/motifs.hpp"
#include "bigbird/tasks/sequence_network.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t random_bases = std::int64_t{1} << 20, record_bases = 1000;
constexpr std::int64_t most_segments =
    std::int64_t{1} << 16;  // maximum number of segments for the correlation of filters and labels
constexpr float none = -std::numeric_limits<float>::infinity();

/// The first convolution of a network, or of its members one after another.
struct Filters {
    at::Tensor weight{}, bias{};  ///< (filters, 4, width), (filters), float32 on the CPU
    bool both_strands = true;

    /// (strands, length, filters) of (length) codes: each filter's value centered on each base.
    at::Tensor find(const at::Tensor& codes) const {
        const at::Tensor x = bins::base_channels(codes.unsqueeze(0));
        at::Tensor found = bins::convolution(x, weight, bias);
        if (both_strands) found = at::cat({found, bins::convolution(x, weight.flip({1, 2}), bias)});
        const std::int64_t edge = weight.size(2) / 2;  // sites are within the sequence
        found.narrow(1, 0, edge).fill_(none);
        found.narrow(1, found.size(1) - edge, edge).fill_(none);
        return found;
    }
};

Filters filters_of(const ModelFolder& model, const fs::path& path) {
    std::vector<at::Tensor> weights, biases;
    Filters filters;
    const auto add = [&](const torch::nn::Module& network) {
        const auto parameters = network.named_parameters();
        const at::Tensor* const weight = parameters.find("stem.0.convolution.weight");
        if (weight == nullptr) return;
        weights.push_back(weight->detach().to(at::kCPU, at::kFloat));
        biases.push_back(parameters["stem.0.convolution.bias"].detach().to(at::kCPU, at::kFloat));
    };
    if (model.bins()) add(*model.network->module());
    if (const auto records = std::dynamic_pointer_cast<SequenceNetwork>(model.network)) {
        for (const sequences::Network& member : records->members())
            add(*member);
        filters.both_strands = records->shape().member.both_strands;
    }
    if (weights.empty())
        throw ConfigError(path.string() +
                          " has no filters that read bases: motifs export takes models of bigbird-bins and " +
                          std::string(sequence_name));
    filters.weight = at::cat(weights);
    filters.bias = at::cat(biases);
    return filters;
}

/// Sequence that a network reads at once, and the part of it that is used.
struct Stretch {
    std::string dna;
    std::int64_t begin = 0, size = 0;
};

/// Calls take(stretch) over all sequence, cut as the network reads it.
void each_stretch(const ModelFolder& model, const genome::ReferenceGenome& reference, std::int64_t width,
                  const std::function<void(const Stretch&)>& take) {
    const bool bins = model.bins() != nullptr;
    const bins::Grid grid = bins ? model.bins()->grid() : bins::Grid{};
    const std::int64_t step = bins ? grid.core_bins() * grid.bin : record_bases,
                       margin = bins ? grid.margin_bins * grid.bin : 0;
    for (const genome::Contig& contig : reference.contigs()) {
        for (std::int64_t begin = 0; begin + width <= contig.length; begin += step) {
            stop_if_asked();
            const std::int64_t size = std::min(contig.length - begin, step);
            const std::int64_t reach = bins ? begin + step + margin : begin + size;
            const Stretch stretch{reference.fetch({contig.name, begin - margin, reach}), margin, size};
            if (stretch.dna.find_first_not_of('N') != std::string::npos) take(stretch);
        }
    }
}

std::unique_ptr<genome::ReferenceGenome> random_genome() {
    Rng rng = Rng(0).split("motifs");
    std::string dna(static_cast<std::size_t>(random_bases), 'A');
    for (char& letter : dna)
        letter = "ACGT"[rng.between(0, 3)];
    return genome::in_memory_genome({{"random", dna}});
}

struct Survey {
    at::Tensor most;  ///< (filters) the maximum of each filter
    at::Tensor r;     ///< (filters, labels) correlation of best sites and logits
};

Survey survey(const ModelFolder& model, const genome::ReferenceGenome& reference, const Filters& filters) {
    const std::int64_t count = filters.weight.size(0);
    at::Tensor most = at::full({count}, none);
    std::vector<at::Tensor> rows;  // (segments, filters + labels)
    std::int64_t segments = 0;
    each_stretch(model, reference, filters.weight.size(2), [&](const Stretch& stretch) {
        const at::Tensor best = filters.find(bins::codes_of(stretch.dna)).amax(0);  // (length, filters)
        most = at::maximum(most, best.narrow(0, stretch.begin, stretch.size).amax(0));
        if (segments >= most_segments) return;
        const EncodedWindow encoded[] = {model.network->encode(stretch.dna)};
        const std::size_t group[] = {0};
        const at::Tensor logits = model.network->logits(encoded, group)[0].to(at::kCPU, at::kFloat);
        const at::Tensor sites = best.reshape({logits.size(0), -1, count}).amax(1);
        const std::int64_t bin = best.size(0) / logits.size(0), first = stretch.begin / bin;
        rows.push_back(at::cat({sites, logits}, 1).narrow(0, first, stretch.size / bin));
        segments += rows.back().size(0);
    });
    if (segments < 2) return {most, at::zeros({count, model.network->labels()})};
    return {most,
            at::corrcoef(at::cat(rows).t()).narrow(0, 0, count).narrow(1, count, model.network->labels())};
}

/// Counts the letters under the sites of each filter.
std::vector<motifs::Motif> count_sites(const ModelFolder& model, const genome::ReferenceGenome& reference,
                                       const Filters& filters, const at::Tensor& least) {
    const std::int64_t width = filters.weight.size(2);
    std::vector<motifs::Motif> found(static_cast<std::size_t>(least.size(0)));
    for (motifs::Motif& motif : found)
        motif.shares.assign(static_cast<std::size_t>(width), motifs::Shares{});
    each_stretch(model, reference, width, [&](const Stretch& stretch) {
        const at::Tensor codes = bins::codes_of(stretch.dna);
        const at::Tensor sites =  // (sites, 3): strand, base, filter
            (filters.find(codes).narrow(1, stretch.begin, stretch.size) > least).nonzero().contiguous();
        const auto* site = sites.const_data_ptr<std::int64_t>();
        for (std::int64_t i = 0; i < sites.size(0); ++i, site += 3) {
            motifs::Motif& motif = found[static_cast<std::size_t>(site[2])];
            const auto* const first =
                codes.const_data_ptr<std::uint8_t>() + stretch.begin + site[1] - width / 2;
            if (std::any_of(first, first + width, [](std::uint8_t code) { return code > 3; })) continue;
            ++motif.sites;
            for (std::int64_t at = 0; at < width; ++at)
                ++motif.shares[static_cast<std::size_t>(at)]
                              [site[0] == 1 ? 3U - first[width - 1 - at] : first[at]];
        }
    });
    return found;
}

/// The labels that a filter feeds directly, else the label with the highest correlation.
std::string served_labels(const ModelFolder& model, const at::Tensor& r, std::int64_t filter) {
    std::string names;
    const auto base = model.bins() ? model.bins()->base_network() : bins::BinsNetwork(nullptr);
    const bins::OwnMotifs own = base ? base->own_motifs() : bins::OwnMotifs{};
    for (std::int64_t label = 0; label < r.size(1); ++label) {
        if (!own.weight.defined() || filter >= own.weight.size(1)) break;
        if (own.weight[label][filter].item<float>() == 0) continue;
        names +=
            std::string(names.empty() ? "" : ",") + model.labels.column_name(static_cast<std::size_t>(label));
    }
    if (names.empty())
        names = model.labels.column_name(
            static_cast<std::size_t>(r[filter].nan_to_num(-1).argmax().item<std::int64_t>()));
    std::ranges::replace(names, ' ', '_');
    return names;
}

/// The motifs with which the filters were initialized, from the run folder.
std::vector<motifs::Motif> planted_motifs(const fs::path& path) {
    for (const fs::path& folder : {path, training::find_model(path).parent_path()})
        if (is_there(folder / "motifs.meme")) return motifs::read_motifs(folder / "motifs.meme").motifs;
    return {};
}

}  // namespace

std::int64_t export_motifs(const ExportMotifsSpec& spec) {
    prepare_output(spec.output, spec.overwrite);
    refuse_profiles(spec.model, "motifs export");
    const at::InferenceMode inference;
    const Job job = open_job(spec);
    const ModelFolder model = open_model(spec.model, std::nullopt, job.device, job.computing);
    const Filters filters = filters_of(model, spec.model);
    const auto reference =
        spec.references.empty() ? random_genome() : genome::open_references(spec.references);
    const Survey known = survey(model, *reference, filters);
    const at::Tensor least = at::where(known.most > 0, known.most / 2, at::full({}, -none));
    motifs::MotifSet set{.motifs = planted_motifs(spec.model)};
    std::int64_t filter = 0;
    for (motifs::Motif& motif : count_sites(model, *reference, filters, least)) {
        motif.id = fmt::format("filter_{}", filter + 1);
        motif.name = served_labels(model, known.r, filter++);
        for (motifs::Shares& column : motif.shares)
            for (double& share : column)
                share /= static_cast<double>(motif.sites);
        if (motif.sites > 0) set.motifs.push_back(std::move(motif));
    }
    if (set.motifs.empty()) throw ConfigError("no filter finds a site; give longer sequences as --reference");
    motifs::write_motifs(spec.output, set, spec.overwrite);
    return std::ssize(set.motifs);
}

}  // namespace bigbird::tasks
