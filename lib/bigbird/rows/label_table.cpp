// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/label_table.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace bigbird::rows {

namespace {

bool is_plain(std::string_view text) {
    return !text.empty() && text.find_first_of("\t\r\n") == std::string_view::npos;
}

/// `*` any run, `?` any letter.
bool matches(std::string_view pattern, std::string_view text) {
    std::vector<bool> fits(text.size() + 1);  // whether the pattern so far fits the text's first letters
    fits[0] = true;
    for (const char wanted : pattern) {
        if (wanted != '*') {
            for (std::size_t i = text.size(); i > 0; --i)
                fits[i] = fits[i - 1] && (wanted == '?' || wanted == text[i - 1]);
            fits[0] = false;
        }
        for (std::size_t i = 1; wanted == '*' && i <= text.size(); ++i)
            fits[i] = fits[i] || fits[i - 1];
    }
    return fits.back();
}

/// The three names nearest to `item`, quoted: first names that contain it, then names by the number of edits.
std::string nearest_names(const LabelTable& table, std::string_view item) {
    constexpr std::size_t shown = 3, longest = 200;
    const std::string wanted = lower_case(std::string(item.substr(0, longest)));
    std::set<std::pair<std::size_t, std::size_t>> ranked;  // distance, index
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::string name = lower_case(table[i].name);
        const bool holds = !wanted.empty() && name.find(wanted) != std::string::npos;
        ranked.emplace(holds ? 0 : 1 + edit_distance(wanted, std::string_view(name).substr(0, longest)), i);
    }
    std::vector<std::string> names;
    for (const auto& [distance, index] : ranked) {
        const std::string quoted = "'" + table[index].name + "'";
        if (names.size() < shown && std::ranges::find(names, quoted) == names.end()) names.push_back(quoted);
    }
    return listed(names, "");
}

std::vector<std::string> numbers(const std::vector<std::size_t>& indices) {
    std::vector<std::string> texts;
    for (const std::size_t index : indices)
        texts.push_back(std::to_string(index));
    return texts;
}

/// The items of a selection. Adjacent items that form a label's name together with their commas are one item.
std::vector<std::string> items_of(const LabelTable& table, std::string_view selection) {
    const auto is_name = [&](std::string_view text) {
        if (text.starts_with("name:")) text.remove_prefix(5);
        for (std::size_t i = 0; i < table.size(); ++i)
            if (table[i].name == text) return true;
        return false;
    };
    const auto parts = split_fields(selection, ',');
    std::vector<std::string> items;
    for (std::size_t first = 0; first < parts.size();) {
        std::size_t last = parts.size() - 1;
        const auto joined = [&] {
            return std::string_view(
                parts[first].data(),
                static_cast<std::size_t>(parts[last].data() + parts[last].size() - parts[first].data()));
        };
        while (last > first && !is_name(joined()))
            --last;
        items.emplace_back(joined());
        first = last + 1;
    }
    return items;
}

/// One item of a selection against a table.
class Selector {
public:
    Selector(const LabelTable& table, std::string_view item) : table_(table), item_(item) {
        for (const std::string_view kind : {"index", "group", "name", "id"}) {
            if (item.starts_with(kind) && item.substr(kind.size()).starts_with(":")) {
                kind_ = kind;
                item_ = item.substr(kind.size() + 1);
            }
        }
    }

