// SPDX-License-Identifier: Apache-2.0
// finetune-promoter and -chromatin, predict-promoter and -chromatin, predict-variants, attribute and embed on
// the pretended device. In fp32 all figures are the CPU's to 1e-5. In bf16, where the devices round at
// different places, losses and probabilities are to 2e-2, vectors to 8e-2, and AUROCs, which a few windows
// decide, are not compared.
#include "support/pretended/pretended_device.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/scoring/letters/letters.hpp"
#include "bigbird/scoring/motifs/motifs.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/scoring/variants/variants.hpp"
#include "bigbird/tasks/sequence_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

constexpr double fp32_tolerance = 1e-5, bf16_tolerance = 2e-2;

double tolerance_of(const std::string& dtype) {
    return dtype == "fp32" ? fp32_tolerance : bf16_tolerance;
}

/// The largest difference of two tables' numbers; infinite where anything else differs.
double apart(const fs::path& a, const fs::path& b) {
    std::istringstream of_a(read_file(a)), of_b(read_file(b));
    double largest = 0;
    for (std::string one, other; std::getline(of_a, one);) {
        std::getline(of_b, other);
        const auto fields = rows::split_fields(one, '\t'), others = rows::split_fields(other, '\t');
        bool same = fields.size() == others.size();
        for (std::size_t i = 0; same && i < fields.size(); ++i) {
            const auto x = parse_number<double>(fields[i]), y = parse_number<double>(others[i]);
            same = x.has_value() == y.has_value() && (x || fields[i] == others[i]);
            if (x && same) largest = std::max(largest, std::abs(*x - *y));
        }
        if (!same) return std::numeric_limits<double>::infinity();
    }
    return largest;
}

/// Examples and models of both tasks, a genome, rows and variants.
class Fixture {
public:
    Fixture() {
        const std::string genome = random_dna(3000, 1);
        write_file(folder_ / "genome.fa", ">c\n" + genome + "\n");
        std::string bed, variants = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
        for (std::size_t i = 200; i < 2900; i += 190) {
            const std::string begin = std::to_string(i), end = std::to_string(i + 1 + i % 60);
            bed += "c\t" + begin + "\t" + end + "\tr" + begin + "\t.\t" + (i % 4 == 0 ? "+" : "-") + "\n";
            variants += "c\t" + end + "\t.\t" + genome[i + i % 60] + "\t" +
                        (genome[i + i % 60] == 'A' ? "CT" : "A") + "\t.\t.\t.\n";
        }
        write_file(folder_ / "rows.bed", bed);
        write_file(folder_ / "variants.vcf", variants);
        write_tiny_pretrained(folder_ / "pretrained", 1);
        for (const examples::Task task : {examples::Task::chromatin, examples::Task::promoter}) {
            const std::string name(to_string(task));
            write_motif_examples(folder_ / (name + "-examples"), 80, 21, task);
            tasks::TaskInfo info;
            info.task = task;
            info.window = {-150, 100};
            write_tiny_task_model(folder_ / (name + "-model"), info, task == examples::Task::promoter ? 1 : 3,
                                  5);
        }
    }
    fs::path operator/(const std::string& name) const { return folder_ / name; }
    fs::path of(examples::Task task, const std::string& what) const {
        return folder_ / (std::string(to_string(task)) + what);
    }

private:
    TempDir folder_;
};

/// A bin model, "bins", and a sequence model, "sequences", of two labels.
void write_letter_models(const Fixture& fixture) {
    bins::BinsConfig bins = small_bins();
    bins.both_strands = true;
    bins.motif_filters = 4;
    sequences::Config records;
    records.hidden = 16;
    records.heads = 2;
    tasks::TaskInfo info;
    info.task = examples::Task::sequences;
    info.target = examples::TargetKind::classes;
    info.architecture = tasks::sequence_name;
    for (const char* name : {"bins", "sequences"}) {
        fs::create_directories(fixture / name);
        write_file(fixture / name / "labels.tsv",
                   rows::LabelTable({{"k", "a", -1}, {"k", "b", -1}}).to_text());
    }
    small_base_bins(1, bins)->write(small_bins_info(bins), fixture / "bins");
    tasks::new_sequence_network(records, 2, 1, at::kCPU)->write(info, fixture / "sequences");
}

/// What `write(device, file)` writes on the CPU and on the device.
template <typename Write>
double apart_by_device(const Fixture& fixture, Write&& write) {
    write("cpu", fixture / "cpu.tsv");
    write("pretended", fixture / "device.tsv");
    return apart(fixture / "cpu.tsv", fixture / "device.tsv");
}

