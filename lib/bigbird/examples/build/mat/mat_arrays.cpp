// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/mat/mat_arrays.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/examples/build/mat/mat5_structure.hpp"

#include <matio.h>

#include <array>
#include <limits>

namespace bigbird::examples {

namespace {

struct CloseMat {
    void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

constexpr std::size_t most_rows = std::numeric_limits<int>::max();
constexpr std::size_t most_columns = std::size_t{1} << 20;  // bases, and labels; DeepSEA has 1,000 and 919

void stay_silent(int, char*) {}

std::size_t element_bytes(matio_classes kind) {
    switch (kind) {
        case MAT_C_UINT8:
        case MAT_C_INT8:
            return 1;
        case MAT_C_SINGLE:
            return 4;
        case MAT_C_DOUBLE:
            return 8;
        default:
            return 0;
    }
}

/// A stretch of rows of an array whose first index runs fastest, as MATLAB lays it out.
class Cells {
public:
    Cells(const void* data, matio_classes kind, const std::filesystem::path& path)
        : data_(data), kind_(kind), path_(path) {}
    bool is_one(std::size_t index) const {
        switch (kind_) {
            case MAT_C_SINGLE:
                return checked(static_cast<double>(static_cast<const float*>(data_)[index]));
            case MAT_C_DOUBLE:
                return checked(static_cast<const double*>(data_)[index]);
            default:
                return checked(static_cast<double>(static_cast<const std::uint8_t*>(data_)[index]));
        }
    }

private:
    bool checked(double value) const {
        if (value != 0 && value != 1) {
            throw InputError("holds the value " + std::to_string(value) + " where only 0 and 1 make sense",
                             path_);
        }
        return value == 1;
    }

    const void* data_;
    matio_classes kind_;
    const std::filesystem::path& path_;
};

}  // namespace

struct MatArrays::State {
    std::filesystem::path path;
    std::unique_ptr<mat_t, CloseMat> file;
    Variable sequences, labels;
    bool whole = false;  ///< both arrays are in memory
    std::vector<std::byte> buffer;

    explicit State(std::filesystem::path where) : path(std::move(where)) {
        require_readable(path);
        check_mat5(path);
        Mat_LogInitFunc("bigbird-dna", stay_silent);
        file.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
        if (!file) throw InputError("is no .mat file of MATLAB 5 or 7.3, or is cut off", path);
        while (Variable variable{Mat_VarReadNextInfo(file.get())}) {
            const bool numbers = element_bytes(variable->class_type) > 0 && variable->isComplex == 0;
            if (numbers && variable->rank == 3 && variable->dims[1] == 4)
                sequences = std::move(variable);
            else if (numbers && variable->rank == 2 && !labels)
                labels = std::move(variable);
        }
        if (!sequences || !labels) {
            throw InputError(
                "is cut off or of another shape: DeepSEA's has an array of sequences (rows, 4, bases) and "
                "one of labels "
                "(rows, labels)",
                path);
        }
        if (sequences->dims[0] != labels->dims[0]) {
            throw InputError("has " + std::to_string(sequences->dims[0]) + " sequences but " +
                                 std::to_string(labels->dims[0]) + " rows of labels",
                             path);
        }
        for (const matvar_t* variable : {sequences.get(), labels.get()}) {
            for (int d = 0; d < variable->rank; ++d) {
                const std::size_t most = d == 0 ? most_rows : most_columns;
                if (variable->dims[d] == 0 || variable->dims[d] > most)
                    throw InputError("holds an array without rows, or one too large to be DeepSEA's", path);
            }
        }
        if (Mat_GetVersion(file.get()) != MAT_FT_MAT73) {
            // Compressed arrays of MATLAB 5 can only be read from their beginning.
            if (!may_hold(*sequences) || !may_hold(*labels)) throw broken_off();
            if (Mat_VarReadDataAll(file.get(), sequences.get()) != 0 ||
                Mat_VarReadDataAll(file.get(), labels.get()) != 0)
                throw broken_off();
            whole = true;
        }
    }

