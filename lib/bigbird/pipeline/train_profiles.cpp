// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/train_profiles.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/examples/build/signals/signal_json.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/networks/files/profile_folder.hpp"
#include "bigbird/pipeline/profile_motifs.hpp"
#include "bigbird/pipeline/profile_page.hpp"
#include "bigbird/pipeline/profile_reads.hpp"
#include "bigbird/pipeline/recipe.hpp"
#include "bigbird/pipeline/report_motifs.hpp"
#include "bigbird/pipeline/report_page.hpp"
#include "bigbird/pipeline/train_folder.hpp"
#include "bigbird/profiles/training/bias.hpp"
#include "bigbird/profiles/training/profile_run.hpp"
#include "bigbird/training/run_start.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using examples::Split;
using networks::ProfileNet, networks::ProfileShape;
using profiles::DataSet, profiles::Region, profiles::SplitRegions, profiles::WindowLengths,
    profiles::WindowSource;

constexpr const char *bias_folder = "bias", *sweep_file = "sweep.json", *regions_file = "regions.bed";
constexpr std::array profile_parts{bias_folder,  run_folder,   evaluation_file,  page_file,
                                   regions_file, model_folder, model::card_file, record_file};
constexpr std::string_view kmers_prefix = "kmers:";
constexpr std::int64_t sweep_share = 10;       // of the steps, for each threshold
constexpr std::int64_t bias_share = 2;         // for the one that the sweep takes
constexpr std::size_t sweep_backgrounds = 64;  // for marginals
/// Thresholds of background, in 1 % quantiles of the peaks' read ends; 0: all of it.
constexpr std::array thresholds{0.3, 0.5, 0.8, 0.0};
constexpr std::size_t fewest_windows = 100;  // to learn the bias from
constexpr std::size_t most_of_motifs = 300;  // peaks whose contributions are searched
constexpr std::int64_t motif_bases = 400;    // of each

/// The files of the labels that a list or sheet names, which add up.
std::vector<fs::path> files_of(const std::vector<fs::path>& given) {
    std::vector<fs::path> files;
    for (const examples::LabelFiles& label : examples::read_label_files(given))
        files.insert(files.end(), label.paths.begin(), label.paths.end());
    return files;
}

/// Background per peak that is looked out; an epoch draws a part of it.
examples::Negatives negatives_of(const TrainSpec& spec) {
    return spec.examples.negatives.value_or(examples::Negatives{.ratio = 2, .by_gc = true});
}

profiles::DataSetOptions data_options(const TrainSpec& spec) {
    profiles::DataSetOptions options{.signals = files_of(spec.tracks.signals),
                                     .peaks = files_of(spec.examples.peaks),
                                     .reading = spec.tracks.reading,
                                     .seed = spec.model.seed};
    options.reading.skip_invalid = spec.examples.skip_invalid;
    options.reading.threads = resolve_threads(spec.model.threads);
    options.background = negatives_of(spec).ratio;
    options.regions.references = spec.examples.references;
    options.regions.include = spec.examples.include;
    options.regions.exclude = spec.examples.exclude;
    options.regions.validation = spec.validation;
    options.regions.test = spec.test;
    options.regions.chooses_hold_outs = true;
    return options;
}

std::string bias_of(const TrainSpec& spec) {
    using examples::Assay;
    if (!spec.profiles.bias.empty()) return spec.profiles.bias;
    const Assay assay = spec.tracks.reading.assay;
    return assay == Assay::atac || assay == Assay::dnase ? "auto" : "none";
}

bool is_file_bias(const std::string& bias) {
    return bias != "auto" && bias != "none" && !bias.starts_with(kmers_prefix);
}

/// The network of a bias model of a file or folder, as the part "bias".
ProfileNet open_bias(const fs::path& path) {
    if (!networks::is_model_file(path)) {
        const profiles::ProfilePair pair = profiles::open_pair(path);
        networks::ProfileModel model = profiles::stored_model(
            std::array{std::pair(std::string("bias"), pair.bias ? pair.bias : pair.main)});
        return ProfileNet(model);
    }
    networks::ProfileModel model = networks::read_profile_model(path);
    if (model.parts.size() > 1) model = networks::chosen(std::move(model), networks::Component::bias, path);
    model.parts.front().name = "bias";
    return ProfileNet(model);
}