    std::vector<std::size_t> select() const {
        const auto groups = where(
            "group", [&](std::size_t i) { return table_[i].group == item_; });
        const auto names = where(
            "name", [&](std::size_t i) { return table_[i].name == item_; });
        const auto ids = where("id", [&](std::size_t i) { return table_.unique_id(i) == item_; });
        if (!groups.empty() && !names.empty()) {
            throw fault("is both a group and a name; write group:" + std::string(item_) +
                        " or name:" + std::string(item_));
        }
        if (names.size() > 1) {
            throw fault("is the name of labels " + listed(numbers(names), "") +
                        "; choose by index or by unique id, as " + table_.unique_id(names.front()));
        }
        for (const auto& found : {names, groups, ids}) {
            if (found.empty()) continue;
            refuse_other_index(found, !names.empty() ? "name" : groups.empty() ? "id" : "group");
            return found;
        }
        auto by_index = indices();
        if (!by_index.empty()) return by_index;
        const bool pattern = item_.find_first_of("*?") != std::string_view::npos;
        auto fitting =
            where("name", [&](std::size_t i) { return pattern && matches(item_, table_[i].name); });
        if (fitting.empty()) {
            throw fault("fits no label; the nearest are " + nearest_names(table_, item_) +
                        "; 'bigbird-dna info --labels MODEL' lists all, '*CTCF*' is a pattern");
        }
        return fitting;
    }

private:
    bool wanted(std::string_view kind) const { return kind_.empty() || kind_ == kind; }

    ConfigError fault(const std::string& what) const {
        return ConfigError("the label selection '" + shortened(item_) + "' " + what);
    }

    /// The labels that fit, if the item may be of this kind.
    template <typename Predicate>
    std::vector<std::size_t> where(std::string_view kind, const Predicate& predicate) const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; wanted(kind) && i < table_.size(); ++i)
            if (predicate(i)) found.push_back(i);
        return found;
    }

    std::vector<std::size_t> indices() const {
        const std::size_t dash = item_.find('-');
        const auto first = parse_number<std::int64_t>(item_.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : parse_number<std::int64_t>(item_.substr(dash + 1));
        if (!wanted("index") || !first || !last) return {};
        const auto size = static_cast<std::int64_t>(table_.size());
        if (*last < *first) throw fault("runs backwards; write the smaller index first");
        if (*first < 0 || *last >= size) throw fault("is outside the labels 0-" + std::to_string(size - 1));
        return where("index", [&](std::size_t i) {
            return static_cast<std::int64_t>(i) >= *first && static_cast<std::int64_t>(i) <= *last;
        });
    }

    /// Throws if the item, which selected `found` by `kind`, is also the index of another label.
    void refuse_other_index(const std::vector<std::size_t>& found, const std::string& kind) const {
        const auto index = wanted("index") ? parse_number<std::int64_t>(item_) : std::nullopt;
        if (!index || *index < 0 || *index >= static_cast<std::int64_t>(table_.size())) return;
        if (found == std::vector{static_cast<std::size_t>(*index)}) return;
        const std::string item(item_);
        throw fault("is the " + kind + " of label " + listed(numbers(found), "") +
                    " and the index of label '" + table_[static_cast<std::size_t>(*index)].name +
                    "'; write " + kind + ":" + item + " or index:" + item);
    }

    const LabelTable& table_;
    std::string_view item_, kind_;
};

}  // namespace

LabelTable::LabelTable(std::vector<Label> labels) : labels_(std::move(labels)) {
    std::map<std::string_view, std::size_t> times;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        if (!is_plain(labels_[i].name) || !is_plain(labels_[i].group)) {
            throw ConfigError("label " + std::to_string(i) +
                              ": a name and a group without tabs and line breaks are needed");
        }
        ++times[labels_[i].name];
        if (std::find(groups_.begin(), groups_.end(), labels_[i].group) == groups_.end())
            groups_.push_back(labels_[i].group);
    }
    for (const Label& label : labels_)
        repeated_.push_back(times[label.name] > 1);
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        const std::int64_t pair = labels_[i].strand_pair;
        if (pair < -1 || pair >= std::ssize(labels_) ||
            labels_[on_other_strand(i)].strand_pair != (pair < 0 ? -1 : static_cast<std::int64_t>(i))) {
            throw ConfigError("label " + labels_[i].name +
                              ": the two labels of a strand pair must name each other");
        }
    }
}

