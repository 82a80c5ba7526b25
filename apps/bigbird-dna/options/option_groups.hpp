// SPDX-License-Identifier: Apache-2.0
// Options that mean the same in every command, declared once.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/examples/build/gc_negatives.hpp"
#include "bigbird/examples/build/signals/read_signal.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::cli {

/// The command's option of this name. CLI11's get_option() is noexcept and allocates, so it would end the
/// program if memory is short.
CLI::Option* option_of(CLI::App& command, const std::string& name);

/// While it lives, new options of the command belong to this group of its help.
class HelpGroup {
public:
    HelpGroup(CLI::App& command, const std::string& group)
        : defaults_(*command.option_defaults()), before_(defaults_.get_group()) {
        defaults_.group(group);
    }
    ~HelpGroup() { defaults_.group(before_); }
    HelpGroup(const HelpGroup&) = delete;
    HelpGroup& operator=(const HelpGroup&) = delete;

private:
    CLI::OptionDefaults& defaults_;
    std::string before_;
};

/// Adds an option with a value, which the help calls `type`. With `check`, other values are refused.
template <typename Value>
CLI::Option* add_value(CLI::App& command, const std::string& name, const std::string& type, Value& value,
                       const std::string& what) {
    return command.add_option(name, value, what)->type_name(type);
}
template <typename Value, typename Check>
CLI::Option* add_value(CLI::App& command, const std::string& name, const std::string& type, Value& value,
                       const std::string& what, const Check& check) {
    return add_value(command, name, type, value, what)->check(check);
}

/// Adds an option whose text `parse` reads; `initial` is the default that the help shows.
CLI::Option* add_parsed(CLI::App& command, const std::string& name, const std::string& type,
                        std::function<void(const std::string&)> parse, const std::string& what,
                        const std::string& initial = {});

/// An option for a BED file or regions as samtools writes them, several of which become one text with blanks.
CLI::Option* add_regions_option(CLI::App& command, const std::string& name, std::filesystem::path& regions,
                                const std::string& what);

/// Whether the command line has this option of the command.
bool is_given(CLI::App& command, const std::string& name);

/// Throws CLI::RequiredError for the first of these options that is not given.
void require_given(CLI::App& command, std::initializer_list<const char*> names);

struct OutputOptions {
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::refuse;
    /// Writes `text` to standard output if --output is "-", else to the file, atomically.
    void write(const std::string& text) const;
    /// Makes the folder --output through `body`, which gets the path that it has until it is complete.
    void make_folder(const std::function<void(const std::filesystem::path&)>& body) const;
};
/// --force, an option of every command.
void add_force_option(CLI::App& command, Overwrite& overwrite);
/// --output (required, `what` describes it) and --force.
void add_output_options(CLI::App& command, OutputOptions& options, const std::string& what);

/// --output, "-" (standard output) by default, and --force.
void add_stream_output_options(CLI::App& command, OutputOptions& options, const std::string& what);

/// Parses "LOW:HIGH", two integers; returns false, and sets nothing, for any other text.
bool parse_range(const std::string& text, std::int64_t& low, std::int64_t& high);

/// --reference FASTA... (at least one where required).
CLI::Option* add_reference_option(CLI::App& command, std::vector<std::filesystem::path>& references,
                                  bool required = true);

/// --model DIR, required.
CLI::Option* add_model_option(CLI::App& command, std::filesystem::path& model);

/// Descriptions of --skip-invalid, for commands that make examples and for those that score rows.
inline constexpr const char* skips_mismatches =
    "Skip rows that do not match the reference, however many (by default, more than 20 % such rows are an "
    "error)";
inline constexpr const char* marks_invalid =
    "Mark rows that are not on the reference and continue, instead of stopping with an error";

/// --threads, an option of every command; 0 = all available.
void add_threads_option(CLI::App& command, int& threads);
/// The same, where `threads` becomes their number.
void add_own_threads_option(CLI::App& command, int& threads);

/// --shard I/N: one part of the job, for merge; `what` names the items that are divided.
void add_shard_option(CLI::App& command, std::optional<Shard>& shard, const std::string& what);

/// --seed.
void add_seed_option(CLI::App& command, std::uint64_t& seed);

/// --include and --exclude of bins.
std::vector<CLI::Option*> add_bin_region_options(CLI::App& command, std::vector<std::string>& include,
                                                 std::vector<std::string>& exclude);

/// --assay, --shift, --count, --min-mapq and --keep-duplicates of fragments and reads.
std::vector<CLI::Option*> add_read_options(CLI::App& command, examples::SignalReading& reading);

/// --negatives RATIO or gc:RATIO.
CLI::Option* add_negatives_option(CLI::App& command, std::optional<examples::Negatives>& negatives,
                                  const std::string& what);

/// --validation and --test: contigs, regions or BED files held out of training; `by` says which part of a row
/// decides.
void add_hold_out_options(CLI::App& command, std::vector<std::string>& validation,
                          std::vector<std::string>& test, const std::string& by);

/// Adds an option that takes one of `words`, which the help shows as its type.
CLI::Option* add_choice_option(CLI::App& command, const std::string& name, std::string& value,
                               const std::vector<std::string>& words, const std::string& what);

/// Adds an option of an enumeration; the default is the current value of `value`.
template <typename Enum, std::size_t N>
CLI::Option* add_choice_option(CLI::App& command, const std::string& name, Enum& value,
                               const Choices<Enum, N>& choices, const std::string& what) {
    std::vector<std::string> words;
    for (const Choice<Enum>& choice : choices)
        words.emplace_back(choice.word);
    return command
        .add_option_function<std::string>(
            name,
            [&value, choices, name](const std::string& word) { value = parse_choice(choices, name, word); },
            what)
        ->check(CLI::IsMember(words).description(""))
        ->type_name(CLI::detail::join(words, "|"))
        ->default_str(std::string(word_of(choices, value)));
}

/// --attention, the implementation of attention.
CLI::Option* add_attention_option(CLI::App& command, std::string& attention);

/// --device auto|cpu|cuda|cuda:N.
void add_device_option(CLI::App& command, std::string& device);

/// --output, several times, which it returns, and --force. `what`: the content of the outputs;
/// scores also have --min-score.
CLI::Option* add_score_outputs(CLI::App& command, outputs::OutputSpec& outputs,
                               const std::string& what = "Scores");

/// --model (`models` describes it), --reference, --regions, --sequences and --labels of commands that score
/// letters, which are `done`, such as "changed".
void add_letter_inputs(CLI::App& command, tasks::LetterSpec& spec, const std::string& models,
                       const std::string& done);
/// --reverse-complement, --output, several times, and --force of these commands.
void add_letter_outputs(CLI::App& command, tasks::LetterSpec& spec, const std::string& what);

/// --labels, a selection of a model's labels (rows::LabelTable::select).
void add_labels_option(CLI::App& command, std::string& labels);

/// --component, of models of ChromBPNet.
void add_component_option(CLI::App& command, tasks::ComputeSpec& compute);

/// --device, --threads and --dtype.
void add_compute_options(CLI::App& command, tasks::ComputeSpec& compute);

}  // namespace bigbird::cli