/// Sizes of networks by the words of --config; a JSON file changes what a shape has.
ProfileShape shape_of(const std::string& config, const WindowLengths& lengths) {
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> filters{
        {{"tiny", 64}, {"small", 128}, {"base", 256}, {"large", 512}}};
    for (const auto& [word, number] : filters)
        if (config == word) return profiles::shape_for(lengths, number, lengths.layers);
    if (!fs::is_regular_file(config))
        throw ConfigError(
            "--config is tiny, small, base, large or a JSON file of sizes (filters, layers, input, "
            "output), not '" +
            config + "'");
    Json json = networks::to_json(profiles::shape_for(lengths, filters.front().second, lengths.layers));
    const Json given = read_json(config);
    if (!given.is_object()) throw InputError("is no JSON object", config);
    json.update(given);
    const auto number = [&](const char* name) {
        return json[name].is_number_integer() ? json[name].get<std::int64_t>() : 0;
    };
    if (!given.contains("counts"))  // any that have the trunk's middle
        json["counts"] = 1 + std::abs(number("input") - number("stem")) % 2;
    ProfileShape shape = networks::shape_from_json(json, config);
    if (!given.contains("counts")) shape.counts = profiles::counted_positions(shape);
    return shape;
}

class ProfilePipeline {
public:
    explicit ProfilePipeline(const TrainSpec& spec)
        : spec_(spec),
          folder_(spec.output),
          bias_(bias_of(spec)),
          options_(fixed_options()),
          known_(spec.known_motifs.empty() ? std::vector<motifs::Motif>()
                                           : motifs::read_motifs(spec.known_motifs).motifs) {}

    std::vector<std::string> run() {
        require_own_folder(folder_);
        const training::RunLock lock(folder_);
        if (spec_.force) discard();
        if (const auto before = begin()) return *before;
        steps_.next("read cut sites and peaks", "");
        prepare();
        write_regions();
        const bool has_bias = bias_ != "none";
        steps_.next(has_bias ? "get the model of the enzyme's bias" : "no model of the enzyme's bias",
                    bias_folder);
        const ProfileNet bias = has_bias ? get_bias() : ProfileNet(nullptr);
        steps_.next("train the model", run_folder);
        const training::LoopResult result = profiles::train_network(main_run(bias), *source_);
        if (!result.finished_before) write_train_record(folder_, options_, Json());
        steps_.next("judge it on test, and write the page and the card", page_file);
        return finish();
    }

    std::vector<std::string> forecast() {
        const double reading = seconds_of([&] { prepare(); });
        const std::int64_t steps = total_steps();
        const bool trains_bias = bias_ == "auto";
        ProfileNet bias{nullptr};
        std::vector<std::string> lines{
            fmt::format("{:<22}{} read ends, {} summits; windows of {} bases, {} predicted", "data",
                        data_->sites().total(), data_->summits(), shape_.input, shape_.output),
            line_of("read", reading, " (done now)")};
        double all = reading;
        if (trains_bias) {
            const double step =
                profiles::seconds_per_step(bias_run("", regions_, bias_steps(bias_share)), *source_);
            const std::int64_t each = bias_steps(sweep_share), last = bias_steps(bias_share);
            const double sweep = step * static_cast<double>(each * std::ssize(thresholds) + last);
            lines.push_back(line_of("bias, at most", sweep,
                                    fmt::format(": {} thresholds, each {} steps of {:.3g} s, and {} of one",
                                                thresholds.size(), each, step, last)));
            bias = profiles::untrained_network("bias", bias_shape(), spec_.model.seed, 1);
            profiles::freeze(*bias);
            all += sweep;
        }
        const double step = profiles::seconds_per_step(main_run(bias), *source_),
                     training = step * static_cast<double>(steps);
        lines.push_back(
            line_of("train, at most", training, fmt::format(": {} steps of {:.3g} s", steps, step)));
        constexpr double others = 0.1;  // validation, test and page
        lines.push_back(line_of("in all", all + training * (1 + others), ""));
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        lines.push_back(
            fmt::format("{:<22}{:.0f} MB", "memory", static_cast<double>(usage.ru_maxrss) * 1024 / 1e6));
        return lines;
    }

private:
    static std::string line_of(const char* name, double seconds, const std::string& what) {
        return fmt::format("{:<22}{}{}", name, Progress::duration(seconds), what);
    }

