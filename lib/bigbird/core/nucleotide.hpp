// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird {

/// All bits where the condition holds, none else. Masks instead of branches and tables let compilers turn
/// loops over letters into vector code.
constexpr unsigned char mask_if(bool condition) {
    return static_cast<unsigned char>(-static_cast<int>(condition));
}

/// The one rule for sequence letters: A C G T of either case become upper case, U becomes T, every other
/// letter becomes N.
constexpr char normalised_base(char letter) {
    using Byte = unsigned char;
    const Byte upper = static_cast<Byte>(letter) &
                       0xDFU;  // maps both cases of a letter, and no other byte, to its upper case
    const Byte is_u = mask_if(upper == 'U');
    const Byte known =
        mask_if(upper == 'A') | mask_if(upper == 'C') | mask_if(upper == 'G') | mask_if(upper == 'T') | is_u;
    const Byte base = static_cast<Byte>(upper - (is_u & 1U));  // T precedes U
    return static_cast<char>((base & known) | ('N' & ~known));
}

}  // namespace bigbird