template <typename Spec>
void set_common(Spec& spec, const std::string& device, const std::string& dtype, const fs::path& output) {
    spec.device = device;
    spec.dtype = dtype;
    spec.threads = 1;
    spec.batch_tokens = 1024;
    spec.outputs.paths = {output};
    spec.outputs.overwrite = Overwrite::allow;
}

tasks::FinetuneSpec finetuning(const Fixture& fixture, examples::Task task) {
    tasks::FinetuneSpec spec;
    spec.task = task;
    spec.examples = fixture.of(task, "-examples");
    spec.pretrained = fixture / "pretrained";
    spec.learning_rate.total_steps = 6;
    spec.evaluate_every = 3;
    spec.batch_size = 16;
    spec.learning_rate.peak = 1e-3;
    spec.batch_tokens = 1024;
    spec.threads = 1;
    return spec;
}

/// What is compared of metrics.jsonl, as a table.
void write_metrics(const tasks::FinetuneSpec& spec, const fs::path& output) {
    std::istringstream in(read_file(spec.output / "metrics.jsonl"));
    std::string table;
    for (std::string line; std::getline(in, line);) {
        const Json json = Json::parse(line);
        for (const char* key : {"step", "loss", "gradient_norm", "eval_loss"})
            table += json.value(key, Json()).dump() + "\t";
        table += (spec.dtype == "bf16" ? Json() : json.value("eval_auroc", Json())).dump() + "\n";
    }
    write_file(output, table);
}

void check_finetuning(const Fixture& fixture, tasks::FinetuneSpec spec, double tolerance) {
    DOCTEST_CAPTURE(spec.architecture);
    DOCTEST_CAPTURE(spec.pooling);
    DOCTEST_CHECK(apart_by_device(fixture, [&](const std::string& device, const fs::path& output) {
                      const TempDir folder;
                      spec.device = device;
                      spec.output = folder / "run";
                      finetune(spec);
                      write_metrics(spec, output);
                  }) < tolerance);
}

}  // namespace

DOCTEST_TEST_CASE("finetune: the CPU's losses and AUROCs, for both tasks and every pooling") {
    const Fixture fixture;
    for (const char* pooling : {"cls", "mean", "centre"}) {
        tasks::FinetuneSpec spec = finetuning(fixture, examples::Task::chromatin);
        spec.dtype = "fp32";
        spec.pooling = pooling;
        spec.positive_weight.reset();
        check_finetuning(fixture, spec, fp32_tolerance);
    }
    for (const std::string dtype : {"fp32", "bf16"}) {
        tasks::FinetuneSpec spec = finetuning(fixture, examples::Task::promoter);
        spec.dtype = dtype;
        spec.head = "linear";
        spec.both_strands = true;
        check_finetuning(fixture, spec, tolerance_of(dtype));
    }
}

// DeePromoter is left out: LibTorch has an LSTM for each kind of device.
DOCTEST_TEST_CASE("finetune: the CPU's losses of the convolutional baselines") {
    const Fixture fixture;
    for (const std::string architecture : {"cnnprom", "deepsea"}) {
        tasks::FinetuneSpec spec = finetuning(fixture, examples::Task::promoter);
        spec.architecture = architecture;
        spec.pretrained.clear();
        spec.window = rows::WindowBounds{-100, 100};
        spec.learning_rate.total_steps = 2;
        spec.evaluate_every = 1;
        check_finetuning(fixture, spec, fp32_tolerance);
    }
}

DOCTEST_TEST_CASE("finetune: stopped and resumed is the same as uninterrupted") {
    const Fixture fixture;
    tasks::FinetuneSpec spec = finetuning(fixture, examples::Task::chromatin);
    spec.device = "pretended";
    spec.dtype = "bf16";
    spec.output = fixture / "whole";
    finetune(spec);
    spec.output = fixture / "parts";
    spec.run.max_hours = 1e-9;
    for (int part = 0; part < 6; ++part) {
        try {
            finetune(spec);
            break;
        } catch (const Stopped&) {
        }
    }
    DOCTEST_CHECK(read_file(fixture / "whole/model/model.safetensors") ==
                  read_file(fixture / "parts/model/model.safetensors"));
}