    Json fixed_options() const {
        const auto file_sum = [](const fs::path& path) {
            return "sha256:" + sha256_of_file(fs::is_directory(path) ? path / "model.safetensors" : path);
        };
        Json options = genome_options(spec_);
        const std::int64_t steps = spec_.model.learning_rate.total_steps;
        const examples::SignalReading& reading = spec_.tracks.reading;
        const Json shift = reading.has_shift ? Json{reading.begin_shift, reading.end_shift} : Json("found");
        options.update(Json{{"--signal", signal_checksum(spec_.tracks.signals)},
                            {"--peaks", peaks_checksum(spec_.examples.peaks)},
                            {"--assay", word_of(examples::assays, reading.assay)},
                            {"--shift", shift},
                            {"--min-mapq", reading.filter.min_mapq},
                            {"--keep-duplicates", reading.filter.keep_duplicates},
                            {"--negatives", negatives_of(spec_).ratio},
                            {"--bias", is_file_bias(bias_) ? file_sum(bias_) : bias_},
                            {"--seed", spec_.model.seed}});
        options[steps > 0 ? "--steps" : "--epochs"] = steps > 0 ? Json(steps) : Json(spec_.model.epochs);
        return options;
    }

    void discard() const {
        for (const char* part : profile_parts) {
            refuse_protected(folder_ / part);
            fs::remove_all(folder_ / part);
        }
    }

    bool is_trained() const {
        return is_there(folder_ / run_folder / training::model_folder / "config.json");
    }

    /// As Pipeline::begin() of the other inputs.
    std::optional<std::vector<std::string>> begin() const {
        if (is_there(folder_ / record_file)) {
            const Json record = read_json(folder_ / record_file),
                       before = record.value("options", Json::object());
            if (before == options_) {
                const bool other_motifs =
                    known_sum() != "" && record.value("known_motifs", "") != known_sum();
                if (!record.contains("summary") || other_motifs) return std::nullopt;
                log_info("{}: is finished already", folder_.string());
                return record["summary"].get<std::vector<std::string>>();
            }
            if (may_go_on(before, options_, is_trained())) return std::nullopt;
            if (is_trained()) training::require_same_options(before, options_, "--force");
            log_info("{}: begun with other options, and has no trained model yet: begins anew",
                     folder_.string());
            discard();
        }
        write_train_record(folder_, options_, Json());
        return std::nullopt;
    }

    /// Checksum of the known motifs, which change nothing but the page.
    std::string known_sum() const {
        return spec_.known_motifs.empty() ? "" : sha256_of_file(spec_.known_motifs);
    }

    /// The data, the lengths of windows, the network and its regions.
    void prepare() {
        model::set_compute_threads(resolve_threads(spec_.model.threads));
        data_.emplace(data_options(spec_));
        WindowLengths lengths;
        if (is_file_bias(bias_)) {
            given_bias_ = open_bias(bias_);
            profiles::freeze(*given_bias_);
            const ProfileShape& shape = given_bias_->shape();
            lengths = {shape.input, shape.output, profiles::usual_lengths.layers};
            while (lengths.layers > 1 && !fits(lengths))
                --lengths.layers;
        } else {
            const double covered = data_->covered(lengths.input);
            lengths = profiles::lengths_for(covered);
            log_info(
                "windows of {} bases about peaks cover {:.0f} % of their contigs: the model reads {} bases "
                "and predicts {}",
                profiles::usual_lengths.input, 100 * covered, lengths.input, lengths.output);
        }
        shape_ = shape_of(spec_.model.bins.config, lengths);
        lengths = {shape_.input, shape_.output, shape_.layers};
        if (given_bias_ &&
            (given_bias_->shape().input != shape_.input || given_bias_->shape().output != shape_.output))
            throw ConfigError("--bias reads and predicts other numbers of bases than --config asks for");
        source_.emplace(data_->source(lengths));
        regions_ = data_->split(lengths);
        jitter_ = DataSet::jitter_of(lengths);
    }

    /// The predicted bases of all regions, with what they are and their split.
    void write_regions() const {
        write_atomically(
            folder_ / regions_file, Overwrite::allow,
            [&](std::ostream& out) {
                for (const Split split : examples::all_splits)
                    for (const bool peak : {true, false})
                        for (const Region& region : regions_.of(split, peak)) {
                            const std::int64_t begin = region.centre - shape_.output / 2;
                            out << fmt::format(
                                "{}\t{}\t{}\t{}_{}\n", data_->reference().contigs()[region.contig].name,
                                begin, begin + shape_.output, to_string(split), peak ? "peak" : "background");
                        }
            });
    }

