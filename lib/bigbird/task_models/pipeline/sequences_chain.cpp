// SPDX-License-Identifier: Apache-2.0
// The steps from labeled sequences to an evaluated model.
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/sequences/sequence_evaluation.hpp"
#include "bigbird/task_models/files/task_files.hpp"
#include "bigbird/task_models/pipeline/chain.hpp"
#include "bigbird/task_models/pipeline/motif_logos.hpp"
#include "bigbird/task_models/train/finetune.hpp"

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

using examples::SequencesOptions, examples::Split, examples::TargetKind;

constexpr const char* drawn_splits = "similarity:0.8,0.1,0.1";

/// The options for build-sequences.
SequencesOptions options_of(const TrainSpec& spec) {
    SequencesOptions options = spec.sequences;
    if (spec.validation.size() > 1 || spec.test.size() > 1)
        throw ConfigError("--validation and --test take one table each");
    if (!spec.validation.empty()) options.validation = spec.validation.front();
    if (!spec.test.empty()) options.test = spec.test.front();
    if (!spec.validation.empty() && spec.test.empty())
        throw ConfigError("--test is needed beside --validation: the model is judged on it");
    if (spec.test.empty() && options.split_by.empty()) options.split_by = drawn_splits;
    options.seed = spec.model.seed;
    options.validate();
    return options;
}

class SequencesChain : public Chain {
public:
    explicit SequencesChain(const TrainSpec& spec) : spec_(spec), options_(options_of(spec)) {}

    Json options() const override {
        const auto sum = [](const fs::path& path) {
            return path.empty() ? Json("none") : Json("sha256:" + input_checksum(path));
        };
        Json fasta = Json::array();
        for (const fs::path& path : options_.fasta)
            fasta.push_back({path.stem(), sum(path)});
        const bool has_sequences = options_.fasta.empty();
        return {{"--table", has_sequences ? sum(options_.table) : "none"},
                {"--fasta", fasta},
                {"--targets", has_sequences ? "none" : sum(options_.table)},
                {"--validation", sum(options_.validation)},
                {"--test", sum(options_.test)},
                {"--sequence-column", options_.sequence_column},
                {"--label-column", options_.label_column},
                {"--labels", options_.labels},
                {"--target", word_of(examples::target_choices, options_.target_kind())},
                {"--split-by", options_.split_by},
                {"--config", sum(spec_.model.sequence.config)},
                {"--strand", word_of(record_strands, spec_.model.sequence.strand)},
                {"--members", spec_.model.sequence.members}};
    }

    void build(const fs::path& folder) const override { examples::build_sequences(options_, folder); }

    void check(const examples::ExampleSet& set, const fs::path& folder) const override {
        if (set.rows(Split::test).empty())
            throw InputError(
                "no row is of test, so the model could not be judged; give other shares, and --force to "
                "begin anew",
                folder);
    }

    FinetuneSpec floor() const override {
        FinetuneSpec floor = sequence_model_spec();
        floor.architecture = is_number() ? "kmer-ridge" : "kmer-logistic";
        floor.sequence.strand = spec_.model.sequence.strand;
        return floor;
    }
    Strands strands() const override { return Strands::none; }

    Judgement judge(const evaluation::EvaluationRequest& request, const fs::path& folder,
                    const fs::path& output) const override {
        const auto set = examples::ExampleSet::load(request.examples);
        const auto rows = [&](Split split) { return set.rows(split).size(); };
        return judge_numbers(
            request, output,
            {.title = folder.filename().string() + ": labels from sequence",
             .examples = fmt::format("{} sequences, {} {}; {} for training, {} for validation, {} for test",
                                     set.size(), set.label_table().size(),
                                     word_of(examples::target_choices, set.target()), rows(Split::train),
                                     rows(Split::validation), rows(Split::test)),
             .floor = std::string(is_number() ? "ridge" : "logistic") + " regression on k-mers",
             .sections = logos_html(folder / run_folder / motif_file)});
    }

    std::string told(const examples::ExampleSet& set) const override {
        return fmt::format("{}, {} {}", set.size(), set.label_table().size(),
                           word_of(examples::target_choices, set.target()));
    }
    const char* unit() const override { return "sequences"; }

private:
    bool is_number() const { return options_.target_kind() == TargetKind::numbers; }

    const TrainSpec& spec_;
    const SequencesOptions options_;
};

}  // namespace

Judgement judge_numbers(const evaluation::EvaluationRequest& request, const fs::path& output,
                        const PageWords& words) {
    const evaluation::SequenceReport report = evaluation::evaluate_sequences(request);
    const evaluation::SequenceFile &floor = report.files.front(), &model = report.files.back();
    Judgement judged{.lines = {"examples " + words.examples}};
    for (std::size_t i = 0; i < report.names.size(); ++i)
        judged.lines.push_back(
            compared(report.names[i], model.figures[i], floor.figures[i], model.differences[i]));
    judged.evaluation = evaluation::write_report(report, output, Overwrite::allow);
    judged.page = to_html(
        report,
        {.title = words.title, .lead = pages_lead(judged.lines, words.floor), .sections = words.sections});
    judged.card = card_figures(request.split, report, model);
    return judged;
}

std::unique_ptr<Chain> sequences_chain(const TrainSpec& spec) {
    return std::make_unique<SequencesChain>(spec);
}

}  // namespace bigbird::task_models
