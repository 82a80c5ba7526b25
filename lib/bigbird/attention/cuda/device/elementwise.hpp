// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels between the matrix products: each reads and writes its tensors once. Sums over rows are
// computed in parts, which are added in a fixed order, so they repeat bit for bit.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"
#include "bigbird/attention/cuda/kernels.hpp"

namespace bigbird::attention::cuda {

/// Eight adjacent elements of a row, which a lane loads and stores together.
struct Eight {
    float x[8];
};
/// Number of chunks that each lane holds of a row with largest_norm columns.
inline constexpr int norm_chunks = largest_norm / 8 / warp_lanes;

BIGBIRD_DEVICE std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
    std::uint64_t value = key + 0x9E3779B97F4A7C15ULL * (counter + 1);
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31);
}

/// Applies dropout to eight adjacent elements, the first at `column`.
BIGBIRD_DEVICE void drop(const Dropout& dropout, int row, int columns, int column, Eight& values) {
    if (dropout.keys == nullptr) return;
    const auto key = static_cast<std::uint64_t>(dropout.keys[row / dropout.rows_per_sample]);
    const std::int64_t first = static_cast<std::int64_t>(row % dropout.rows_per_sample) * columns + column;
    BIGBIRD_UNROLL
    for (int pair = 0; pair < 4; ++pair) {
        const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(first / 2 + pair));
        float* two = values.x + 2 * pair;
        two[0] = static_cast<std::uint32_t>(bits) >= dropout.below ? two[0] * dropout.scale : 0.0F;
        two[1] = static_cast<std::uint32_t>(bits >> 32) >= dropout.below ? two[1] * dropout.scale : 0.0F;
    }
}

template <DeviceIsa Isa>
BIGBIRD_DEVICE float warp_sum(const Isa& isa, float value) {
    BIGBIRD_UNROLL
    for (int mask = 1; mask < warp_lanes; mask *= 2)
        value += isa.shuffle_xor(value, mask);
    return value;
}

/// Calls body(i, column) for the chunks of a row that this lane holds.
template <DeviceIsa Isa, typename Body>
BIGBIRD_DEVICE void for_chunks(const Isa& isa, int columns, const Body& body) {
    BIGBIRD_UNROLL
    for (int i = 0; i < norm_chunks; ++i) {
        const int column = (i * warp_lanes + isa.lane()) * 8;
        if (column < columns) body(i, column);
    }
}

template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE Eight load8(const Isa& isa, const void* from, std::int64_t index) {
    Eight values;
    isa.template load8<Scalar>(static_cast<const std::uint16_t*>(from) + index, values.x);
    return values;
}
/// Loads eight floats, for example parameters.
template <DeviceIsa Isa>
BIGBIRD_DEVICE Eight load_floats(const Isa& isa, const float* from) {
    Eight values;
    isa.load_floats8(from, values.x);
    return values;
}
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void store8(const Isa& isa, void* to, std::int64_t index, const Eight& values) {
    isa.template store8<Scalar>(static_cast<std::uint16_t*>(to) + index, values.x);
}

/// Eight adjacent elements of a row of x, gathered or loaded.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE Eight row_part(const Isa& isa, const NormArguments& a, int row, int column) {
    const Gather& from = a.gather;
    if (from.ids == nullptr)
        return load8<Scalar>(isa, a.x, static_cast<std::int64_t>(row) * a.columns + column);
    const Eight word = load_floats(isa, from.words + from.ids[row] * a.columns + column),
                type = load_floats(isa, from.token_types + from.types[row] * a.columns + column);
    const std::int64_t position = row % from.length;
    Eight sum{};
    if (position < from.position_count)
        sum = load_floats(isa, from.positions + position * a.columns + column);
    BIGBIRD_UNROLL
    for (int j = 0; j < 8; ++j)
        sum.x[j] += word.x[j] * from.word_scale + type.x[j];
    return sum;
}

