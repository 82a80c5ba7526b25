// SPDX-License-Identifier: Apache-2.0
// The labels of a task, in the order of a model's outputs. The index is a label's identity: names may repeat
// (54 of DeepSEA's 919 do).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::rows {

struct Label {
    std::string group = ".", name;
    std::int64_t positives = -1;    ///< number of rows with label 1 in the examples; -1 if unknown
    std::int64_t strand_pair = -1;  ///< index of the track of the other strand; -1 if there is none
};

/// labels.tsv: a header line `index group name positives`, tab-separated, then one line per label, indices 0,
/// 1, 2, …; positives `.` where unknown. Tables with strand pairs have the column `strand_pair`, `.` for
/// labels without one. Immutable once made; const calls are thread-safe.
class LabelTable {
public:
    LabelTable() = default;
    /// Throws ConfigError if a name or group is empty or holds a tab or line break, or if the labels of a
    /// strand pair do not name each other.
    explicit LabelTable(std::vector<Label> labels);
    /// Throws InputError with file and line. Other columns are ignored, positives may be absent.
    static LabelTable read(const std::filesystem::path& path);
    std::string to_text() const;

    std::size_t size() const { return labels_.size(); }
    const Label& operator[](std::size_t index) const { return labels_[index]; }
    bool has_strand_pairs() const;
    /// The label that has this label's values on the reverse complement: its strand pair, or itself.
    std::size_t on_other_strand(std::size_t index) const;
    /// In order of first appearance.
    const std::vector<std::string>& groups() const { return groups_; }

    /// `000_8988T_DNase_None`: the index with at least three digits and the name with `_` for all characters
    /// except letters, digits, `.`, `+` and `-`; suitable as a file name.
    std::string unique_id(std::size_t index) const;
    /// The label's column name in a table's header: the name if it is unique, else the unique id.
    std::string column_name(std::size_t index) const;

    /// Returns the indices that a selection ("": all) chooses, ascending, each once. Items are separated by
    /// commas: a name (may contain commas), a group, a unique id, an index (`12`), a closed range of indices
    /// (`0-124`), or a pattern of names with `*` and `?`. The prefixes `index:`, `group:`, `name:` and `id:`
    /// choose the kind. Throws ConfigError if an item matches nothing (with the nearest names), if a name
    /// without pattern matches several labels, or an item is ambiguous among a name, a group and another
    /// label's index.
    std::vector<std::size_t> select(std::string_view selection) const;

private:
    std::vector<Label> labels_;
    std::vector<std::string> groups_;
    std::vector<bool> repeated_;
};

}  // namespace bigbird::rows
