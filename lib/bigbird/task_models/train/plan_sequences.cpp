// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/names/architecture_names.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/task_models/network/bases_network.hpp"
#include "bigbird/task_models/network/sequence_network.hpp"
#include "bigbird/task_models/train/finetune.hpp"
#include "bigbird/task_models/train/run_plan.hpp"
#include "bigbird/task_models/train/sequence_data.hpp"
#include "bigbird/task_models/train/train_kmers.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <limits>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

using Examples = std::shared_ptr<const examples::ExampleSet>;
using examples::Split;
using examples::TargetKind;

constexpr std::int64_t batch_tokens = 1 << 16;
/// Weight of regression on k-mers without validation.
constexpr double usual_share = 0.4;

sequences::Config member_config(const FinetuneSpec& spec, const examples::ExampleSet& examples) {
    sequences::Config config;
    Json json = sequences::to_json(config);
    if (!spec.sequence.config.empty()) {
        const Json given = read_json(spec.sequence.config);
        if (!given.is_object()) throw InputError("is no JSON object", spec.sequence.config);
        json.update(given);
        config = sequences::config_from_json(json, spec.sequence.config);
    }
    if (spec.dropout) config.dropout = *spec.dropout;
    config.both_strands = spec.sequence.strand != RecordStrand::given;
    if (!config.both_strands) {
        const std::int64_t longest = std::min(examples.bounds().size(), config.longest);
        config.places = (longest + config.pool - 1) / config.pool;
    }
    config.validate();
    return config;
}

/// The metric that selects the best step of a run.
std::optional<std::string> metric_of(const examples::ExampleSet& examples) {
    const std::vector<std::int64_t> rows = examples.rows(Split::validation);
    if (rows.empty()) return std::nullopt;
    if (examples.target() == TargetKind::numbers) return "eval_loss";
    for (std::size_t label = 0; label < examples.label_table().size(); ++label) {
        const std::int64_t ones = examples.positives(label, Split::validation);
        if (ones > 0 && ones < std::ssize(rows)) return "eval_auroc";
    }
    return "eval_loss";
}

Json sequence_options(const FinetuneSpec& spec, const training::LoopSpec& loop, const fs::path& pretrained) {
    Json options = run_options(spec, loop, pretrained);
    const SequenceSpec& sequence = spec.sequence;
    options.update(Json{{"--strand", word_of(record_strands, sequence.strand)},
                        {"--loss", word_of(number_losses, sequence.loss)},
                        {"--members", sequence.members},
                        {"--kmers", sequence.with_kmers ? "mean" : "none"},
                        {"--motifs", sequence.motifs},
                        {"--shift", sequence.shift},
                        {"--average-weights", sequence.averaging},
                        {"--label-smoothing", sequence.smoothing},
                        {"--kmer-length", spec.linear.word},
                        {"--penalty", spec.linear.penalty},
                        {"--pooling", spec.pooling}});
    if (!sequence.config.empty()) options["--config"] = "sha256:" + sha256_of_file(sequence.config);
    std::string names = "--examples --architecture --strand --calibration";
    if (spec.is_linear()) return chosen_options(options, names + " --kmer-length --penalty");
    names += optimizer_options + std::string(" --positive-weight --loss --evaluate-every --patience --seed");
    if (spec.is_sequence())
        return chosen_options(options, names +
                                           " --members --kmers --motifs --shift --average-weights "
                                           "--label-smoothing --config --dropout --kmer-length --penalty");
    if (spec.is_bigbird()) names += starting_options + std::string("--pooling --dtype");
    return chosen_options(options, names);
}

/// A model assembled from trained networks; its logits on validation determine its calibration.
struct Finished {
    std::shared_ptr<SequenceNetwork> network;
    std::optional<FittedCalibration> calibration{};
    Json metrics = Json::object();
};

