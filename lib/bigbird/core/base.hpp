// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird {

/// The one rule for sequence letters: A C G T in either case are upper case, U is T, every other letter is N.
/// Comparisons and selections only, no table: compilers turn loops over it into vector code.
constexpr char normalised_base(char letter) {
    const char upper = static_cast<char>(letter & 0xDF);  // maps a-z, and no other letter of interest, on A-Z
    char result = 'N';
    result = upper == 'A' ? 'A' : result;
    result = upper == 'C' ? 'C' : result;
    result = upper == 'G' ? 'G' : result;
    result = upper == 'T' || upper == 'U' ? 'T' : result;
    return result;
}

}  // namespace bigbird
