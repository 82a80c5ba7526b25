// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/finetuning/example_data.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/finetuning/train_linear.hpp"
#include "bigbird/finetuning/train_probe.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/tasks/sequence_network.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using Examples = std::shared_ptr<const examples::ExampleSet>;
using examples::Split;
using examples::TargetKind;

constexpr std::int64_t validation_tokens = 1 << 16;
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
                        {"--penalty", 0.0},
                        {"--pooling", spec.pooling}});
    if (!sequence.config.empty()) options["--config"] = "sha256:" + sha256_of_file(sequence.config);
    std::string names = "--examples --architecture --strand --calibration";
    if (spec.row().is_solved() && spec.row().reads_tokens()) {
        options["--probe"] = word_of(probe_kinds, spec.probe);
        return chosen_options(options, names + " --model --pooling --dtype --probe --seed");
    }
    if (spec.row().is_solved()) return chosen_options(options, names + " --kmer-length --penalty");
    names += optimizer_options + std::string(" --positive-weight --loss --evaluate-every --patience --seed");
    if (spec.row().has_members())
        return chosen_options(options, names +
                                           " --members --kmers --motifs --shift --average-weights "
                                           "--label-smoothing --config --dropout --kmer-length --penalty");
    if (spec.row().reads_tokens()) names += starting_options + std::string("--pooling --dtype");
    return chosen_options(options, names);
}

/// A network that is trained step by step, and its data.
NetworkAndData with_records(std::shared_ptr<TaskNetwork> network, const FinetuneSpec& spec,
                            const Examples& examples, const TaskInfo& info, int threads) {
    ClassifierSpec classifier = spec;
    classifier.window = info.window;
    classifier.both_strands = spec.sequence.strand != RecordStrand::given;
    SequenceSpec sequence = spec.sequence;
    if (!spec.row().has_members()) sequence.smoothing = 0;
    return {network, std::make_unique<ExampleData>(network, *examples, classifier, true, threads, sequence,
                                                   info.standardisation)};
}

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

/// Solves regression on k-mers, trains members, and makes one model of them, calibrated on validation.
class Solver {
public:
    Solver(const FinetuneSpec& spec, const RunPlan& plan, Examples examples, int threads)
        : spec_(spec),
          plan_(plan),
          examples_(std::move(examples)),
          threads_(threads),
          validation_(examples_->rows(Split::validation)) {
        spec_.sequence.strand =
            chosen_strand(*examples_, spec.sequence.strand, plan.info.standardisation, threads);
    }

    training::Solution kmers() const {
        const KmerFit fit = fit_kmers();
        return solution(fit.network, {{"penalty", fit.penalty}, {"strand", strand()}});
    }

    training::Solution members_with_kmers() const {
        Json metrics = Json::object();
        std::shared_ptr<SequenceNetwork> kmers;
        if (spec_.sequence.with_kmers && plan_.info.link() != LinkFunction::exponential) {
            const KmerFit fit = fit_kmers();
            kmers = fit.network;
            metrics["kmer_penalty"] = fit.penalty;
        }
        std::vector<std::shared_ptr<SequenceNetwork>> members;
        for (std::int64_t member = 0; member < spec_.sequence.members; ++member) {
            if (spec_.sequence.members > 1) log_info("Member {} of {}", member + 1, spec_.sequence.members);
            FinetuneSpec own = member_spec(spec_, member);
            own.run.max_hours = hours_left();
            const training::LoopResult run = carry_out(own, {}, threads_, member_plan(own));
            const ModelFolder opened = open_model(run.model, plan_.info.task, at::kCPU);
            members.push_back(std::dynamic_pointer_cast<SequenceNetwork>(opened.network));
            if (run.best_step) metrics["best_steps"].push_back(*run.best_step);
            if (const fs::path& motifs = own.sequence.motif_output; member == 0 && is_there(motifs))
                motifs::write_motifs(spec_.output / motif_file, motifs::read_motifs(motifs),
                                     Overwrite::allow);
        }
        std::shared_ptr<SequenceNetwork> network = mean_network(members, nullptr, 0);
        if (kmers) {
            const double share = best_share(*network, *kmers);
            metrics["kmer_share"] = share;
            network = mean_network(members, kmers, share);
        }
        metrics["strand"] = strand();
        return solution(std::move(network), metrics);
    }

private:
    /// What is left of --max-hours; 0: no limit.
    double hours_left() const {
        const std::chrono::duration<double, std::ratio<3600>> gone =
            std::chrono::steady_clock::now() - start_;
        const double hours = spec_.run.max_hours;
        return hours > 0 ? std::max(1e-9, hours - gone.count()) : 0;
    }
    std::string_view strand() const { return word_of(record_strands, spec_.sequence.strand); }
    KmerFit fit_kmers() const {
        return tasks::fit_kmers(*examples_, spec_.linear.word, spec_.sequence.strand,
                                plan_.info.standardisation, threads_);
    }

    RunPlan member_plan(const FinetuneSpec& own) const {
        RunPlan plan;
        plan.info = plan_.info;
        plan.card = plan_.card;
        plan.loop = finetune_loop(own, plan_.loop.learning_rate, metric_of(*examples_));
        plan.loop.fixed_options = sequence_options(own, plan.loop, {});
        plan.averaging = own.sequence.averaging;
        plan.make = [this, &own, config = member_config(own, *examples_)](const Job& job) {
            const auto labels = static_cast<std::int64_t>(examples_->label_table().size());
            return with_records(new_sequence_network(config, labels, own.seed, job.device), own, examples_,
                                plan_.info, job.threads);
        };
        return plan;
    }

