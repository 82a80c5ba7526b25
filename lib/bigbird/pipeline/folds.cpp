// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/folds.hpp"

#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/pipeline/recipe.hpp"
#include "bigbird/pipeline/train.hpp"
#include "bigbird/tasks/files/task_files.hpp"
#include "bigbird/training/run_start.hpp"

#include <algorithm>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

/// Makes examples in which every bin is test.
void build_all_bins(const TrainSpec& spec) {
    const fs::path folder = spec.output / examples_folder;
    if (is_there(folder / examples::manifest_name)) return;
    TrainSpec all = spec;
    all.folds = 0;
    all.examples.chooses_hold_outs = false;
    const auto reference = genome::open_references(spec.examples.references);
    for (const genome::Contig& contig : reference->contigs())
        all.test.push_back(contig.name);
    PendingOutput pending(folder, Overwrite::allow, PendingOutput::Kind::folder);
    recipe_of(all)->build(pending.path());
    pending.commit();
}

/// Joins the folds' tables: the first one's head with the models of all, then all rows.
void join_tables(const TrainSpec& spec, const std::string& file) {
    const fs::path joined = spec.output / scores_folder / file;
    if (is_there(joined)) return;
    std::string head, models, rows;
    for (int number = 1; number <= spec.folds; ++number) {
        genome::TextInput in(fold_spec(spec, number).output / scores_folder / file);
        for (std::string line; in.next(line);) {
            const bool is_model = line.starts_with("##model_sha256"), is_head = line.starts_with('#');
            if (is_model || !is_head || number == 1)
                (is_model ? models : is_head ? head : rows) += line + '\n';
        }
    }
    fs::create_directories(joined.parent_path());
    genome::TextOutput out(joined, Overwrite::allow);
    out.write(models + head + rows);
    out.commit();
}

}  // namespace

TrainSpec fold_spec(const TrainSpec& spec, int number) {
    TrainSpec one = spec;
    one.fold = number;
    one.output = spec.output / folds_folder / std::to_string(number);
    one.force = false;
    return one;
}

void train_folds(const TrainSpec& spec, const std::function<double()>& hours_left) {
    for (int number = 1; number <= spec.folds; ++number) {
        TrainSpec one = fold_spec(spec, number);
        log_info("fold {} of {} ({})", number, spec.folds, one.output.string());
        if (one.model.run.max_hours > 0) one.model.run.max_hours = std::max(1e-9, hours_left());
        train(one);
    }
    build_all_bins(spec);
    for (const char* file : {"floor.tsv.gz", "model.tsv.gz"})
        join_tables(spec, file);
}

std::string fold_links(int folds) {
    std::string html = "<h2>Folds</h2>\n<p>Each network's curves of training and learned motifs:";
    for (int number = 1; number <= folds; ++number)
        html += fmt::format(" <a href=\"{0}/{1}/{2}\">{1}</a>", folds_folder, number, page_file);
    return html + "</p>\n";
}

void copy_fold_models(const TrainSpec& spec, const fs::path& model) {
    for (int number = 1; number <= spec.folds; ++number) {
        const fs::path to = number == 1 ? model : model / folds_folder / std::to_string(number);
        fs::create_directories(to);
        fs::copy(fold_spec(spec, number).output / training::model_folder, to, fs::copy_options::recursive);
    }
}

}  // namespace bigbird::tasks
