// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/deepsea_labels.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <unordered_map>

namespace bigbird::rows {

namespace {

struct Deepsea {
    LabelTable labels;
    std::vector<PublishedFigures> published;
};

const Deepsea& deepsea() {
    static const Deepsea instance = [] {
        std::vector<Label> labels;
        Deepsea result;
        for (const std::string_view line : split_fields(deepsea_labels_text(), '\n')) {
            if (line.empty() || line.starts_with('#') || line.starts_with("index")) continue;
            const auto fields = split_fields(line, '\t');
            BIGBIRD_EXPECTS(fields.size() == 6, "six columns are needed");
            labels.push_back({std::string(fields[1]), std::string(fields[2]), -1});
            result.published.push_back({parse_real(fields[3]), parse_real(fields[4])});
        }
        result.labels = LabelTable(std::move(labels));
        return result;
    }();
    return instance;
}

}  // namespace

const LabelTable& deepsea_labels() {
    return deepsea().labels;
}

const PublishedFigures& deepsea_published(std::size_t index) {
    return deepsea().published.at(index);
}

std::vector<std::optional<std::size_t>> match_deepsea(const LabelTable& labels) {
    const LabelTable& known = deepsea_labels();
    std::vector<std::optional<std::size_t>> matches(labels.size());
    bool whole = labels.size() == known.size();
    for (std::size_t i = 0; whole && i < known.size(); ++i)
        whole = labels[i].name == known[i].name;
    std::unordered_map<std::string, std::optional<std::size_t>> by_name;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto [place, fresh] = by_name.emplace(known[i].name, i);
        if (!fresh) place->second.reset();  // several have it
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto found = by_name.find(labels[i].name);
        matches[i] = whole ? std::optional(i) : found == by_name.end() ? std::nullopt : found->second;
    }
    return matches;
}

LabelParts parts_of(std::string_view name) {
    constexpr std::string_view no_break_space = "\xC2\xA0";
    std::string text(name);
    for (std::size_t at = text.find(no_break_space); at != std::string::npos; at = text.find(no_break_space))
        text.replace(at, no_break_space.size(), " ");
    const auto fields = split_fields(text, '|');
    const auto field = [&](std::size_t index) {
        std::string part = index < fields.size() ? std::string(fields[index]) : std::string();
        while (part.ends_with(' '))
            part.pop_back();
        return part;
    };
    return {field(0), field(1), field(2)};
}

std::string label_listing(const LabelTable& labels) {
    const auto shown = [](const std::string& part) { return part.empty() ? std::string(".") : part; };
    std::string text = "index\tid\tgroup\tcell\tassay\ttreatment\tname\tpositives\n";
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const LabelParts parts = parts_of(labels[i].name);
        text += std::to_string(i) + '\t' + labels.unique_id(i) + '\t' + labels[i].group + '\t' +
                shown(parts.cell) + '\t' + shown(parts.assay) + '\t' + shown(parts.treatment) + '\t' +
                labels[i].name + '\t' +
                (labels[i].positives < 0 ? "." : std::to_string(labels[i].positives)) + '\n';
    }
    return text;
}

}  // namespace bigbird::rows