/// One warp per row. Grid: any number of thread blocks.
template <typename Scalar>
struct NormForwardKernel : KernelShape<NormArguments> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const NormArguments& a) {
        const int warp = isa.block() * warps_per_block + isa.thread() / warp_lanes;
        for (int row = warp; row < a.rows; row += isa.blocks() * warps_per_block) {
            const std::int64_t begin = static_cast<std::int64_t>(row) * a.columns;
            Eight values[norm_chunks];
            float total = 0;
            for_chunks(isa, a.columns, [&](int i, int column) {
                Eight& v = values[i];
                v = row_part<Scalar>(isa, a, row, column);
                drop(a.dropout, row, a.columns, column, v);
                const Eight rest = a.residual != nullptr ? load8<Scalar>(isa, a.residual, begin + column)
                                                         : Eight{{0, 0, 0, 0, 0, 0, 0, 0}};
                BIGBIRD_UNROLL
                for (int j = 0; j < 8; ++j) {
                    // Rounded to the stored type, so that the backward pass sees the values that were
                    // normalized.
                    v.x[j] = isa.template widen<Scalar>(isa.template narrow<Scalar>(v.x[j] + rest.x[j]));
                    total += v.x[j];
                }
                if (a.sum != nullptr) store8<Scalar>(isa, a.sum, begin + column, v);
            });
            const float mean = warp_sum(isa, total) / static_cast<float>(a.columns);
            float squares = 0;
            for_chunks(isa, a.columns, [&](int i, int) {
                BIGBIRD_UNROLL
                for (int j = 0; j < 8; ++j)
                    squares += (values[i].x[j] - mean) * (values[i].x[j] - mean);
            });
            const float variance = warp_sum(isa, squares) / static_cast<float>(a.columns);
            const float inverse = 1.0F / isa.sqrt(variance + a.epsilon);
            for_chunks(isa, a.columns, [&](int i, int column) {
                const Eight weight = load_floats(isa, a.weight + column),
                            bias = load_floats(isa, a.bias + column);
                BIGBIRD_UNROLL
                for (int j = 0; j < 8; ++j)
                    values[i].x[j] = (values[i].x[j] - mean) * inverse * weight.x[j] + bias.x[j];
                store8<Scalar>(isa, a.y, begin + column, values[i]);
            });
            if (isa.lane() == 0 && a.mean != nullptr) {
                a.mean[row] = mean;
                a.inverse[row] = inverse;
            }
        }
    }
};

/// Processes the rows of one warp: d_x, d_sum, and this lane's sums for d_weight and d_bias.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void norm_backward_rows(const Isa& isa, const NormArguments& a, Eight (&d_weight)[norm_chunks],
                                       Eight (&d_bias)[norm_chunks]) {
    const int warp = isa.block() * warps_per_block + isa.thread() / warp_lanes;
    for (int row = warp; row < a.rows; row += a.part_count * warps_per_block) {
        const std::int64_t begin = static_cast<std::int64_t>(row) * a.columns;
        const float mean = a.mean[row], inverse = a.inverse[row];
        Eight slope[norm_chunks], normal[norm_chunks];
        float total = 0, product = 0;
        for_chunks(isa, a.columns, [&](int i, int column) {
            const Eight d_y = load8<Scalar>(isa, a.d_y, begin + column);
            const Eight weight = load_floats(isa, a.weight + column);
            normal[i] = load8<Scalar>(isa, a.sum, begin + column);
            BIGBIRD_UNROLL
            for (int j = 0; j < 8; ++j) {
                normal[i].x[j] = (normal[i].x[j] - mean) * inverse;
                slope[i].x[j] = d_y.x[j] * weight.x[j];
                total += slope[i].x[j];
                product += slope[i].x[j] * normal[i].x[j];
                d_weight[i].x[j] += d_y.x[j] * normal[i].x[j];
                d_bias[i].x[j] += d_y.x[j];
            }
        });
        total = warp_sum(isa, total) / static_cast<float>(a.columns);
        product = warp_sum(isa, product) / static_cast<float>(a.columns);
        for_chunks(isa, a.columns, [&](int i, int column) {
            BIGBIRD_UNROLL
            for (int j = 0; j < 8; ++j)
                slope[i].x[j] = inverse * (slope[i].x[j] - total - normal[i].x[j] * product);
            store8<Scalar>(isa, a.d_sum, begin + column, slope[i]);
            if (a.d_x != nullptr) {
                drop(a.dropout, row, a.columns, column, slope[i]);
                store8<Scalar>(isa, a.d_x, begin + column, slope[i]);
            }
        });
    }
}

/// Grid: part_count thread blocks, with norm_backward_shared(columns) bytes; SumPartsKernel adds their
/// parts. Three blocks keep enough loads in flight for an H200's memory by Little's law.
template <typename Scalar>
struct NormBackwardKernel : KernelShape<NormArguments, threads_per_block, 3> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const NormArguments& a) {
        Eight d_weight[norm_chunks] = {}, d_bias[norm_chunks] = {};
        norm_backward_rows<Scalar>(isa, a, d_weight, d_bias);
        auto* shared = reinterpret_cast<float*>(isa.shared());
        float* mine = shared + isa.thread() / warp_lanes * 2 * a.columns;
        for_chunks(isa, a.columns, [&](int i, int column) {
            BIGBIRD_UNROLL
            for (int j = 0; j < 8; ++j) {
                mine[column + j] = d_weight[i].x[j];
                mine[a.columns + column + j] = d_bias[i].x[j];
            }
        });
        isa.sync_block();
        for (int place = isa.thread(); place < 2 * a.columns; place += threads_per_block) {
            float total = 0;
            BIGBIRD_UNROLL
            for (int warp = 0; warp < warps_per_block; ++warp)
                total += shared[warp * 2 * a.columns + place];
            a.parts[static_cast<std::int64_t>(isa.block()) * 2 * a.columns + place] = total;
        }
    }
};