    static bool fits(const WindowLengths& lengths) {
        ProfileShape shape{
            .filters = 1, .layers = lengths.layers, .input = lengths.input, .output = lengths.output};
        return shape.trunk_positions(shape.layers) - shape.head + 1 >= shape.output;
    }

    std::int64_t background_per_epoch() const {
        const auto& peaks = regions_.of(Split::train, true);
        return std::max<std::int64_t>(
            1, std::llround(spec_.profiles.background * static_cast<double>(peaks.size())));
    }
    std::int64_t total_steps() const {
        return spec_.model
            .rate_over(std::ssize(regions_.of(Split::train, true)) + background_per_epoch(),
                       spec_.model.batch_size)
            .total_steps;
    }
    std::int64_t bias_steps(std::int64_t share) const {
        return std::max<std::int64_t>(1, total_steps() / share);
    }
    ProfileShape bias_shape() const {
        constexpr std::int64_t narrower = 4, fewest = 32;  // chrombpnet's 128 of 512
        return profiles::shape_for({shape_.input, shape_.output}, std::max(fewest, shape_.filters / narrower),
                                   profiles::bias_layers);
    }

    profiles::ProfileRun run_of(std::int64_t steps) const {
        profiles::ProfileRun run;
        run.loop.run = spec_.model.run;
        run.loop.run.max_hours = steps_.max_hours();
        run.loop.run.keep = 1;
        run.loop.learning_rate = spec_.model.learning_rate.over(steps);
        run.loop.optimizer = spec_.model.optimizer;
        run.loop.fixed_options = options_;
        run.loop.fixed_options.erase("--epochs");
        run.loop.fixed_options["--steps"] = steps;
        run.task.batch_size = spec_.model.batch_size;
        run.task.seed = spec_.model.seed;
        for (const genome::Contig& contig : data_->reference().contigs())
            if (run.task.contigs.size() < 100)
                run.task.contigs.push_back({{"name", contig.name}, {"length", contig.length}});
        return run;
    }

    profiles::ProfileRun main_run(const ProfileNet& bias) const {
        profiles::ProfileRun run = run_of(total_steps());
        run.part = bias ? "nobias" : "";
        run.shape = shape_;
        run.bias = bias;
        run.regions = regions_;
        run.background_per_epoch = background_per_epoch();
        // As many of validation per peak as in an epoch.
        auto& background = run.regions.background[static_cast<std::size_t>(Split::validation)];
        background = profiles::some_of(
            background, static_cast<std::size_t>(
                            std::llround(spec_.profiles.background *
                                         static_cast<double>(regions_.of(Split::validation, true).size()))));
        run.jitter = jitter_;
        run.folder = folder_ / run_folder;
        return run;
    }

    profiles::ProfileRun bias_run(const std::string& name, SplitRegions regions, std::int64_t steps) const {
        profiles::ProfileRun run = run_of(steps);
        run.part = "bias";
        run.shape = bias_shape();
        for (auto& peaks : regions.peaks)
            peaks.clear();
        run.background_per_epoch = std::ssize(regions.of(Split::train, false));
        run.regions = std::move(regions);
        run.jitter = jitter_;
        run.folder = folder_ / bias_folder / name;
        return run;
    }

