// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/words.hpp"

#include <algorithm>
#include <string>

namespace bigbird::networks {

/// A name from a file for messages: not long, and with `?` for all but the visible letters of ASCII.
inline std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](char letter) { return letter < ' ' || letter > '~'; }, '?');
    return shortened(text);
}

}  // namespace bigbird::networks
