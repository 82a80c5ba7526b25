// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/evaluation/evaluation_report.hpp"

#include <string>

namespace bigbird::evaluation {

/// A page for browsers that needs nothing else: figures with intervals, pictures (SVG), and for chromatin a
/// table of all labels that sorts by a click. The same report gives the same bytes.
std::string to_html(const EvaluationReport& report);

/// Additional HTML of a page: `lead` below the title, `sections` of chromatin behind the groups.
struct PageAdditions {
    std::string title{};  ///< as text; empty: "Evaluation: TASK"
    std::string lead{}, sections{};
};
std::string to_html(const EvaluationReport& report, const PageAdditions& additions);

/// The inputs of the figures, as a list at the end of a page.
std::string about_html(const Json& about);

/// A text as HTML has it.
std::string escaped_html(const std::string& text);

}  // namespace bigbird::evaluation
