// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/core/system/free_memory.hpp"
#include "bigbird/core/system/processor.hpp"
#include "bigbird/core/system/program_file.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"
#include "bigbird/model/files/describe.hpp"
#include "bigbird/model/gpu/gpu_facts.hpp"
#include "bigbird/networks/files/profile_folder.hpp"
#include "bigbird/rows/deepsea_labels.hpp"
#include "bigbird/tasks/files/task_files.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

namespace bigbird::cli {
namespace fs = std::filesystem;

namespace {

Json describe_corpus(const InfoOptions& options) {
    const corpus::TokenShards shards(options.path);
    if (options.verify) shards.verify(options.threads);
    return corpus::describe(shards, options.verify);
}

/// A run's model is in its model/.
fs::path with_model(const fs::path& path, const char* file) {
    return !is_there(path / file) && is_there(path / "model" / file) ? path / "model" : path;
}

std::string labels_text(const fs::path& path) {
    if (path == "deepsea") return rows::label_listing(rows::deepsea_labels());
    std::error_code ignored;
    const fs::path file =
        fs::is_directory(path, ignored) ? with_model(path, "labels.tsv") / "labels.tsv" : path;
    return rows::label_listing(rows::LabelTable::read(file));
}

/// The labels of a task model.
std::optional<rows::LabelTable> labels_of(const fs::path& model) {
    if (!is_there(model / "config.json") || !is_there(model / "labels.tsv")) return std::nullopt;
    return rows::LabelTable::read(model / "labels.tsv");
}

Json to_json(const rows::LabelTable& labels) {
    Json json = Json::array();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        Json label{{"index", i}, {"group", labels[i].group}, {"name", labels[i].name}};
        if (labels[i].positives >= 0) label["positives"] = labels[i].positives;
        json.push_back(std::move(label));
    }
    return json;
}

/// How many labels, then a line per label: its name, and its positive examples where they are known.
std::string short_listing(const rows::LabelTable& labels) {
    std::string text = counted(labels.size(), "label") + ":\n";
    for (std::size_t i = 0; i < labels.size(); ++i) {
        text += "  " + std::to_string(i) + "  " + labels[i].name;
        if (labels[i].positives >= 0) text += "  (" + counted(labels[i].positives, "positive") + ")";
        text += "\n";
    }
    return text + "\n";
}

/// Whether a path is a file that is read as a published network.
bool is_network_file(const fs::path& path) {
    const std::string ending = path.extension().string();
    return networks::is_model_file(path) && ending != ".safetensors" && ending != ".model" &&
           ending != ".json";
}

/// The description of a model folder, with what its numbers mean if a published network was converted to it.
Json describe_folder(const fs::path& folder) {
    const fs::path adapter = folder / "adapter_config.json";
    if (is_there(adapter) && !is_there(folder / "config.json")) return read_json(adapter);
    Json description = model::describe(folder);
    const Json task = is_there(folder / "config.json") ? tasks::task_description(folder) : Json();
    if (!task.is_object() || task.value("architecture", Json()) != networks::profile_architecture)
        return description;
    Json whole = networks::describe(networks::profile_model_from(task, folder / "config.json"));
    if (description.contains("weights")) whole["weights"] = description["weights"];
    return whole;
}

Json describe_path(const InfoOptions& options, const fs::path& model) {
    if (corpus::is_token_corpus(options.path)) return describe_corpus(options);
    if (is_network_file(options.path)) return networks::describe(networks::read_profile_model(options.path));
    return fs::is_directory(model) ? describe_folder(model) : model::describe(model);
}

/// info FILE --output FOLDER
void convert_network(const InfoOptions& options) {
    if (!is_network_file(options.path))
        throw ConfigError("--output makes a model folder of a published network's file, which " +
                          options.path.string() + " is not");
    const networks::ProfileModel model = networks::read_profile_model(options.path);
    options.output.make_folder(
        [&](const fs::path& folder) { networks::write_profile_folder(model, folder); });
}

std::string description_text(const InfoOptions& options) {
    const bool has_no_weights = corpus::is_token_corpus(options.path) || is_network_file(options.path);
    const fs::path model = with_model(options.path, "config.json");
    Json description = describe_path(options, model);
    if (options.verify && !has_no_weights) {
        description["check"] = model::check_weights(model);
        if (fs::is_directory(model)) tasks::check_task_files(model);
    }
    const std::optional<rows::LabelTable> labels = labels_of(model);
    if (labels) description["label_table"] = to_json(*labels);
    if (options.json) return description.dump(2) + "\n";
    description.erase("label_table");
    return (labels ? short_listing(*labels) : "") + model::description_text(description);
}

// ---- info --program

std::string part_line(const ProgramPart& part) {
    return Json{{"part", part.part}, {"usable", part.usable}, {"details", part.details}}.dump(
               -1, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

using Parts = std::vector<ProgramPart>;

constexpr std::chrono::seconds driver_patience{30}, tensors_patience{120};
constexpr double gigabyte = 1e9;

// ---- this machine

std::string first_line(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

/// "Debian GNU/Linux 12 (bookworm)"
std::string distribution() {
    std::ifstream in("/etc/os-release");
    constexpr std::string_view key = "PRETTY_NAME=";
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(key)) {
            std::erase(line, '"');
            return line.substr(key.size());
        }
    }
    return "an unknown system";
}

/// The fastest kernel first, which --attention fused uses.
ProgramPart kernels_part(const char* type, bool bf16) {
    std::string names;
    for (const attention::FusedKernel* kernel : attention::fused_kernels(bf16))
        names += (names.empty() ? "" : ", else ") + kernel->name();
    const std::string part = std::string("attention, ") + type;
    return names.empty()
               ? ProgramPart{part, false,
                             "no kernel of ours without AVX2 and FMA: LibTorch's operations compute"}
               : ProgramPart{part, true, names};
}

ProgramPart memory_part() {
    const double all =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    const double left = free_memory();
    return {"memory", true,
            fmt::format("{} of {:.1f} GB free",
                        std::isfinite(left) ? fmt::format("{:.1f}", left / gigabyte)
                                            : std::string("an unknown share"),
                        all / gigabyte)};
}

/// The environment variables in effect that change what the program uses.
ProgramPart environment_part() {
    std::string text;
    for (const char* name :
         {"BIGBIRD_CPU", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
          "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF", "NCCL_SOCKET_IFNAME",
          "GLOO_SOCKET_IFNAME", "LD_LIBRARY_PATH", "LD_PRELOAD"})
        if (const char* value = std::getenv(name); value != nullptr)
            text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    return {"environment", true, text.empty() ? "nothing set that changes what is used" : text};
}

Parts machine_parts() {
    utsname names{};
    ::uname(&names);
    const std::string features = processor_features();
    const InstructionSet has = processor_instruction_set(), uses = instruction_set();
    return {
        {"program", true,
         fmt::format("bigbird-dna {} in {}", version(), program_file(tensor_program).parent_path().string())},
        {"system", true,
         fmt::format("{}, {} {} {}", distribution(), names.sysname, names.release, names.machine)},
        {"processor", true, processor_name()},
        {"features", true, features.empty() ? "none that a kernel here looks at" : features},
        {"instruction set", true,
         has == uses ? std::string(name_of(uses))
                     : fmt::format("{}, as {} asks, of {}", name_of(uses), processor_variable, name_of(has))},
        kernels_part("fp32", false),
        kernels_part("bf16", true),
        {"cores", true,
         fmt::format("{} of {} for this process", resolve_threads(0), std::thread::hardware_concurrency())},
        memory_part(),
        environment_part()};
}

// ---- the driver

ProgramPart driver_part(const model::DriverFacts& driver) {
    const std::string number = first_line("/sys/module/nvidia/version");
    if (!driver.load_error.empty())
        return {"NVIDIA driver", false, driver.is_missing ? "libcuda.so.1 is not found" : driver.load_error};
    const std::string text =
        (number.empty() ? "" : number + ", ") + "serves CUDA " + model::cuda_version_text(driver.version);
    return driver.start_error == 0
               ? ProgramPart{"NVIDIA driver", true, text}
               : ProgramPart{"NVIDIA driver", false,
                             fmt::format("{}, but does not start: {} (CUDA error {})", text,
                                         driver.start_error_text, driver.start_error)};
}

ProgramPart gpu_part(const model::Gpu& gpu, std::size_t index) {
    const std::string kernels = model::has_hopper_kernels(gpu)  ? "fused, fused-hopper"
                                : model::has_fused_kernels(gpu) ? "fused"
                                                                : "none (compute capability 8.0 is needed)";
    return {fmt::format("GPU cuda:{}", index), true,
            fmt::format("{}, {:.1f} GB; own kernels that serve it: {}", model::gpu_text(gpu),
                        static_cast<double>(gpu.memory_bytes) / gigabyte, kernels)};
}

int print_driver_parts() {
    const model::DriverFacts driver = model::ask_cuda_driver();
    print_part(driver_part(driver));
    for (std::size_t i = 0; i < driver.gpus.size(); ++i)
        print_part(gpu_part(driver.gpus[i], i));
    if (driver.gpus.empty()) print_part({"GPUs", false, "none is shown"});
    return 0;
}

/// The rows that a child printed as lines of part_line(), other lines aside, and, if it failed, a row that
/// names the failure.
Parts parts_of_child(const ChildResult& result, const std::string& part, const std::string& who) {
    Parts parts;
    std::istringstream in(result.out);
    for (std::string line; std::getline(in, line);) {
        const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
        if (json.is_object() && json.contains("part"))
            parts.push_back({json["part"], json["usable"], json["details"]});
    }
    if (!result.succeeded()) parts.push_back({part, false, who + ": " + result.failure()});
    return parts;
}

/// For people: columns.
std::string parts_text(const Parts& parts) {
    std::size_t width = 0;
    for (const ProgramPart& part : parts)
        width = std::max(width, part.part.size());
    std::string text = fmt::format("{:{}}  usable  details\n", "part", width);
    for (const ProgramPart& part : parts)
        text += fmt::format("{:{}}  {:6}  {}\n", part.part, width, part.usable ? "yes" : "no", part.details);
    return text;
}

/// The driver and LibTorch are queried in separate processes, because they may crash or hang.
int run_info_program(const InfoOptions& options) {
    const std::string tensors = program_file(tensor_program).string();
    const ChildResult driver = run_child(print_driver_parts, driver_patience),
                      libtorch = run_child(tensors, {"bigbird-dna", "info", "--program"}, tensors_patience);
    Parts parts = machine_parts();
    for (const Parts& more : {parts_of_child(driver, "NVIDIA driver", "asking libcuda.so.1"),
                              parts_of_child(libtorch, "LibTorch", "bigbird-dna-tensors")})
        parts.insert(parts.end(), more.begin(), more.end());
    if (!options.json) {
        std::fputs(parts_text(parts).c_str(), stdout);
        return 0;
    }
    Json list = Json::array();
    for (const ProgramPart& part : parts)
        list.push_back(Json::parse(part_line(part)));
    std::fputs((Json{{"program", list}}.dump(2) + "\n").c_str(), stdout);
    return 0;
}

}  // namespace

void setup_info(Program& program, Runner<InfoOptions> run) {
    const auto [command, options] = program.add<InfoOptions>(
        "info", "Files",
        "Describe a model, token shards, a tokenizer, or this machine.\nA model is a model directory, a run "
        "folder, a safetensors file, or a published network (.h5 of ChromBPNet or BPNet, .torch of "
        "bpnet-lite or Cherimoya). --program describes what this program can use.",
        "",
        {{"Describe a model", "pretrained/model"},
         {"Describe a published network, and make a model folder of it",
          "../test_data/models/profiles/chrombpnet.h5 --output nobias-and-bias"},
         {"What the program can use on this machine", "--program"}},
        std::move(run));
    add_value(command, "path", "PATH", options.path,
              "Model directory or run folder, folder of token shards, .h5, .torch, .model or .safetensors "
              "file; with --labels an example folder, a labels.tsv, or the word deepsea");
    add_own_threads_option(command, options.threads);
    add_value(command, "-o,--output", "DIR", options.output.output,
              "Convert the file of a published network to a model folder (safetensors)");
    add_force_option(command, options.output.overwrite);
    command.add_flag("--json", options.json, "Print JSON");
    command.add_flag("--labels", options.labels,
                     "Print the labels that a --labels option can select; with PATH deepsea: DeepSEA's 919");
    command.add_flag(
        "--program", options.program,
        "Print what the program can use here: processor, LibTorch, GPUs, CUDA libraries; for bug reports");
    command.add_flag("--check,--verify", options.verify,
                     "Read everything: weights must be finite, a task model's labels and calibration must "
                     "fit it, token shards must have their checksums");
}

void print_part(const ProgramPart& part) {
    std::fputs(part_line(part).c_str(), stdout);
    std::fflush(stdout);
}

int run(const InfoOptions& options) {
    if (options.program != options.path.empty())
        throw ConfigError("info takes a PATH or --program; see 'bigbird-dna info --help'");
    if (options.program) return run_info_program(options);
    if (!options.output.output.empty()) convert_network(options);
    const std::string text = options.labels ? labels_text(options.path) : description_text(options);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace bigbird::cli