    std::vector<Region> background_of_both() const {
        std::vector<Region> all = regions_.of(Split::train, false);
        const auto& more = regions_.of(Split::validation, false);
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    /// The frozen network, with log counts scaled to the sample's background.
    ProfileNet get_bias() {
        ProfileNet bias = given_bias_;
        if (bias_ == "auto") {
            bias = swept_bias();
        } else if (bias_.starts_with(kmers_prefix)) {
            const auto bases = parse_number<int>(std::string_view(bias_).substr(kmers_prefix.size()));
            bias = profiles::kmer_network(
                profiles::count_kmers(bases.value_or(0), *source_, regions_.of(Split::train, false)),
                shape_.input, shape_.output);
        }
        const double scale = profiles::scale_counts(bias, *source_, background_of_both());
        log_info("log counts of the bias model are raised by {:.3f}, to fit the background", scale);
        return bias;
    }

    /// Trains a bias model below each threshold and the best for longer, or takes the results, and opens the
    /// best one.
    ProfileNet swept_bias() {
        const fs::path table = folder_ / bias_folder / sweep_file;
        if (!is_there(table)) sweep(table);
        sweep_ = read_json(table);
        for (const Json& trial : sweep_)
            if (trial.value("taken", false))
                return profiles::open_pair(folder_ / bias_folder / trial.at("folder").get<std::string>() /
                                           training::model_folder)
                    .main;
        throw InputError("names no model that was taken", table);
    }

    /// The regions with background below a threshold, but for validation at least some.
    SplitRegions below(double threshold) const {
        SplitRegions regions = regions_;
        if (threshold == 0) return regions;
        for (auto& background : regions.background)
            background = quiet_regions(*source_, background, regions_.of(Split::train, true), threshold);
        auto& validation = regions.background[static_cast<std::size_t>(Split::validation)];
        if (validation.empty()) validation = regions_.of(Split::validation, false);
        return regions;
    }

    void sweep(const fs::path& table) {
        std::vector<profiles::BiasTrial> trials;
        Json rows = Json::array();
        fs::create_directories(folder_ / bias_folder);
        const auto try_below = [&](double threshold, std::int64_t steps) {
            SplitRegions regions = below(threshold);
            const std::size_t count = regions.of(Split::train, false).size();
            if (count < fewest_windows && threshold > 0) {
                log_info("bias: {} below a threshold of {} are too few", counted(count, "window"), threshold);
                return;
            }
            const std::string name = std::to_string(trials.size() + 1);
            profiles::train_network(bias_run(name, std::move(regions), steps), *source_);
            trials.push_back(judged_trial(
                profiles::open_pair(folder_ / bias_folder / name / training::model_folder).main));
            trials.back().factor = threshold;
            trials.back().regions = static_cast<std::int64_t>(count);
            rows.push_back(to_json(trials.back()));
            rows.back().update({{"folder", name}, {"steps", steps}});
            log_trial(trials.back(), steps);
        };
        for (const double threshold : thresholds)
            try_below(threshold, bias_steps(sweep_share));
        try_below(trials[best_trial(trials)].factor, bias_steps(bias_share));
        const std::size_t best = best_trial(trials);
        rows[best]["taken"] = true;
        log_info("bias: threshold {} is taken{}", trials[best].factor,
                 trials[best].is_sound() ? "" : ", though it has faults: look at its row in the report");
        write_json(table, rows, Overwrite::allow);
    }

    profiles::BiasTrial judged_trial(const ProfileNet& bias) const {
        const auto& background = regions_.of(Split::validation, false);
        const std::vector<std::string> dna = sequences_of(*source_, background, sweep_backgrounds);
        return judge_bias(bias, *source_,
                          {.peaks = regions_.of(Split::validation, true),
                           .background = background,
                           .dna = dna,
                           .dnase = is_dnase()});
    }

    static void log_trial(const profiles::BiasTrial& trial, std::int64_t steps) {
        log_info(
            "bias: threshold {}, {}, {}: Pearson {:.3f} in background, {:.3f} in peaks; profile JSD {:.4f} "
            "(uniform {:.4f}); enzyme's motifs {:.2f} times uniform; {} raises log counts by {:.3f}",
            trial.factor, counted(trial.regions, "window"), counted(steps, "step"), trial.pearson_background,
            trial.pearson_peaks, trial.profile_jsd, trial.profile_jsd_flat, trial.enzyme, trial.factor_name,
            trial.factor_effect);
    }

    bool is_dnase() const { return spec_.tracks.reading.assay == examples::Assay::dnase; }

    std::vector<std::string> finish() {
        const fs::path trained = folder_ / run_folder / training::model_folder;
        const profiles::ProfilePair pair = profiles::open_pair(trained);
        const ProfileJudgement judged = judge_profiles(pair, *source_, regions_, is_dnase());
        Json evaluation{
            {"program", "bigbird-dna"}, {"version", std::string(version())}, {"options", options_}};
        evaluation.update(to_json(judged));
        if (!sweep_.is_null()) evaluation["bias"] = sweep_;
        for (const examples::SignalRead& file : data_->files())
            if (file.reads || file.shift) evaluation["signal"].push_back(to_json(file, spec_.tracks.reading));
        write_json(folder_ / evaluation_file, evaluation, Overwrite::allow);
        write_page(judged, pair);
        write_model(trained, judged);
        std::vector<std::string> lines = summary_of(judged);
        lines.push_back(fmt::format("model      {}", (folder_ / model_folder).string()));
        lines.push_back(fmt::format("report     {}", (folder_ / page_file).string()));
        write_train_record(folder_, options_, lines, {{"known_motifs", known_sum()}});
        return lines;
    }

    void write_page(const ProfileJudgement& judged, const profiles::ProfilePair& pair) const {
        std::string body = reads_html(files_of(spec_.tracks.signals), data_->files(), spec_.tracks.reading) +
                           profile_sections(judged, pair, *source_, data_->reference(), sweep_) +
                           learned_motifs() + curves_html(folder_ / run_folder) +
                           "<h2>Made from</h2><table>\n";
        const auto row = [](const std::string& key, const std::string& value) {
            return "<tr>" + evaluation::html_cell(key, true) + evaluation::html_cell(value, true) + "</tr>\n";
        };
        body += row("program", "bigbird-dna " + std::string(version())) + row("command", spec_.command);
        for (const auto& [name, value] : options_.items())
            body += row(name, value.is_string() ? value.get<std::string>() : value.dump());
        write_atomically(folder_ / page_file, Overwrite::allow, [&](std::ostream& out) {
            out << evaluation::page_html(folder_.filename().string() + ": profiles from sequence",
                                         body + "</table>\n");
        });
    }

    /// Finds the motifs of peaks that were held out, as far as there are enough, and writes them. Returns a
    /// section of the page.
    std::string learned_motifs() const {
        std::vector<Region> peaks;
        for (const Split split : {Split::test, Split::validation, Split::train})
            for (const Region& peak :
                 profiles::some_of(regions_.of(split, true), most_of_motifs - peaks.size()))
                peaks.push_back(peak);
        const std::int64_t bases = std::min(motif_bases, shape_.output);
        std::vector<genome::Interval> places;
        for (const Region& peak : peaks)
            places.push_back({data_->reference().contigs()[peak.contig].name, peak.centre - bases / 2,
                              peak.centre - bases / 2 + bases});
        const motifs::MotifSet found{
            .motifs = profile_motifs(folder_ / run_folder / training::model_folder, places, spec_)};
        if (!found.motifs.empty())
            motifs::write_motifs(folder_ / run_folder / learned_file, found, Overwrite::allow);
        return profile_motifs_html(found.motifs, places.size(), known_);
    }

    void write_model(const fs::path& trained, const ProfileJudgement& judged) const {
        const auto& [name, figures] = judged.peaks.front();
        const model::CardResult result{
            .task = model::card_task("coverage"),
            .split = "test",
            .data = counted(figures.regions(), "peak") + " of test",
            .metrics = {{"pearsonr", "Pearson of ln(1 + read ends)", figures.pearson().value_or(0)},
                        {"jsd", "Profile JSD, weighted by read ends", figures.distances.weighted()}}};
        PendingOutput pending(folder_ / model_folder, Overwrite::allow, PendingOutput::Kind::folder);
        fs::copy(trained, pending.path(), fs::copy_options::recursive);
        model::add_to_card(pending.path(), result);
        PendingOutput text(folder_ / model::card_file, Overwrite::allow);
        fs::copy_file(pending.path() / model::card_file, text.path(), fs::copy_options::overwrite_existing);
        commit_together(std::array{&text, &pending});
    }

    const TrainSpec& spec_;
    const fs::path folder_;
    const std::string bias_;
    const Json options_;
    const std::vector<motifs::Motif> known_;
    std::optional<DataSet> data_;
    std::optional<WindowSource> source_;
    ProfileShape shape_;
    SplitRegions regions_;
    ProfileNet given_bias_{nullptr};
    Json sweep_;
    std::int64_t jitter_ = 0;
    TrainSteps steps_{folder_, 4, spec_.model.run.max_hours};
};

}  // namespace

std::vector<std::string> train_profiles(const TrainSpec& spec) {
    return ProfilePipeline(spec).run();
}

std::vector<std::string> forecast_profiles(const TrainSpec& spec) {
    return ProfilePipeline(spec).forecast();
}

}  // namespace bigbird::tasks