class Maker : public std::enable_shared_from_this<Maker> {
public:
    Maker(const FinetuneSpec& spec, TaskInfo info, Examples examples, int threads)
        : spec_(spec), info_(std::move(info)), examples_(std::move(examples)), threads_(threads) {
        validation_ = examples_->rows(Split::validation);
    }

    ScoredRows validated(const TaskNetwork& network) const {
        return scored_records(network, *examples_, validation_, info_.standardisation, batch_tokens,
                              threads_);
    }
    /// The loss of validation's logits after calibration, and the calibration.
    double loss_of(const ScoredRows& rows, std::optional<FittedCalibration>& calibration) const {
        const LinkFunction link = info_.link();
        if (gives_probabilities(link)) {
            calibration = fit_on_validation(rows.logits, rows.truth, threads_, link);
            if (calibration) return calibration->fit.loss_after;
        }
        const auto target = target_of(*examples_, spec_, spec_.sequence, at::kCPU);
        return target->figures(rows.logits, rows.truth, mean_loss(*target, rows)).at("eval_loss");
    }
    Finished finished(std::shared_ptr<SequenceNetwork> network) const {
        Finished made{.network = std::move(network)};
        if (validation_.empty()) return made;
        const ScoredRows rows = validated(*made.network);
        if (rows.logits.size(0) == 0) return made;
        loss_of(rows, made.calibration);
        const auto target = target_of(*examples_, spec_, spec_.sequence, at::kCPU);
        made.metrics = target->figures(rows.logits, rows.truth, mean_loss(*target, rows));
        return made;
    }
    /// The weight of the k-mers' logits with the lowest loss on validation, in steps of a tenth.
    double best_share(const TaskNetwork& members, const TaskNetwork& kmers) const {
        if (validation_.empty()) return usual_share;
        const ScoredRows of_members = validated(members), of_kmers = validated(kmers);
        double best = 0, least = std::numeric_limits<double>::infinity();
        for (int tenth = 0; tenth <= 10; ++tenth) {
            const double share = tenth / 10.0;
            std::optional<FittedCalibration> calibration;
            const ScoredRows mixed{(1 - share) * of_members.logits + share * of_kmers.logits,
                                   of_members.truth, 0};
            const double loss = loss_of(mixed, calibration);
            if (loss < least) {
                least = loss;
                best = share;
            }
        }
        return best;
    }
    training::Solution solution(Finished made) const {
        made.metrics["step"] = 1;
        return {made.metrics, [own = shared_from_this(), made](const fs::path& folder) {
                    made.network->write(own->info_, folder);
                    write_labels(own->examples_->label_table(), folder);
                    if (own->spec_.calibrates && made.calibration)
                        write_calibration(*made.calibration, folder);
                }};
    }

private:
    static double mean_loss(const Target& target, const ScoredRows& rows) {
        if (target.link() == LinkFunction::softmax) return 0;  // not used with softmax
        const double sum =
            target.loss_sum(rows.logits.unsqueeze(1), rows.truth.unsqueeze(1), {}).item<double>();
        return sum / static_cast<double>(rows.logits.numel());
    }

    const FinetuneSpec& spec_;
    TaskInfo info_;
    Examples examples_;
    int threads_;
    std::vector<std::int64_t> validation_;
};

/// The run of one member, in a separate folder.
FinetuneSpec member_spec(const FinetuneSpec& spec, std::int64_t member) {
    FinetuneSpec own = spec;
    own.seed = Rng(spec.seed).split("member").split(static_cast<std::uint64_t>(member)).key() >> 1U;
    own.output = spec.output / "members" / std::to_string(member + 1);
    own.sequence.members = 1;
    own.sequence.motif_output = own.output / motif_file;
    own.sequence.with_kmers = false;
    return own;
}

