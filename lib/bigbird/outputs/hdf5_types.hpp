// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/layout.hpp"

namespace bigbird::outputs {

/// The types that numbers and texts have in a file of scores.
class Hdf5Types {
public:
    explicit Hdf5Types(Precision precision)
        : precision_(precision),
          text_(H5Tcopy(H5T_C_S1), H5Tclose),
          half_(H5Tcopy(H5T_IEEE_F32LE), H5Tclose) {
        H5Tset_size(text_, H5T_VARIABLE);
        H5Tset_cset(text_, H5T_CSET_UTF8);
        H5Tset_fields(half_, 15, 10, 5, 0, 10);  // as numpy's float16
        H5Tset_size(half_, 2);
        H5Tset_ebias(half_, 15);
    }
    static constexpr std::size_t most_letters = 255;
    /// Of so many bytes, at most `most_letters`, filled up with zeros.
    static Hdf5Handle text_of(std::size_t letters) {
        Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
        H5Tset_size(type, letters);
        H5Tset_strpad(type, H5T_STR_NULLPAD);
        H5Tset_cset(type, H5T_CSET_UTF8);
        return type;
    }
    /// Of any length. In memory, too.
    hid_t text() const { return text_; }
    hid_t half() const { return half_; }
    hid_t scores() const { return precision_ == Precision::float16 ? half() : H5T_IEEE_F32LE; }
    hid_t field(FieldKind kind) const {
        if (kind == FieldKind::integer) return H5T_STD_I64LE;
        return kind == FieldKind::real ? H5T_IEEE_F64LE : text();
    }

private:
    Precision precision_;
    Hdf5Handle text_, half_;
};

}  // namespace bigbird::outputs
