// SPDX-License-Identifier: Apache-2.0
#include "support/program.hpp"

#include "support/arguments.hpp"
#include "support/help_formatter.hpp"
#include "support/options_file.hpp"
#include "support/tasks.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/system/fork_server.hpp"
#include "bigbird/core/system/free_memory.hpp"
#include "bigbird/core/system/processor.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace bigbird::cli {

namespace {

constexpr const char* about =
    "Models of DNA from your own peaks, coverage or sequences: tracks, variant effects, motifs.\n"
    "Pretrains BigBird (Zaheer et al., Big Bird: Transformers for Longer Sequences, NeurIPS 2020).";

/// The text of bigbird-dna without a command.
constexpr const char* short_road =
    R"(bigbird-dna: models of DNA from your own peaks, coverage or sequences; tracks, variant effects and motifs

Train a model on your own peaks:
  bigbird-dna train --peaks peaks.bed --reference genome.fa --output my-peaks
Score the rows of a BED, with a model that is there:
  bigbird-dna predict --model MODEL --reference genome.fa --regions regions.bed --output scores.tsv
Pretrain a network on a genome:
  bigbird-dna build-documents --reference genome.fa --output documents.txt.gz
  bigbird-dna train-tokenizer --documents documents.txt.gz --vocab-size 256 --output tokenizer.model
  bigbird-dna pretrain --documents documents.txt.gz --tokenizer tokenizer.model --output pretrained

All commands: bigbird-dna --help. One of them, with examples: bigbird-dna COMMAND --help
)";

int exit_code(ExitCode code) {
    return static_cast<int>(code);
}

/// Removes validators' descriptions from the help; the options' own texts say more.
void clear_validator_texts(CLI::Option& option) {
    try {
        for (int i = 0;; ++i)
            option.get_validator(i)->description("");
    } catch (const CLI::OptionNotFound&) {  // after the last option
    }
}

/// Checks how a number is written: no leading zeros, which would make it octal; no NaN, which ranges do not
/// exclude; and no number so large that 64-bit sums could overflow. Does not change names and paths.
std::string write_number(std::string& word) {
    constexpr std::size_t most_digits = 15;
    const std::size_t sign = word.starts_with('-') || word.starts_with('+') ? 1 : 0;
    const std::string small = lower_case(word.substr(sign));
    if (small.starts_with("nan")) return "'" + word + "' is not a number";
    const bool is_integer = !small.empty() && small.find_first_not_of("0123456789") == std::string::npos;
    if (!is_integer) return {};
    const std::size_t first = std::min(small.find_first_not_of('0'), small.size() - 1);
    if (small.size() - first > most_digits) return word + " is too large";
    word = word.substr(0, sign) + small.substr(first);
    return {};
}

void check_numbers(CLI::Option& option) {
    constexpr std::array number_types{
        "B1 B2",           "BP",    "EPSILON", "HOURS", "N", "P", "RATE", "RATIO", "SCORE|auto|f1|mcc",
        "WEIGHT|balanced", "SCORE", "SHARE",   "WEIGHT"};
    const bool is_number = std::ranges::find(number_types, option.get_type_name()) != number_types.end();
    if (is_number && option.get_name() != "--seed")
        option.transform(CLI::Validator(write_number, "", "number"));
}

/// YAML reads on, off, yes and no as true and false; converts them back for options with these words.
void take_truths(CLI::Option& option) {
    const std::vector<std::string> words = CLI::detail::split(option.get_type_name(), '|');
    const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    const bool on = has("on") && has("off");
    if (!on && !(has("yes") && has("no"))) return;
    const auto to_word = [on](std::string& word) {
        if (const auto truth = truth_of(word)) word = *truth ? (on ? "on" : "yes") : (on ? "off" : "no");
        return std::string();
    };
    option.transform(CLI::Validator(to_word, "", "truth"));
}

/// The number of words after the program's name that are options of every command, with their values.
std::size_t count_shared(const std::vector<std::string>& words) {
    std::size_t at = 1;
    constexpr std::array flags{"-q", "--quiet", "-v", "--verbose", "-f", "--force"};
    constexpr std::array with_value{options_file_option, "-t", "--threads"};
    const auto is_one_of = [&](const auto& names) {
        return std::ranges::find(names, words[at]) != names.end();
    };
    while (at < words.size() && (is_one_of(flags) || is_one_of(with_value) ||
                                 words[at].starts_with("--options=") || words[at].starts_with("--threads=")))
        at += is_one_of(with_value) ? 2U : 1U;
    return std::min(at, words.size()) - 1;
}

