// SPDX-License-Identifier: Apache-2.0
// The steps from coverage to an evaluated bin model.
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/task_models/pipeline/chain.hpp"

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

/// Replaces files by their checksums; other regions stay unchanged.
Json regions_checksum(const std::vector<std::string>& regions) {
    Json texts = Json::array();
    for (const std::string& text : regions)
        texts.push_back(is_there(text) ? "sha256:" + input_checksum(text) : text);
    return texts;
}

Json reference_checksum(const std::vector<fs::path>& references) {
    std::string text;
    for (const fs::path& reference : references) {
        const fs::path fasta = genome::fasta_of(reference);
        text += (fasta == reference ? "" : reference.string()) + '\t' + input_checksum(fasta) + '\n';
    }
    return "sha256:" + sha256_of_text(text);
}

/// Checksum of the sheet, where there is one, and of all files that it names.
Json signal_checksum(const std::vector<fs::path>& signals) {
    std::string text;
    for (const fs::path& path : signals) {
        text += input_checksum(path) + '\n';
        if (signals.size() > 1 || examples::is_bigwig(path)) continue;
        for (const examples::SheetRow& row :
             examples::read_sheet(path).value_or(std::vector<examples::SheetRow>()))
            for (const fs::path& file : examples::paths_of(row, path))
                text += input_checksum(file) + '\n';
    }
    return "sha256:" + sha256_of_text(text);
}

/// Converts the manifest's "22:0-200" to "22:1-200", the form of --test.
std::string region_text(const std::string& interval) {
    const std::size_t begin = interval.rfind(':') + 1;
    return interval.substr(0, begin) + std::to_string(std::stoll(interval.substr(begin)) + 1) +
           interval.substr(interval.rfind('-'));
}

class TracksChain : public Chain {
public:
    explicit TracksChain(const TrainSpec& spec) : spec_(spec) {
        if (spec.tracks.bin < 16)
            throw ConfigError(
                "train takes a --bin of 16 or more; for profiles of 1 to 8 bp give --bin to "
                "build-tracks, then finetune, predict and evaluate (docs/tracks.md)");
    }

    Json options() const override {
        Json options = genome_options(spec_);
        options["--signal"] = signal_checksum(spec_.tracks.signals);
        options["--bin"] = spec_.tracks.bin;
        return options;
    }
    void build(const fs::path& folder) const override {
        examples::TrackOptions options = spec_.tracks;
        options.references = spec_.examples.references;
        options.include = spec_.examples.include;
        options.exclude = spec_.examples.exclude;
        options.validation = spec_.validation;
        options.test = spec_.test;
        options.chooses_hold_outs = true;
        options.reading.skip_invalid = spec_.examples.skip_invalid;
        examples::build_tracks(options, folder);
    }
    void check(const examples::ExampleSet& set, const fs::path& folder) const override {
        if (!set.rows(examples::Split::test).empty()) return;
        throw InputError(
            "no bin is of test, so the model could not be judged; give other --test, and --force to begin "
            "anew",
            folder);
    }
    FinetuneSpec floor() const override {
        FinetuneSpec floor;
        floor.architecture = "kmer-ridge";
        return floor;
    }
    Strands strands() const override { return Strands::average; }
    Judgement judge(const evaluation::EvaluationRequest& request, const fs::path& folder,
                    const fs::path& output) const override {
        const auto set = examples::ExampleSet::load(request.examples);
        return judge_numbers(request, output,
                             {.title = folder.filename().string() + ": coverage from sequence",
                              .examples = fmt::format("{} bins of {} bp, {} tracks; {}; {}", set.size(),
                                                      spec_.tracks.bin, set.label_table().size(),
                                                      held_out_text(set, examples::Split::validation),
                                                      held_out_text(set, examples::Split::test)),
                              .floor = "ridge regression on the k-mers of nine bins"});
    }
    std::string told(const examples::ExampleSet& set) const override {
        return fmt::format("{} of {} bp, {} tracks", set.size(), spec_.tracks.bin, set.label_table().size());
    }
    const char* unit() const override { return "bins"; }

private:
    const TrainSpec& spec_;
};

}  // namespace

Json genome_options(const TrainSpec& spec) {
    const auto texts = [](const std::vector<std::string>& given) {
        return given.empty() ? Json("by rule") : Json(given);
    };
    const std::string& config = spec.model.bins.config;
    return {{"--reference", reference_checksum(spec.examples.references)},
            {"--include", regions_checksum(spec.examples.include)},
            {"--exclude", regions_checksum(spec.examples.exclude)},
            {"--validation", texts(spec.validation)},
            {"--test", texts(spec.test)},
            {"--config", fs::is_regular_file(config) ? "sha256:" + input_checksum(config) : config}};
}

std::string held_out_text(const examples::ExampleSet& set, examples::Split split) {
    constexpr std::size_t most_named = 3;
    const std::string name(to_string(split));
    const Json regions = set.manifest().at("parameters").at("held_out").at(name);
    std::string text = regions.is_array() && regions.size() <= most_named ? "" : " given regions";
    for (std::size_t i = 0; text != " given regions" && i < regions.size(); ++i)
        text += (i > 0 ? ", " : " ") + region_text(regions[i].get<std::string>());
    return fmt::format("{}{} ({} bins)", name, text, set.rows(split).size());
}

std::unique_ptr<Chain> tracks_chain(const TrainSpec& spec) {
    return std::make_unique<TracksChain>(spec);
}

}  // namespace bigbird::task_models