LabelTable LabelTable::read(const std::filesystem::path& path) {
    genome::TextInput input(path);
    std::string line;
    std::vector<Label> labels;
    if (!input.next(line) || !line.starts_with("index\tgroup\tname"))
        throw InputError("is no table of labels: its first line must be 'index<TAB>group<TAB>name'", path, 1);
    const std::vector<std::string_view> header = split_fields(line, '\t');
    const bool counted = header.size() > 3 && header[3] == "positives";
    const bool paired = header.size() > 4 && header[4] == "strand_pair";
    while (input.next(line)) {
        if (line.empty()) continue;
        const std::vector<std::string_view> fields = split_fields(line, '\t');
        if (fields.size() < 3 || fields[1].empty() || fields[2].empty())
            throw input.fault("a label needs an index, a group and a name, separated by tabs");
        if (parse_number<std::int64_t>(fields[0]) != static_cast<std::int64_t>(labels.size())) {
            throw input.fault("index '" + shortened(fields[0]) + "' where " + std::to_string(labels.size()) +
                              " comes; indices count from 0 without gaps");
        }
        Label label{std::string(fields[1]), std::string(fields[2]), -1};
        if (counted && fields.size() > 3 && fields[3] != ".") {
            const auto positives = parse_number<std::int64_t>(fields[3]);
            if (!positives || *positives < 0)
                throw input.fault("positives '" + shortened(fields[3]) + "' are no count");
            label.positives = *positives;
        }
        if (paired && fields.size() > 4 && fields[4] != ".") {
            const auto pair = parse_number<std::int64_t>(fields[4]);
            if (!pair) throw input.fault("strand_pair '" + shortened(fields[4]) + "' is no index");
            label.strand_pair = *pair;
        }
        labels.push_back(std::move(label));
    }
    if (labels.empty()) throw InputError("holds no labels", path);
    try {
        return LabelTable(std::move(labels));
    } catch (const ConfigError& error) {
        throw InputError(error.what(), path);
    }
}

std::string LabelTable::to_text() const {
    const bool paired = has_strand_pairs();
    std::string text = std::string("index\tgroup\tname\tpositives") + (paired ? "\tstrand_pair\n" : "\n");
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        const Label& label = labels_[i];
        text += std::to_string(i) + '\t' + label.group + '\t' + label.name + '\t' +
                (label.positives < 0 ? "." : std::to_string(label.positives));
        if (paired) text += label.strand_pair < 0 ? "\t." : '\t' + std::to_string(label.strand_pair);
        text += '\n';
    }
    return text;
}

bool LabelTable::has_strand_pairs() const {
    return std::ranges::any_of(
        labels_, [](const Label& label) { return label.strand_pair >= 0; });
}

std::size_t LabelTable::on_other_strand(std::size_t index) const {
    const std::int64_t pair = labels_[index].strand_pair;
    return pair < 0 ? index : static_cast<std::size_t>(pair);
}

std::string LabelTable::unique_id(std::size_t index) const {
    std::string id = std::to_string(index);
    id.insert(0, id.size() < 3 ? 3 - id.size() : 0, '0');
    id += '_';
    for (const char letter : labels_[index].name) {
        const bool kept = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                          (letter >= 'a' && letter <= 'z') || letter == '.' || letter == '+' || letter == '-';
        id += kept ? letter : '_';
    }
    return id;
}

std::string LabelTable::column_name(std::size_t index) const {
    return repeated_[index] ? unique_id(index) : labels_[index].name;
}

std::vector<std::size_t> LabelTable::select(std::string_view selection) const {
    if (selection.empty()) {
        std::vector<std::size_t> all(size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return all;
    }
    std::set<std::size_t> chosen;
    for (const std::string& item : items_of(*this, selection)) {
        const auto found = Selector(*this, item).select();
        chosen.insert(found.begin(), found.end());
    }
    return {chosen.begin(), chosen.end()};
}

}  // namespace bigbird::rows