RunPlan member_plan(const FinetuneSpec& own, const RunPlan& of_all, const Examples& examples) {
    RunPlan plan;
    plan.info = of_all.info;
    plan.card = of_all.card;
    plan.loop = finetune_loop(own, of_all.loop.learning_rate, metric_of(*examples));
    plan.loop.fixed_options = sequence_options(own, plan.loop, {});
    plan.averaging = own.sequence.averaging;
    const sequences::Config config = member_config(own, *examples);
    const auto labels = static_cast<std::int64_t>(examples->label_table().size());
    plan.network = [config, labels, seed = own.seed](const Job& job) {
        return new_sequence_network(config, labels, seed, job.device);
    };
    plan.data = [&own, examples, standardisation = plan.info.standardisation](
                    std::shared_ptr<TaskNetwork> network, int threads) {
        ClassifierSpec classifier = own;
        classifier.both_strands = own.sequence.strand != RecordStrand::given;
        return std::make_unique<SequenceData>(std::move(network), *examples, classifier, own.sequence,
                                              standardisation, threads);
    };
    return plan;
}

/// Returns the spec with the strand that --strand auto selects.
FinetuneSpec on_strand(const FinetuneSpec& spec, const RunPlan& plan, const Examples& examples, int threads) {
    FinetuneSpec own = spec;
    own.sequence.strand = chosen_strand(*examples, spec.sequence.strand, plan.info.standardisation, threads);
    return own;
}

/// Copies the motifs of the first member into the run.
void keep_motifs(const fs::path& member, const fs::path& run) {
    if (is_there(member)) motifs::write_motifs(run, motifs::read_motifs(member), Overwrite::allow);
}

training::Solution solve_sequence(const FinetuneSpec& asked, const RunPlan& plan, const Examples& examples,
                                  int threads) {
    const FinetuneSpec spec = on_strand(asked, plan, examples, threads);
    const bool counts = plan.info.link() == LinkFunction::exponential;
    std::shared_ptr<SequenceNetwork> kmers;
    Json metrics = Json::object();
    if (spec.sequence.with_kmers && !counts) {
        const KmerFit fit =
            fit_kmers(*examples, spec.linear, spec.sequence.strand, plan.info.standardisation, threads);
        kmers = fit.network;
        metrics["kmer_penalty"] = fit.penalty;
    }
    std::vector<std::shared_ptr<SequenceNetwork>> members;
    for (std::int64_t member = 0; member < spec.sequence.members; ++member) {
        if (spec.sequence.members > 1) log_info("Member {} of {}", member + 1, spec.sequence.members);
        const FinetuneSpec own = member_spec(spec, member);
        const training::LoopResult run = carry_out(own, {}, threads, member_plan(own, plan, examples));
        const ModelFolder opened = open_model(run.model, examples::Task::sequences, at::kCPU);
        members.push_back(std::dynamic_pointer_cast<SequenceNetwork>(opened.network));
        if (run.best_step) metrics["best_steps"].push_back(*run.best_step);
        if (member == 0) keep_motifs(own.sequence.motif_output, spec.output / motif_file);
    }
    auto maker = std::make_shared<Maker>(asked, plan.info, examples, threads);
    std::shared_ptr<SequenceNetwork> network = mean_network(members, nullptr, 0);
    if (kmers) {
        const double share = maker->best_share(*network, *kmers);
        metrics["kmer_share"] = share;
        network = mean_network(members, kmers, share);
    }
    Finished made = maker->finished(network);
    metrics["strand"] = word_of(record_strands, spec.sequence.strand);
    made.metrics.update(metrics);
    return maker->solution(std::move(made));
}

training::Solution solve_kmers(const FinetuneSpec& spec, const RunPlan& plan, const Examples& examples,
                               int threads) {
    const RecordStrand strand =
        chosen_strand(*examples, spec.sequence.strand, plan.info.standardisation, threads);
    const KmerFit fit = fit_kmers(*examples, spec.linear, strand, plan.info.standardisation, threads);
    auto maker = std::make_shared<Maker>(spec, plan.info, examples, threads);
    Finished made = maker->finished(fit.network);
    made.metrics["penalty"] = fit.penalty;
    made.metrics["strand"] = word_of(record_strands, strand);
    return maker->solution(std::move(made));
}

