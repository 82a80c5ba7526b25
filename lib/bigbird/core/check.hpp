// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

/// A programmer's mistake, never reachable by user input: throws std::logic_error with file and line.
#define BIGBIRD_EXPECTS(condition, message)                                                        \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            throw std::logic_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " + \
                                   (message));                                                     \
        }                                                                                          \
    } while (false)