    ScoredRows validated(const TaskNetwork& network) const {
        return scored_records(network, *examples_, validation_, plan_.info.standardisation, validation_tokens,
                              threads_);
    }
    std::optional<FittedCalibration> calibration(const ScoredRows& rows) const {
        const LinkFunction link = plan_.info.link();
        if (!gives_probabilities(link)) return std::nullopt;
        return fit_on_validation(rows.logits, rows.truth, threads_, link);
    }
    Json figures(const ScoredRows& rows) const {
        const auto target = target_of(*examples_, spec_, spec_.sequence, at::kCPU);
        double loss = 0;  // not used with softmax
        if (target->link() != LinkFunction::softmax) {
            loss = target->loss_sum(rows.logits.unsqueeze(1), rows.truth.unsqueeze(1), {}).item<double>() /
                   static_cast<double>(rows.logits.numel());
        }
        return target->figures(rows.logits, rows.truth, loss);
    }
    /// The weight of the k-mers' logits with the lowest loss on validation, after calibration, in steps of a
    /// tenth.
    double best_share(const TaskNetwork& members, const TaskNetwork& kmers) const {
        if (validation_.empty()) return usual_share;
        const ScoredRows of_members = validated(members), of_kmers = validated(kmers);
        double best = 0, least = std::numeric_limits<double>::infinity();
        for (int tenth = 0; tenth <= 10; ++tenth) {
            const double share = tenth / 10.0;
            const ScoredRows mixed{(1 - share) * of_members.logits + share * of_kmers.logits,
                                   of_members.truth, 0};
            const auto calibrated = calibration(mixed);
            const double loss =
                calibrated ? calibrated->fit.loss_after : figures(mixed).at("eval_loss").get<double>();
            if (loss < least) {
                least = loss;
                best = share;
            }
        }
        return best;
    }
    /// The model, with its figures on validation and `more` of metrics.jsonl.
    training::Solution solution(std::shared_ptr<TaskNetwork> network, const Json& more) const {
        SolvedModel solved{.network = std::move(network)};
        if (!validation_.empty()) {
            const ScoredRows rows = validated(*solved.network);
            if (rows.logits.size(0) > 0) {
                solved.calibration = calibration(rows);
                solved.metrics = figures(rows);
            }
        }
        solved.metrics.update(more);
        solved.metrics["step"] = 1;
        return solution_of(std::move(solved), plan_.info, examples_, spec_.calibrates);
    }

    FinetuneSpec spec_;
    const RunPlan& plan_;
    Examples examples_;
    int threads_;
    std::vector<std::int64_t> validation_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void check_target(const FinetuneSpec& spec, const examples::ExampleSet& examples) {
    const bool numbers = examples.target() == TargetKind::numbers;
    if (spec.architecture == kmer_logistic_name && numbers)
        throw ConfigError(
            "--architecture kmer-logistic is for classes and labels: for numbers there is kmer-ridge");
    if (spec.architecture == kmer_ridge_name && !numbers)
        throw ConfigError(
            "--architecture kmer-ridge is for numbers: for classes and labels there is kmer-logistic");
    if (spec.architecture == gkm_svm_name)
        throw ConfigError(
            "--architecture gkm-svm is for windows of the genome: for sequences there is kmer-logistic");
    if (spec.sequence.loss == NumberLoss::poisson && !numbers)
        throw ConfigError("--loss poisson is for numbers: the examples have " +
                          std::string(word_of(examples::target_choices, examples.target())));
    if (spec.sequence.loss == NumberLoss::poisson && spec.row().is_solved())
        throw ConfigError("--loss poisson is for networks: kmer-ridge minimises the squared error");
}

}  // namespace

RunPlan plan_sequences(const FinetuneSpec& spec, bool speaks) {
    const Examples examples = load_examples(spec);
    check_target(spec, *examples);
    const fs::path pretrained =
        spec.row().reads_tokens() ? training::find_model(spec.pretrained) : fs::path();
    RunPlan plan;
    plan.loop = finetune_loop(spec, spec.rate_over(std::ssize(examples->rows(Split::train)), spec.batch_size),
                              metric_of(*examples), speaks);
    plan.loop.fixed_options = sequence_options(spec, plan.loop, pretrained);
    TaskInfo& info = plan.info = task_info_of(*examples);
    info.architecture = spec.row().reads_tokens() ? bigbird_name : std::string_view(spec.architecture);
    info.pooling = parse_choice(pooling_choices, "--pooling", spec.pooling);
    info.training = plan.loop.fixed_options;
    if (info.target == TargetKind::numbers && spec.sequence.loss == NumberLoss::squared)
        info.standardisation = standardisation_of(*examples);
    if (spec.window) info.window = *spec.window;
    if (!spec.window && spec.row().has_published_window()) info.window = spec.row().published;
    plan.card = facts_of(*examples);
    plan.card.reads = "a sequence";
    if (spec.row().is_solved() && spec.row().reads_tokens()) {
        plan.solve = [=, &spec, info = plan.info](int threads) {
            return solution_of(train_probe(spec, info, *examples, pretrained, threads), info, examples,
                               spec.calibrates);
        };
    } else if (spec.row().is_solved()) {
        plan.solve = [=, &spec](int threads) { return Solver(spec, plan, examples, threads).kmers(); };
    } else if (spec.row().has_members()) {
        member_config(spec, *examples);  // throws what does not fit before anything is trained
        plan.solve = [=, &spec](int threads) {
            return Solver(spec, plan, examples, threads).members_with_kmers();
        };
    } else {
        plan.make = [=, &spec](const Job& job) {
            return with_records(windows_network(spec, info, examples->label_table().size(), pretrained, job),
                                spec, examples, info, job.threads);
        };
    }
    return plan;
}

}  // namespace bigbird::tasks
