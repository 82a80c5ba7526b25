// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/evaluation/evaluation_report.hpp"

#include <string>

namespace bigbird::evaluation {

/// Additional HTML of a page: `lead` follows the title, `sections` follow the groups of chromatin.
struct PageAdditions {
    std::string title{};  ///< as text; empty: "Evaluation: TASK"
    std::string lead{}, sections{};
};
/// A self-contained HTML page: figures with intervals, plots (SVG), and for chromatin a sortable table of all
/// labels. Equal reports give equal bytes.
std::string to_html(const EvaluationReport& report, const PageAdditions& additions = {});

/// The inputs of the figures, as a list at the end of a page.
std::string about_html(const Json& about);

/// Escapes text for HTML.
std::string escaped_html(const std::string& text);

}  // namespace bigbird::evaluation
