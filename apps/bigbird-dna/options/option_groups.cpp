// SPDX-License-Identifier: Apache-2.0
#include "options/option_groups.hpp"

#include "support/help_formatter.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parse_number.hpp"

#include <cstdio>
#include <ostream>

namespace bigbird::cli {

CLI::Option* option_of(CLI::App& command, const std::string& name) {
    const std::vector<CLI::Option*> found =
        command.get_options([&](const CLI::Option* option) { return option->check_name(name); });
    BIGBIRD_EXPECTS(!found.empty(), "no option " + name);
    return found.front();
}

bool is_given(CLI::App& command, const std::string& name) {
    return option_of(command, name)->count() > 0;
}

void require_given(CLI::App& command, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (!is_given(command, name)) throw CLI::RequiredError(name);
}

CLI::Option* add_parsed(CLI::App& command, const std::string& name, const std::string& type,
                        std::function<void(const std::string&)> parse, const std::string& what,
                        const std::string& initial) {
    return command.add_option_function<std::string>(name, parse, what)->type_name(type)->default_str(initial);
}

CLI::Option* add_regions_option(CLI::App& command, const std::string& name, std::filesystem::path& regions,
                                const std::string& what) {
    return command
        .add_option_function<std::vector<std::string>>(
            name,
            [&regions](const std::vector<std::string>& given) { regions = CLI::detail::join(given, " "); },
            what + ". Or contigs and regions, as in samtools: 22:21,000,001-22,000,000")
        ->type_name("BED|REGION");
}

void OutputOptions::write(const std::string& text) const {
    if (output == "-")
        std::fwrite(text.data(), 1, text.size(), stdout);
    else
        write_atomically(
            output, overwrite, [&](std::ostream& out) { out << text; });
}

void OutputOptions::make_folder(const std::function<void(const std::filesystem::path&)>& body) const {
    PendingOutput folder(output, overwrite, PendingOutput::Kind::folder);
    body(folder.path());
    folder.commit();
}

void add_force_option(CLI::App& command, Overwrite& overwrite) {
    command.add_flag_callback(
        force_option, [&overwrite] { overwrite = Overwrite::allow; });
}

void add_output_options(CLI::App& command, OutputOptions& options, const std::string& what) {
    add_value(command, "-o,--output", "PATH", options.output, what)->required()->group("Output");
    add_force_option(command, options.overwrite);
}

void add_stream_output_options(CLI::App& command, OutputOptions& options, const std::string& what) {
    options.output = "-";
    add_value(command, "-o,--output", "PATH|-", options.output, what)->group("Output");
    add_force_option(command, options.overwrite);
}

bool parse_range(const std::string& text, std::int64_t& low, std::int64_t& high) {
    const std::size_t colon = text.find(':');
    const auto first = parse_number<std::int64_t>(text.substr(0, colon));
    const auto second =
        colon == std::string::npos ? std::nullopt : parse_number<std::int64_t>(text.substr(colon + 1));
    if (first && second) {
        low = *first;
        high = *second;
    }
    return first && second;
}

CLI::Option* add_reference_option(CLI::App& command, std::vector<std::filesystem::path>& references,
                                  bool required) {
    return add_value(command, "-r,--reference", "FASTA", references,
                     "Reference genome: FASTA, plain, bgzip or gzip. Several files form one genome; "
                     "NAME=FASTA names its contigs NAME#contig")
        ->required(required);
}

CLI::Option* add_model_option(CLI::App& command, std::filesystem::path& model) {
    return add_value(command, "-m,--model", "DIR", model,
                     "Model folder or run, or a supported Hugging Face folder (docs/published-encoders.md)")
        ->required();
}

namespace {

/// Accepts only unsigned 64-bit integers: the parser would drop a sign or cut a larger number.
std::string check_seed(const std::string& word) {
    return parse_number<std::uint64_t>(word) ? std::string()
                                             : "'" + word + "' is not a whole number from 0 to 2^64 - 1";
}

void add_threads_option(CLI::App& command, int& threads, int (*count)(int)) {
    threads = count(0);
    command
        .add_option_function<int>(threads_option, [&threads, count](int given) { threads = count(given); })
        ->check(CLI::NonNegativeNumber)
        ->check(CLI::Range(0, most_threads))
        ->type_name("N");
}

}  // namespace

void add_threads_option(CLI::App& command, int& threads) {
    add_threads_option(
        command, threads, [](int given) { return given; });
}

void add_own_threads_option(CLI::App& command, int& threads) {
    add_threads_option(command, threads, resolve_threads);
}

void add_seed_option(CLI::App& command, std::uint64_t& seed) {
    add_value(command, "--seed", "N", seed, "Random seed; equal inputs and seeds give identical output",
              CLI::Validator(check_seed, "", "seed"));
}

std::vector<CLI::Option*> add_bin_region_options(CLI::App& command, std::vector<std::string>& include,
                                                 std::vector<std::string>& exclude) {
    const auto add = [&](const char* name, std::vector<std::string>& values, const std::string& what) {
        return add_value(command, name, "REGION", values,
                         what + " contigs, regions (22:21000001-22000000) or BED files");
    };
    return {add("--include", include, "Keep only bins completely inside these"),
            add("--exclude", exclude, "Leave out bins that overlap these")};
}

std::vector<CLI::Option*> add_read_options(CLI::App& command, examples::SignalReading& reading) {
    constexpr int highest_quality = 255;
    const auto set_shift = [&reading](const std::string& text) {
        if (!reading.parse_shift(text))
            throw ConfigError("--shift takes two numbers of bases, such as 4,-4, not '" + text + "'");
    };
    CLI::Option* assay =
        add_choice_option(command, "--assay", reading.assay, examples::assays,
                          "Assay of the reads or fragments. atac, dnase: count cut sites of Tn5 or DNase I, "
                          "after an automatically detected shift; chip: count 5' ends, one track per strand; "
                          "coverage: count every covered base; none: count as --count says");
    CLI::Option* count =
        add_choice_option(
            command, "--count", reading.counted, examples::counted_choices,
            "Without --assay. ends: count only the 5' ends; fragments: count every covered base")
            ->excludes(assay);
    CLI::Option* shift = add_parsed(command, "--shift", "BP,BP", set_shift,
                                    "Shift of a fragment's first and last base, in bases. For Tn5: 4,-4 for "
                                    "ends as aligned, 0,1 for ends that are already shifted by 4,-5",
                                    "detected for atac and dnase, else 0,0");
    CLI::Option* quality =
        add_value(command, "--min-mapq", "N", reading.filter.min_mapq,
                  "Lowest mapping quality of reads that count (BAM, CRAM)", CLI::Range(0, highest_quality));
    CLI::Option* duplicates = command.add_flag("--keep-duplicates", reading.filter.keep_duplicates,
                                               "Count reads that are marked as duplicates (BAM, CRAM)");
    return {assay, count, shift, quality, duplicates};
}

CLI::Option* add_negatives_option(CLI::App& command, std::optional<examples::Negatives>& negatives,
                                  const std::string& what) {
    return add_parsed(
        command, "--negatives", "RATIO",
        [&negatives](const std::string& text) { negatives = examples::parse_negatives(text); }, what);
}

void add_hold_out_options(CLI::App& command, std::vector<std::string>& validation,
                          std::vector<std::string>& test, const std::string& by) {
    const auto add = [&](const char* name, std::vector<std::string>& values, const std::string& what) {
        add_value(command, name, "REGION", values,
                  what +
                      ": contigs, regions (22:21000001-22000000), BED files or FILE:FOLD (FILE's rows named "
                      "FOLD); " +
                      by)
            ->group("Hold-out");
    };
    add("--validation", validation, "Sequence to hold out for validation during training");
    add("--test", test, "Sequence to hold out for evaluation");
}

void add_shard_option(CLI::App& command, std::optional<Shard>& shard, const std::string& what) {
    add_parsed(
        command, "--shard", "I/N", [&shard](const std::string& text) { shard = parse_shard(text); },
        "Process only part I of N of the " + what + ", for jobs on several machines; merge joins the parts")
        ->group("Output");
}

CLI::Option* add_choice_option(CLI::App& command, const std::string& name, std::string& value,
                               const std::vector<std::string>& words, const std::string& what) {
    return add_value(command, name, CLI::detail::join(words, "|"), value, what,
                     CLI::IsMember(words).description(""));
}

CLI::Option* add_attention_option(CLI::App& command, std::string& attention) {
    return add_choice_option(
        command, "--attention", attention, {"automatic", "reference", "blocked", "fused", "fused-hopper"},
        "Implementation of attention. automatic: the fastest on this machine; reference: dense, slow; "
        "blocked: LibTorch's operations; fused, fused-hopper: the project's own kernels, on GPUs");
}

void add_device_option(CLI::App& command, std::string& device) {
    add_value(command, "--device", "auto|cpu|cuda|cuda:N", device,
              "Device for networks; auto: a GPU if available")
        ->group("Resources");
}

CLI::Option* add_score_outputs(CLI::App& command, outputs::OutputSpec& outputs, const std::string& what) {
    std::string formats = ".tsv, .csv (each also .gz)";
    if (what == "Scores") {
        add_value(command, "--min-score", "SCORE", outputs.min_score,
                  outputs.variants ? "Omit labels from .long.tsv outputs whose absolute log_odds "
                                     "(difference, if --write has no log_odds) is below this value"
                                   : "Omit scores below this value from .long.tsv outputs")
            ->group("Output");
        formats += ", .long.tsv";
    }
    formats += ", .npy, .h5";
    if (outputs.variants) formats += ", .vcf, .vcf.gz, .bcf (the input's records with effects in INFO)";
    if (outputs.tracks) formats += ", .bedgraph, .bw ({label} in the name: a file per label)";
    CLI::Option* const output = add_value(command, "-o,--output", "FILE", outputs.paths,
                                          what + "; the file name's ending sets the format: " + formats +
                                              (outputs.variants ? "; - for standard output (see --format)"
                                                                : "; - for a table on standard output") +
                                              ". Several outputs can be given")
                                    ->group("Output");
    add_force_option(command, outputs.overwrite);
    return output;
}

void add_letter_inputs(CLI::App& command, tasks::LetterSpec& spec, const std::string& models,
                       const std::string& done) {
    add_value(command, "-m,--model", "DIR", spec.models,
              models + "; given several times, the mean of the models' scores")
        ->required();
    add_component_option(command, spec);
    add_reference_option(command, spec.references, false);
    add_regions_option(command, "--regions", spec.regions,
                       "BED whose bases are " + done + ", or '-' for standard input");
    add_value(command, "--sequences", "FILE", spec.sequences,
              "FASTA or table whose records are " + done + ", or '-' for standard input");
    add_labels_option(command, spec.labels);
}

void add_letter_outputs(CLI::App& command, tasks::LetterSpec& spec, const std::string& what) {
    add_choice_option(command, "--reverse-complement", spec.strands, tasks::strand_choices,
                      "Chromatin models. average: the mean of both strands' scores; none: score only the "
                      "given strand; only: score only its reverse complement");
    add_value(command, "-o,--output", "FILE", spec.outputs.paths,
              what +
                  "; the file name's ending sets the format: .tsv, .csv (each also .gz), .npy, .h5 or .npz "
                  "(as TF-MoDISco reads them), .bedgraph, .bw ({label} in the name: a file per label); - for "
                  "a table on standard output. Several outputs can be given")
        ->required()
        ->group("Output");
    add_force_option(command, spec.outputs.overwrite);
}

void add_labels_option(CLI::App& command, std::string& labels) {
    add_value(command, "--labels", "SELECTION", labels,
              "Labels to write: indices (such as 0-24), groups, names or patterns (*CTCF*), separated by "
              "commas; default: all");
}

void add_component_option(CLI::App& command, tasks::ComputeSpec& compute) {
    std::vector<std::string> words;
    for (const auto& choice : networks::component_words)
        words.emplace_back(choice.word);
    command
        .add_option_function<std::string>(
            "--component",
            [&compute](const std::string& word) {
                compute.component = parse_choice(networks::component_words, "--component", word);
            },
            "Part of a ChromBPNet model to use. nobias: without the enzyme's bias; bias: only the bias; "
            "joined: both, as in measured reads. Default: nobias, if the file has it")
        ->check(CLI::IsMember(words).description(""))
        ->type_name(CLI::detail::join(words, "|"));
}

void add_compute_options(CLI::App& command, tasks::ComputeSpec& compute) {
    add_device_option(command, compute.device);
    add_threads_option(command, compute.threads);
    add_choice_option(
        command, "--dtype", compute.dtype, {"auto", "fp32", "bf16"},
        "Number format of the encoder; auto: fp32 on a CPU and for scores of bin models, else bf16")
        ->group("Resources");
}

}  // namespace bigbird::cli