/// Moves options of every command that precede the command to the end, where the command reads them, and
/// joins "motifs scan" to "motifs-scan", if there is such a command.
std::vector<std::string> command_first(std::vector<std::string> words, const CLI::App& app) {
    const auto command = words.begin() + 1 + static_cast<std::ptrdiff_t>(count_shared(words));
    if (command != words.end() && !command->starts_with('-'))
        std::rotate(words.begin() + 1, command, words.end());
    constexpr std::size_t second = 2;
    if (words.size() <= second) return words;
    const std::string name = words[1] + "-" + words[second];
    const std::vector<std::string> names = command_names(app);
    if (std::ranges::find(names, name) == names.end()) return words;
    words[1] = name;
    words.erase(words.begin() + second);
    return words;
}

constexpr const char* out_of_memory =
    "out of memory; use fewer --threads, a smaller --batch-size or shorter sequences";

/// The sentence for a file operation that the system refused.
std::optional<std::string> system_failure(const std::exception& error) {
    const auto* failed = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
    if (failed != nullptr) return fmt::format("{}: {}", failed->path1().string(), failed->code().message());
    const auto* system = dynamic_cast<const std::system_error*>(
        &error);  // for example when no descriptor or process can be created
    return system == nullptr ? std::nullopt
                             : std::optional(fmt::format("the system gave out: {}", error.what()));
}

/// Rewrites "--option: Value TEXT ...", where TEXT is not in a range without an upper end.
std::string what_is_wrong_with(const std::string& named) {
    constexpr std::string_view before = "Value ";
    const std::size_t at = named.find(before);
    const std::string text = at == std::string::npos ? named : named.substr(at + before.size());
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || std::isnan(value)) return " is not a number";
    return value > std::numeric_limits<double>::max() ? " is too large" : " is too small";
}

/// Rewrites CLI11's messages about an option that is given twice, and about ranges without an upper end, for
/// which it prints the largest double.
std::string readable(const std::string& message) {
    const std::size_t twice = message.find(": At Most 1 required but received");
    if (twice != std::string::npos) return message.substr(0, twice) + " may be given once";
    const std::size_t range = message.find(" not in range ");
    if (range == std::string::npos || message.find(" to 17976931") == std::string::npos) return message;
    return message.substr(0, range) + what_is_wrong_with(message.substr(0, range));
}

/// Raises the limit of open files: outputs of many labels, or many parts, are open at once, and the usual
/// limit of 1,024 is lower than the system's maximum.
void allow_many_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 1U << 16U));
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Flushes its buffer. The reader, such as head, may have closed it.
int close_standard_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code(ExitCode::success);
    pollfd stream{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&stream, 1, 0) == 1 && (stream.revents & POLLERR) != 0)
        return exit_code(ExitCode::reader_gone);
    log_error("standard output cannot be written");
    return exit_code(ExitCode::write_failed);
}

}  // namespace

Program::Program() : app_(about, "bigbird-dna") {
    app_.footer(
        "Each command has its own --help. Data go to standard output or --output, messages to standard "
        "error.\n" +
        exit_codes_text(110));
    app_.require_subcommand(1);
    app_.set_version_flag("--version", std::string("bigbird-dna ") + std::string(version()),
                          "Print the version and exit");
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.set_help_all_flag("--help-all", "Print the help of every command and exit")->group("");
    add_shared_options(app_, shared_group);
}

CLI::App& Program::add_command(const std::string& name, const std::string& group,
                               const std::string& description, const std::string& common,
                               std::vector<Example> examples) {
    CLI::App* command = app_.add_subcommand(name, description);
    command->group(group);
    for (Example& example : examples)
        example.line = "bigbird-dna " + name + " " + example.line;
    set_help(*command, {CLI::detail::split_up(common), std::move(examples)});
    command->option_defaults()->always_capture_default();
    return *command;
}

int Program::main(int argc, char** argv) {
    set_up_log(Verbosity::normal);
    int code = exit_code(ExitCode::bug);
    try {
        limit_libraries();
        code = parse_and_run(argc, argv);
    } catch (const Stopped& stopped) {
        if (stopped.code() != ExitCode::reader_gone) log_warning("{}", stopped.what());
        code = exit_code(stopped.code());
    } catch (const Error& error) {
        log_error("{}", error.what());
        code = exit_code(error.code());
    } catch (const std::exception& error) {
        if (is_out_of_memory(error)) {
            log_error("{}", out_of_memory);
            code = exit_code(ExitCode::device);
        } else if (const auto failure = system_failure(error)) {
            log_error("{}", *failure);
            code = exit_code(ExitCode::write_failed);
        } else if (const auto fault = device_fault(error)) {
            log_error("{}", *fault);
            code = exit_code(ExitCode::device);
        } else {
            log_error("unexpected failure, a bug in bigbird-dna: {}", error.what());
        }
    }
    return code == 0 ? close_standard_output() : code;
}

