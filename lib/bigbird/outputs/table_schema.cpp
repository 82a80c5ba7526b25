// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/table_schema.hpp"

#include "bigbird/core/check.hpp"

namespace bigbird::outputs {

std::vector<HeadColumn> region_head() {
    std::vector<HeadColumn> head;
    head.reserve(std::size(rows::region_columns));
    for (const char* name : rows::region_columns)
        head.push_back({name, FieldKind::text});
    head[1].kind = head[2].kind = FieldKind::integer;
    head.back().kind = FieldKind::real;
    return head;
}

std::vector<HeadColumn> record_head(bool classes) {
    std::vector<HeadColumn> head{{"id", FieldKind::text},
                                 {"length", FieldKind::integer},
                                 {"status", FieldKind::text},
                                 {"n_fraction", FieldKind::real}};
    if (classes) head.push_back({"class", FieldKind::text});
    return head;
}

std::vector<Column> label_columns(const rows::LabelTable& labels, std::span<const std::size_t> chosen) {
    std::vector<Column> columns;
    for (const std::size_t index : chosen) {
        columns.push_back({labels.column_name(index), static_cast<std::int64_t>(index), labels[index].group,
                           labels[index].name, labels.unique_id(index)});
    }
    return columns;
}

void Sink::copy(std::string_view, std::span<const std::byte>) {
    BIGBIRD_EXPECTS(false, "this format has no lines");
}

void Sink::commit() {
    std::vector<PendingOutput*> pending;
    finish(pending);
    commit_together(pending);
}

}  // namespace bigbird::outputs