/// first[i] and second[i] are the sums of column i and columns + i of `parts` rows of 2 columns; without
/// second, of `columns` columns. Each of sum_warps warps adds every sum_warps-th row, then their sums are
/// added in their order. A thread block for each 32 columns, with sum_shared bytes.
struct SumPartsKernel {
    struct Parameters {
        const float* parts = nullptr;
        std::int32_t part_count = 0, columns = 0;
        float *first = nullptr, *second = nullptr;
        BIGBIRD_HOST_DEVICE int width() const { return second != nullptr ? 2 * columns : columns; }
    };
    static constexpr int threads = sum_warps * warp_lanes, resident = 1;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Parameters& p) {
        const int width = p.width(), warp = isa.thread() / warp_lanes, lane = isa.lane();
        const int place = isa.block() * warp_lanes + lane;
        auto* shared = reinterpret_cast<float*>(isa.shared());
        float total = 0;
        for (int part = warp; part < p.part_count && place < width; part += sum_warps)
            total += p.parts[static_cast<std::int64_t>(part) * width + place];
        shared[warp * warp_lanes + lane] = total;
        isa.sync_block();
        if (warp > 0 || place >= width) return;
        BIGBIRD_UNROLL
        for (int other = 1; other < sum_warps; ++other)
            total += shared[other * warp_lanes + lane];
        (place < p.columns ? p.first[place] : p.second[place - p.columns]) = total;
    }
};

/// Running statistics of a row of logits: the maximum, and the sum of 2^((logit - maximum) log2 e). Also
/// whether any logit ranks before the label's; among equal logits the first ranks first.
struct SoftmaxSum {
    float highest = -INFINITY, total = 0;
    bool is_beaten = false;
};

/// 2^((x - highest) log2 e); 0 instead of NaN before the first element.
template <DeviceIsa Isa>
BIGBIRD_DEVICE float softmax_weight(const Isa& isa, float x, float highest) {
    return isa.exp2((x - (highest == -INFINITY ? 0.0F : highest)) * log2_e);
}

/// Statistics of a thread's part of a row: eight adjacent elements per stride of 8 * threads.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE SoftmaxSum sum_of_thread(const Isa& isa, const SoftmaxArguments& a, std::int64_t begin,
                                        int label, float own) {
    SoftmaxSum sum;
    for (int column = isa.thread() * 8; column < a.columns; column += softmax_warps * warp_lanes * 8) {
        const Eight v = load8<Scalar>(isa, a.logits, begin + column);
        float top = sum.highest;
        BIGBIRD_UNROLL
        for (int j = 0; j < 8; ++j) {
            top = isa.max(top, v.x[j]);
            sum.is_beaten = sum.is_beaten || v.x[j] > own || (v.x[j] == own && column + j < label);
        }
        sum.total *= softmax_weight(isa, sum.highest, top);
        BIGBIRD_UNROLL
        for (int j = 0; j < 8; ++j)
            sum.total += softmax_weight(isa, v.x[j], top);
        sum.highest = top;
    }
    return sum;
}

/// Combines the threads' statistics of a row, and returns the result to all threads.
template <DeviceIsa Isa>
BIGBIRD_DEVICE SoftmaxSum sum_of_block(const Isa& isa, const SoftmaxSum& own) {
    auto* shared = reinterpret_cast<float*>(isa.shared());
    float *tops = shared, *totals = shared + softmax_warps, *beaten = shared + 2 * softmax_warps;
    float top = own.highest;
    BIGBIRD_UNROLL
    for (int mask = 1; mask < warp_lanes; mask *= 2)
        top = isa.max(top, isa.shuffle_xor(top, mask));
    const float total = warp_sum(isa, own.total * softmax_weight(isa, own.highest, top));
    const bool is_beaten = isa.ballot(own.is_beaten) != 0;
    if (isa.lane() == 0) {
        const int warp = isa.thread() / warp_lanes;
        tops[warp] = top;
        totals[warp] = total;
        beaten[warp] = is_beaten ? 1.0F : 0.0F;
    }
    isa.sync_block();
    SoftmaxSum sum;
    for (int warp = 0; warp < softmax_warps; ++warp) {
        sum.highest = isa.max(sum.highest, tops[warp]);
        sum.is_beaten = sum.is_beaten || beaten[warp] != 0;
    }
    for (int warp = 0; warp < softmax_warps; ++warp)
        sum.total += totals[warp] * softmax_weight(isa, tops[warp], sum.highest);
    return sum;
}