DOCTEST_TEST_CASE("finetune: the host waits once a step") {
    const Fixture fixture;
    const auto waits_of = [&](tasks::FinetuneSpec spec, std::int64_t steps) {
        const TempDir folder;
        spec.device = "pretended";
        spec.output = folder / "run";
        spec.learning_rate.total_steps = steps;
        spec.evaluate_every = 0;
        take_waits();
        finetune(spec);
        return take_waits();
    };
    for (const std::string architecture : {"bigbird", "cnnprom"}) {
        tasks::FinetuneSpec spec = finetuning(fixture, examples::Task::promoter);
        spec.architecture = architecture;
        spec.window = rows::WindowBounds{-100, 100};
        if (architecture != "bigbird") spec.pretrained.clear();
        const Waits few = waits_of(spec, 2), many = waits_of(spec, 6);
        for (const auto& [reason, count] : many) {
            DOCTEST_CAPTURE(architecture);
            DOCTEST_CAPTURE(reason);
            DOCTEST_CHECK(count - (few.contains(reason) ? few.at(reason) : 0) <= (reason == "event" ? 4 : 0));
        }
    }
}

DOCTEST_TEST_CASE("predict: the CPU's probabilities, for both tasks") {
    const Fixture fixture;
    for (const examples::Task task : {examples::Task::chromatin, examples::Task::promoter}) {
        for (const std::string dtype : {"fp32", "bf16"}) {
            DOCTEST_CAPTURE(dtype);
            DOCTEST_CHECK(apart_by_device(fixture, [&](const std::string& device, const fs::path& output) {
                              tasks::PredictSpec spec;
                              set_common(spec, device, dtype, output);
                              spec.task = task;
                              spec.models = {fixture.of(task, "-model")};
                              spec.regions = fixture / "rows.bed";
                              spec.references = {fixture / "genome.fa"};
                              spec.strands = tasks::Strands::average;
                              predict(spec);
                          }) < tolerance_of(dtype));
        }
    }
}

DOCTEST_TEST_CASE("predict-variants: the CPU's scores, of models of a task and of a pretrained one") {
    const Fixture fixture;
    for (const char* name : {"chromatin-model", "promoter-model", "pretrained"}) {
        DOCTEST_CAPTURE(name);
        DOCTEST_CHECK(apart_by_device(fixture, [&](const std::string& device, const fs::path& output) {
                          tasks::VariantSpec spec;
                          set_common(spec, device, "fp32", output);
                          spec.models = {fixture / name};
                          spec.variants = fixture / "variants.vcf";
                          spec.references = {fixture / "genome.fa"};
                          if (std::string(name) == "promoter-model") spec.tss = fixture / "rows.bed";
                          spec.window = 600;
                          predict_variants(spec);
                      }) < fp32_tolerance);
    }
}

DOCTEST_TEST_CASE("attribute: the CPU's contributions, of bin, sequence and token models") {
    using enum tasks::AttributionMethod;
    const Fixture fixture;
    write_letter_models(fixture);
    write_file(fixture / "site.bed", "c\t355\t425\tsite\n");  // of two windows of the bin model
    write_file(fixture / "records.fa", ">r\n" + random_dna(90, 7) + "\n");
    for (const std::string model : {"bins", "sequences", "chromatin-model"}) {
        for (const auto method : {integrated_gradients, input_x_gradient, saliency, deeplift}) {
            if (method == deeplift && model == "chromatin-model") continue;
            DOCTEST_CAPTURE(model);
            DOCTEST_CAPTURE(static_cast<int>(method));
            DOCTEST_CHECK(apart_by_device(fixture, [&](const std::string& device, const fs::path& output) {
                              tasks::AttributeSpec spec;
                              set_common(spec, device, spec.dtype, output);
                              spec.models = {fixture / model};
                              spec.method = method;
                              (model == "sequences" ? spec.sequences : spec.regions) =
                                  fixture / (model == "sequences" ? "records.fa" : "site.bed");
                              if (model != "sequences") spec.references = {fixture / "genome.fa"};
                              attribute(spec);
                          }) < fp32_tolerance);
        }
    }
}

DOCTEST_TEST_CASE("embed: the CPU's vectors, of every pooling") {
    const Fixture fixture;
    for (const auto pooling :
         {tasks::EmbedPooling::mean, tasks::EmbedPooling::cls, tasks::EmbedPooling::token}) {
        for (const std::string dtype : {"fp32", "bf16"}) {
            DOCTEST_CHECK(apart_by_device(
                              fixture,
                              [&](const std::string& device, const fs::path& output) {
                                  tasks::EmbedSpec spec;
                                  set_common(spec, device, dtype, output);
                                  spec.model = fixture / "pretrained";
                                  spec.regions = fixture / "rows.bed";
                                  spec.references = {fixture / "genome.fa"};
                                  spec.window = 400;
                                  spec.pooling = pooling;
                                  embed(spec);
                              }) < (dtype == "fp32" ? fp32_tolerance : 4 * bf16_tolerance));
        }
    }
}
