// SPDX-License-Identifier: Apache-2.0
// Longformer's patterns: windows counted in tokens become blocks with element masks.
#pragma once

#include "bigbird/attention/pattern/pattern.hpp"

namespace bigbird::attention {

/// Whether token i attends token j by PatternKind::longformer.
bool token_attends(const PatternSpec& spec, std::int64_t i, std::int64_t j);

/// Blocks of which no token is attended are left out, those attended whole have no mask; equal masks are kept
/// once.
BlockLayout token_layout(const PatternSpec& spec, int blocks);

/// The window of `spec` (whose global_tokens do not count) over `blocks` blocks behind `front` blocks of
/// global tokens that are copied there: every row attends those whole, rows of the front nothing else.
BlockLayout windows_behind_front(const PatternSpec& spec, int front, int blocks);

}  // namespace bigbird::attention