/// One thread block of softmax_warps warps and softmax_shared bytes per row, which is read twice and written
/// once.
template <typename Scalar>
struct SoftmaxKernel : KernelShape<SoftmaxArguments, softmax_warps * warp_lanes, 3> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const SoftmaxArguments& a) {
        const int row = isa.block(), label = static_cast<int>(a.labels[row]);
        const std::int64_t begin = static_cast<std::int64_t>(row) * a.columns;
        const float own =
            isa.template widen<Scalar>(static_cast<const std::uint16_t*>(a.logits)[begin + label]);
        // After the barrier in sum_of_block(), all threads have read `own`, which is then overwritten.
        const SoftmaxSum sum = sum_of_block(isa, sum_of_thread<Scalar>(isa, a, begin, label, own));
        const float lse = sum.highest * log2_e + isa.log2(sum.total);  // log2 of the sum of e^logit
        if (isa.thread() == 0) {
            constexpr float ln_2 = 0.6931471805599453F;
            a.nats[row] = (isa.log2(sum.total) + (sum.highest - own) * log2_e) * ln_2;
            a.correct[row] = sum.is_beaten ? 0 : 1;
        }
        if (a.differentiate == 0) return;
        for (int column = isa.thread() * 8; column < a.columns; column += softmax_warps * warp_lanes * 8) {
            Eight v = load8<Scalar>(isa, a.logits, begin + column);
            BIGBIRD_UNROLL
            for (int j = 0; j < 8; ++j)
                v.x[j] = isa.exp2(v.x[j] * log2_e - lse) - (column + j == label ? 1.0F : 0.0F);
            store8<Scalar>(isa, a.logits, begin + column, v);
        }
    }
};

/// GELU and its slope: 0.5 x (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3). 0.5 (1 + tanh(u)) is the
/// logistic function of 2 u, which needs only one power of 2 and one division.
struct Gelu {
    float value, slope;
};
template <DeviceIsa Isa>
BIGBIRD_DEVICE Gelu gelu_of(const Isa& isa, float x) {
    constexpr float twice_root = 1.5957691216057308F, cubic = 0.044715F;
    const float square = x * x;
    const float share = isa.divide(1.0F, 1.0F + isa.exp2(-log2_e * twice_root * x * (1.0F + cubic * square)));
    const float slope = x * share * (1.0F - share) * twice_root * (1.0F + 3.0F * cubic * square);
    return {x * share, share + slope};
}

/// Needs a multiple of gelu_strips(columns) thread blocks; each thread always processes the same eight
/// columns.
template <typename Scalar>
struct GeluForwardKernel : KernelShape<GeluArguments> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const GeluArguments& a) {
        const int strips = gelu_strips(a.columns), groups = isa.blocks() / strips;
        const int column = (isa.block() % strips * threads_per_block + isa.thread()) * 8;
        if (column >= a.columns) return;
        const Eight bias = load_floats(isa, a.bias + column);
        for (int row = isa.block() / strips; row < a.rows; row += groups) {
            const std::int64_t begin = static_cast<std::int64_t>(row) * a.columns + column;
            Eight v = load8<Scalar>(isa, a.x, begin);
            BIGBIRD_UNROLL
            for (int j = 0; j < 8; ++j)
                v.x[j] = gelu_of(isa, v.x[j] + bias.x[j]).value;
            store8<Scalar>(isa, a.y, begin, v);
        }
    }
};

/// Grid: gelu_strips(columns) * part_count thread blocks; SumPartsKernel adds their parts.
template <typename Scalar>
struct GeluBackwardKernel : KernelShape<GeluArguments> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const GeluArguments& a) {
        const int strips = gelu_strips(a.columns), part = isa.block() / strips;
        const int column = (isa.block() % strips * threads_per_block + isa.thread()) * 8;
        if (column >= a.columns) return;
        const Eight bias = load_floats(isa, a.bias + column);
        Eight d_bias = {};
        for (int row = part; row < a.rows; row += a.part_count) {
            const std::int64_t begin = static_cast<std::int64_t>(row) * a.columns + column;
            const Eight d_y = load8<Scalar>(isa, a.d_y, begin);
            Eight v = load8<Scalar>(isa, a.x, begin);
            BIGBIRD_UNROLL
            for (int j = 0; j < 8; ++j) {
                v.x[j] = d_y.x[j] * gelu_of(isa, v.x[j] + bias.x[j]).slope;
                d_bias.x[j] += v.x[j];
            }
            store8<Scalar>(isa, a.d_x, begin, v);
        }
        BIGBIRD_UNROLL
        for (int j = 0; j < 8; ++j)
            a.parts[static_cast<std::int64_t>(part) * a.columns + column + j] = d_bias.x[j];
    }
};

}  // namespace bigbird::attention::cuda