    /// Whether a file of this size can hold an array: zlib makes at most 1,032 bytes of one, and numbers may
    /// be stored as bytes.
    bool may_hold(const matvar_t& variable) const {
        constexpr std::uint64_t most_of_a_byte = 8UL * 1032;
        std::uint64_t cells = 1;
        for (int d = 0; d < variable.rank; ++d)
            if (__builtin_mul_overflow(cells, std::uint64_t{variable.dims[d]}, &cells)) return false;
        return cells / most_of_a_byte <= std::filesystem::file_size(path);
    }

    InputError broken_off() const { return {"breaks off inside its data; fetch it again", path}; }

    /// Rows [begin, begin + count) of an array in `buffer` (or the entire array), and the number of its rows.
    std::pair<Cells, std::size_t> rows_of(matvar_t* variable, std::int64_t begin, std::int64_t count) {
        if (whole) return {Cells(variable->data, variable->class_type, path), variable->dims[0]};
        auto cells = static_cast<std::size_t>(count);
        std::array<int, 3> start{static_cast<int>(begin), 0, 0}, stride{1, 1, 1},
            edge{static_cast<int>(count), 1, 1};
        for (int d = 1; d < variable->rank; ++d) {
            edge[static_cast<std::size_t>(d)] = static_cast<int>(variable->dims[d]);
            cells *= variable->dims[d];
        }
        buffer.resize(cells * element_bytes(variable->class_type));
        if (Mat_VarReadData(file.get(), variable, buffer.data(), start.data(), stride.data(), edge.data()) !=
            0)
            throw broken_off();
        return {Cells(buffer.data(), variable->class_type, path), static_cast<std::size_t>(count)};
    }

    std::vector<std::string> read_sequences(std::int64_t begin, std::int64_t count) {
        constexpr std::string_view letters = "AGCT";
        const auto [cells, height] = rows_of(sequences.get(), begin, count);
        const std::size_t bases = sequences->dims[2];
        const std::size_t first = whole ? static_cast<std::size_t>(begin) : 0;
        std::vector<std::string> texts(static_cast<std::size_t>(count), std::string(bases, 'N'));
        for (std::size_t base = 0; base < bases; ++base) {
            for (std::size_t channel = 0; channel < 4; ++channel) {
                const std::size_t column = height * (channel + 4 * base) + first;
                for (std::size_t row = 0; row < texts.size(); ++row)
                    if (cells.is_one(column + row)) texts[row][base] = letters[channel];
            }
        }
        return texts;
    }

    BitRows read_labels(std::int64_t begin, std::int64_t count) {
        const auto [cells, height] = rows_of(labels.get(), begin, count);
        const std::size_t first = whole ? static_cast<std::size_t>(begin) : 0;
        BitRows bits(labels->dims[1]);
        bits.resize(static_cast<std::size_t>(count));
        for (std::size_t label = 0; label < labels->dims[1]; ++label) {
            for (std::size_t row = 0; row < bits.rows(); ++row)
                if (cells.is_one(height * label + first + row)) bits.set(row, label);
        }
        return bits;
    }
};

MatArrays::MatArrays(std::filesystem::path path) : state_(new State(std::move(path))) {}
MatArrays::~MatArrays() = default;

std::int64_t MatArrays::rows() const {
    return static_cast<std::int64_t>(state_->sequences->dims[0]);
}

std::int64_t MatArrays::labels() const {
    return static_cast<std::int64_t>(state_->labels->dims[1]);
}

std::int64_t MatArrays::bases() const {
    return static_cast<std::int64_t>(state_->sequences->dims[2]);
}

std::vector<std::string> MatArrays::read_sequences(std::int64_t begin, std::int64_t count) {
    return state_->read_sequences(begin, count);
}

BitRows MatArrays::read_labels(std::int64_t begin, std::int64_t count) {
    return state_->read_labels(begin, count);
}

}  // namespace bigbird::examples