void check_target(const FinetuneSpec& spec, const examples::ExampleSet& examples) {
    const bool numbers = examples.target() == TargetKind::numbers;
    if (spec.architecture == "kmer-logistic" && numbers)
        throw ConfigError(
            "--architecture kmer-logistic is for classes and labels: for numbers there is kmer-ridge");
    if (spec.architecture == "kmer-ridge" && !numbers)
        throw ConfigError(
            "--architecture kmer-ridge is for numbers: for classes and labels there is kmer-logistic");
    if (spec.architecture == "gkm-svm")
        throw ConfigError(
            "--architecture gkm-svm is for windows of the genome: for sequences there is kmer-logistic");
    if (spec.sequence.loss == NumberLoss::poisson && !numbers)
        throw ConfigError("--loss poisson is for numbers: the examples have " +
                          std::string(word_of(examples::target_choices, examples.target())));
    if (spec.sequence.loss == NumberLoss::poisson && spec.is_linear())
        throw ConfigError("--loss poisson is for networks: kmer-ridge minimises the squared error");
}

/// Plans token models, and networks that read windows of one length.
void plan_other(const FinetuneSpec& spec, const Examples& examples, const fs::path& pretrained,
                RunPlan& plan) {
    const auto labels = static_cast<std::int64_t>(examples->label_table().size());
    plan.network = [&spec, info = plan.info, labels, pretrained](const Job& job) {
        return spec.is_bigbird()
                   ? pretrained_windows(spec, info, static_cast<std::size_t>(labels), pretrained, job)
                   : new_base_network(info, labels, spec.seed, job.device);
    };
    plan.data = [&spec, examples, standardisation = plan.info.standardisation, window = plan.info.window](
                    std::shared_ptr<TaskNetwork> network, int threads) {
        ClassifierSpec classifier = spec;
        classifier.window = window;
        classifier.both_strands = spec.sequence.strand != RecordStrand::given;
        SequenceSpec sequence = spec.sequence;
        sequence.smoothing = 0;
        return std::make_unique<SequenceData>(std::move(network), *examples, classifier, sequence,
                                              standardisation, threads);
    };
}

}  // namespace

RunPlan plan_sequences(const FinetuneSpec& spec, bool speaks) {
    const Examples examples = load_examples(spec);
    check_target(spec, *examples);
    const fs::path pretrained = spec.is_bigbird() ? training::find_model(spec.pretrained) : fs::path();
    RunPlan plan;
    plan.loop = finetune_loop(spec, spec.rate_over(std::ssize(examples->rows(Split::train)), spec.batch_size),
                              metric_of(*examples), speaks);
    plan.loop.fixed_options = sequence_options(spec, plan.loop, pretrained);
    TaskInfo& info = plan.info = task_info_of(*examples);
    info.architecture = spec.architecture;
    info.pooling = parse_pooling(spec.pooling);
    info.training = plan.loop.fixed_options;
    if (info.target == TargetKind::numbers && spec.sequence.loss == NumberLoss::squared)
        info.standardisation = standardisation_of(*examples);
    if (spec.window) info.window = *spec.window;
    if (!spec.window && !spec.is_bigbird() && !reads_records(info))
        baselines::published_window(spec.architecture, info.window.begin, info.window.end);
    plan.card = facts_of(*examples);
    plan.card.reads = "a sequence";
    if (spec.is_linear()) {
        plan.solve = [=, &spec](int threads) { return solve_kmers(spec, plan, examples, threads); };
    } else if (spec.is_sequence()) {
        member_config(spec, *examples);  // throws what does not fit before anything is trained
        plan.solve = [=, &spec](int threads) { return solve_sequence(spec, plan, examples, threads); };
    } else {
        plan_other(spec, examples, pretrained, plan);
    }
    return plan;
}

}  // namespace bigbird::task_models
