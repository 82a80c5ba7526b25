// SPDX-License-Identifier: Apache-2.0
#include "support/options_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/core/words.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <set>
#include <sstream>

namespace bigbird::cli {

namespace {

std::string name_of(const std::string& argument) {
    return argument.substr(0, argument.find('='));
}

/// Accepts only one document: yaml-cpp turns a stray comma or a zero byte into endless documents.
class OneDocument : public YAML::EventHandler {
public:
    explicit OneDocument(const std::filesystem::path& file) : file_(file) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ == 1) return;
        throw InputError(
            "holds more than one map from options to values: several documents, or a stray comma", file_,
            mark.line + 1);
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}

private:
    const std::filesystem::path& file_;
    int documents_ = 0;
};

void require_one_document(const std::string& text, const std::filesystem::path& file) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    OneDocument handler(file);
    while (parser.HandleNextDocument(handler)) {
    }
}

YAML::Node read(const std::filesystem::path& file) {
    const std::string text = read_whole_file(file);
    if (text.find('\0') != std::string::npos)
        throw InputError("is no text: it holds a byte of zero, as UTF-16 does; save it as UTF-8", file);
    try {
        require_one_document(text, file);
        return YAML::Load(text);
    } catch (const YAML::Exception& error) {
        throw InputError("is neither YAML nor JSON: " + error.msg, file, error.mark.line + 1);
    }
}

/// The command-line words of one entry of the file.
std::vector<std::string> words_of(const std::string& name, const YAML::Node& value,
                                  const std::filesystem::path& file) {
    std::vector<std::string> words;
    const auto add = [&](const YAML::Node& scalar) {
        if (!scalar.IsScalar())
            throw InputError("the value of '" + name + "' is neither a value nor a list of values", file,
                             scalar.Mark().line + 1);
        words.push_back(name);
        words.push_back(scalar.Scalar());
    };
    if (value.IsSequence())
        for (const YAML::Node& item : value)
            add(item);
    else if (value.IsScalar() && value.Tag() != "!" && truth_of(value.Scalar()))
        words.push_back(name + "=" + value.Scalar());
    else
        add(value);
    return words;
}

bool is_flag(const CLI::App& command, const std::string& name) {
    const CLI::Option* const option = command.get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() == 0;
}

/// The long names of the options that a word gives: "--model=A", and "-m", "-mA" or "-fq" of a command.
std::vector<std::string> names_given(const std::string& word, const CLI::App* command) {
    if (word.starts_with("--") || !word.starts_with('-') || command == nullptr) return {name_of(word)};
    std::vector<std::string> names;
    for (const char letter : word.substr(1)) {
        const CLI::Option* const option = command->get_option_no_throw(std::string("-") + letter);
        if (option == nullptr) break;
        for (const std::string& name : option->get_lnames())
            names.push_back("--" + name);
        if (option->get_items_expected_max() > 0) break;  // its value follows
    }
    return names;
}

bool is_empty(const YAML::Node& value) {
    return value.IsNull() || (value.IsSequence() && value.size() == 0) ||
           (value.IsScalar() && value.Scalar().empty());
}

const CLI::App* command_of(const std::vector<std::string>& words, const CLI::App& program) {
    const auto commands = program.get_subcommands(
        [&](const CLI::App* each) { return words.size() > 1 && each->get_name() == words[1]; });
    return commands.empty() ? nullptr : commands.front();
}

/// Changes "--force=true" to "--force", and removes "--force=false"; options that are not flags keep their
/// values.
std::vector<std::string> without_truths_of_flags(const std::vector<std::string>& words,
                                                 const CLI::App& program) {
    const CLI::App* const command = command_of(words, program);
    if (command == nullptr) return words;
    std::vector<std::string> kept;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        const auto truth = equals == std::string::npos ? std::nullopt : truth_of(word.substr(equals + 1));
        if (!word.starts_with("--") || !truth || !is_flag(*command, name_of(word)))
            kept.push_back(word);
        else if (*truth)
            kept.push_back(name_of(word));
    }
    return kept;
}

ExpandedLine with_options_of_file(const std::vector<std::string>& arguments, const CLI::App& program) {
    std::vector<std::string> given;
    std::filesystem::path file;
    bool any = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (name_of(arguments[i]) != options_file_option) {
            given.push_back(arguments[i]);
            continue;
        }
        const std::size_t equals = arguments[i].find('=');
        if (any || (equals == std::string::npos && i + 1 == arguments.size())) {
            throw ConfigError(std::string(options_file_option) +
                              (any ? " may be given once" : " needs the name of a file"));
        }
        any = true;
        file = equals == std::string::npos ? arguments[++i] : arguments[i].substr(equals + 1);
    }
    if (!any) return {.words = given};
    const YAML::Node root = read(file);
    protect_input(file, options_file_option);
    if (!root.IsMap()) throw InputError("is no map from options to values", file);
    const CLI::App* const command = command_of(given, program);
    std::set<std::string> on_command_line, in_file;
    for (const std::string& argument : given)
        for (const std::string& name : names_given(argument, command))
            on_command_line.insert(name);
    ExpandedLine line{.words = given, .file = file};
    for (const auto& entry : root) {
        std::string name = entry.first.Scalar();
        if (!name.starts_with("--")) name.insert(0, "--");
        const int at = entry.first.Mark().line + 1;
        if (!in_file.insert(name).second) throw InputError("gives '" + name + "' twice", file, at);
        if (on_command_line.contains(name)) continue;
        if (is_empty(entry.second))
            throw InputError("gives '" + name + "' no value: give one, or leave the line out", file, at);
        const std::vector<std::string> words = words_of(name, entry.second, file);
        if (command != nullptr && is_flag(*command, name) && words.size() > 1) {
            throw InputError("the value of '" + name + "' is '" + shortened(words[1]) +
                                 "': it takes true or false, without quotes",
                             file, entry.second.Mark().line + 1);
        }
        line.words.insert(line.words.end(), words.begin(), words.end());
        line.names.push_back(name);
    }
    return line;
}

}  // namespace

std::optional<bool> truth_of(const std::string& text) {
    const std::string word = lower_case(text);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word == "false" || word == "no" || word == "off") return false;
    return std::nullopt;
}

std::string ExpandedLine::with_origin(const std::string& message) const {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
    for (const std::string& name : names) {
        const std::size_t at = message.find(name);
        if (at == std::string::npos) continue;
        const std::size_t after = at + name.size();
        if (after == message.size() || letters.find(message[after]) == std::string_view::npos)
            return file.string() + ": " + message;
    }
    return message;
}

ExpandedLine expand_options_file(const std::vector<std::string>& arguments, const CLI::App& program) {
    ExpandedLine line = with_options_of_file(arguments, program);
    line.words = without_truths_of_flags(line.words, program);
    return line;
}

}  // namespace bigbird::cli