int Program::parse_and_run(int argc, char** argv) {
    finish_commands();
    const std::vector<std::string> words = command_first({argv, argv + argc}, app_);
    if (words.size() > 1) take_alias(app_, words[1]);
    const ExpandedLine line = expand_options_file(words, app_);
    for (const std::string& word : line.words)
        if (!genome::is_utf8(word))  // names in JSON and labels come from paths, too
            throw ConfigError("'" + word + "' is not UTF-8: rename the file, or link to it by another name");
    try {
        app_.parse(std::vector<std::string>(line.words.rbegin(), line.words.rend() - 1));
        require_values(*app_.get_subcommands().front());
        finish_();
    } catch (const ConfigError& error) {
        throw ConfigError(line.with_origin(error.what()));
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0)  // --help, --version
            return app_.exit(error);
        if (argc == 1)
            std::fputs(short_road, stderr);
        else
            log_error("{}", line.with_origin(usage_error(error, argc, argv)));
        return exit_code(ExitCode::usage);
    }
    set_up_log(quiet_ ? Verbosity::quiet : verbose_ ? Verbosity::verbose : Verbosity::normal);
    const CLI::App& command = *app_.get_subcommands().front();
    require_outputs_apart(command);
    constexpr std::chrono::seconds grace{6};
    const StopDeadline deadline(grace, remove_unfinished);
    return run_();
}

std::string Program::usage_error(const CLI::ParseError& error, int argc, char** argv) const {
    const auto parsed = app_.get_subcommands();
    if (!parsed.empty()) {
        const CLI::App& command = *parsed.front();
        return fmt::format("{}; see 'bigbird-dna {} --help'",
                           unknown_argument(command).value_or(readable(error.what())), command.get_name());
    }
    const std::vector<std::string> words(argv, argv + argc);
    const std::size_t at = 1 + count_shared(words);
    const std::string first = at < words.size() ? words[at] : "";
    return fmt::format("{}; see 'bigbird-dna --help'",
                       first.empty() ? error.what() : unknown_word(app_, first));
}

void Program::finish_commands() {
    for (CLI::App* command : app_.get_subcommands({})) {
        for (CLI::Option* option : command->get_options())
            clear_validator_texts(*option);  // otherwise they become part of its type's name
        finish_options(*command);
    }
}

void Program::add_shared_options(CLI::App& app, const std::string& group) {
    app.add_option(options_file_option, options_file_,
                   "Read options from a YAML or JSON file, with names without dashes; the command line takes "
                   "precedence")
        ->type_name("FILE")
        ->group(group);
    CLI::Option* quiet =
        app.add_flag("-q,--quiet", quiet_, "Print only warnings and errors to standard error")->group(group);
    app.add_flag("-v,--verbose", verbose_, "Log more to standard error")->excludes(quiet)->group(group);
    CLI::Option* threads = app.get_option_no_throw("--threads");
    if (threads == nullptr)
        threads =
            app.add_option(threads_option, threads_)->check(CLI::Range(0, most_threads).description(""));
    threads->description("Number of threads; does not change results (networks: except by rounding)")
        ->type_name("N")
        ->default_str("all available threads")
        ->group(group);
    CLI::Option* force = app.get_option_no_throw("--force");
    if (force == nullptr) force = app.add_flag(force_option, force_);
    force
        ->description(
            "Replace existing outputs, but only folders that bigbird-dna wrote; train, finetune and "
            "pretrain start from the beginning")
        ->group(group);
}

void Program::finish_options(CLI::App& command) {
    BIGBIRD_EXPECTS(!command.get_description().empty(),
                    "a command without a description: " + command.get_name());
    add_shared_options(command, hidden_group);  // the program shows them
    command.set_help_all_flag("--help-all", "Print every option and exit")->group("");
    for (CLI::Option* option : command.get_options()) {
        BIGBIRD_EXPECTS(is_hidden(*option) || !option->get_description().empty(),
                        "an option without a description: " + command.get_name() + " " + option->get_name());
        check_numbers(*option);
        take_truths(*option);
    }
}

namespace {

/// If the caller closed standard input, output or error, the next opened file would get its number, and
/// messages for standard error would be written into that file. So opens /dev/null in the wrong direction
/// instead: reading and writing it fails.
void open_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // takes the lowest number
}

/// Libraries call exit() if memory runs out (HDF5) or if a file can no longer be read (htslib). Our own code
/// calls it only at the end.
std::atomic<pid_t> running{0};

void end_by_library() {
    if (running == 0) return;
    if (running != ::getpid())
        ::_exit(exit_code(ExitCode::device));  // a child process has nothing to clean up
    std::fprintf(stderr,
                 "bigbird-dna: error: a library gave up: memory is short, or a file cannot be read\n");
    ::_exit(exit_code(ExitCode::device));
}

}  // namespace

int run_program(int argc, char** argv, const std::function<void(Program&)>& add) {
    open_standard_streams();
    install_signal_handlers();
    allow_many_files();
    std::atexit(end_by_library);
    running = ::getpid();
    const ForkServer server;
    Program program;
    add(program);
    const int code = program.main(argc, argv);
    running = 0;
    return code;
}

}  // namespace bigbird::cli
