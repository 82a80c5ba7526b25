// SPDX-License-Identifier: Apache-2.0
#include "support/schedule_reference.hpp"

#include "bigbird/attention/pattern/biases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace bigbird::attention::cuda {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

/// A head of a sample, whose tokens are addressed by tile and place.
class Head {
public:
    Head(const Schedule& schedule, const ReferenceInput& input, int sample, int head)
        : schedule_(schedule), input_(input), sample_(sample), head_(head) {}

    int tokens(int tile) const { return tokens_of(schedule_.tiling, tile); }
    std::size_t token(int tile, int place) const {
        return at(std::int64_t{sample_} * schedule_.tiling.length + first_token(schedule_.tiling, tile) +
                  place);
    }
    /// The first number of a token's row in q, k, v and the like.
    std::size_t row(int tile, int place) const {
        const std::int64_t group = std::int64_t{sample_} * schedule_.heads + head_;
        return at((group * schedule_.tiling.length + first_token(schedule_.tiling, tile) + place) *
                  input_.head_dim);
    }
    std::size_t lse_place(int tile, int place) const {
        const std::int64_t group = std::int64_t{sample_} * schedule_.heads + head_;
        return at((group * schedule_.tiling.tiles + tile) * tile_tokens + place);
    }
    bool has_gradient(int tile, int place) const {
        return !input_.zero_padded_queries || input_.key_mask[token(tile, place)] != 0;
    }
    double dot(const std::vector<double>& a, std::size_t i, const std::vector<double>& b,
               std::size_t j) const {
        double sum = 0;
        for (std::size_t d = 0; d < at(input_.head_dim); ++d) {
            sum += a[i + d] * b[j + d];
        }
        return sum;
    }
    double scale() const { return 1.0 / std::sqrt(static_cast<double>(input_.head_dim)); }

    /// log2 of the weight of a key for a query, before it is normalised.
    double score(int query_tile, int query, int key_tile, int key, std::int32_t place) const {
        const Tiling& tiling = schedule_.tiling;
        const int side = tiling.blocks_per_tile;
        const int pair = query / tiling.block % side * side + key / tiling.block % side;
        const double bias = schedule_.biases[at(place * side * side + pair)];
        const double padding = input_.key_mask[token(key_tile, key)] != 0 ? 0 : padding_bias;
        const double product = dot(input_.q, row(query_tile, query), input_.k, row(key_tile, key));
        return (product * scale() + padding) * std::numbers::log2e + bias;
    }

private:
    const Schedule& schedule_;
    const ReferenceInput& input_;
    int sample_, head_;
};

/// What a unit knows of one query: the sum so far, weighted relative to 2^highest.
struct Running {
    double highest = -infinity, total = 0;
    std::vector<double> sum;

    void add(double score, double weight, const double* values) {
        const double next = std::max(highest, score);
        const double old = highest == -infinity ? 0 : std::exp2(highest - next);
        const double share = score == -infinity ? 0 : weight * std::exp2(score - next);
        total = total * old + share;
        for (std::size_t d = 0; d < sum.size(); ++d) {
            sum[d] = sum[d] * old + share * values[d];
        }
        highest = next;
    }
    double lse() const { return total > 0 ? highest + std::log2(total) : -infinity; }
};

/// Calls body(entry, bias) for the entries of a unit that its `side`-th tile attends.
template <typename Body>
void for_entries(const WorkList& work, const Unit& unit, int side, Body&& body) {
    for (int i = unit.first; i < unit.first + unit.count; ++i) {
        const Entry& entry = work.entries[at(i)];
        if (entry.bias[side] >= 0) {
            body(entry.tile, entry.bias[side]);
        }
    }
}

/// Calls body(unit, side) for every tile of every unit.
template <typename Body>
void for_tiles(const WorkList& work, Body&& body) {
    for (const Unit& unit : work.units) {
        for (int side = 0; side < 2; ++side) {
            if (unit.tile[side] >= 0) {
                body(unit, side);
            }
        }
    }
}

std::vector<Running> forward_unit(const Head& head, const Schedule& schedule, const ReferenceInput& input,
                                  const Unit& unit, int side) {
    const int tile = unit.tile[side];
    std::vector<Running> rows(at(head.tokens(tile)));
    for (Running& row : rows) {
        row.sum.assign(at(input.head_dim), 0);
    }
    for_entries(schedule.queries, unit, side, [&](int key_tile, std::int32_t bias) {
        for (int key = 0; key < head.tokens(key_tile); ++key) {
            for (int query = 0; query < head.tokens(tile); ++query) {
                rows[at(query)].add(head.score(tile, query, key_tile, key, bias), 1.0,
                                    input.v.data() + head.row(key_tile, key));
            }
        }
    });
    return rows;
}

void finish(const Head& head, int tile, const std::vector<Running>& rows, ReferenceOutput& result) {
    for (int query = 0; query < static_cast<int>(rows.size()); ++query) {
        const Running& row = rows[at(query)];
        if (!head.has_gradient(tile, query) || row.total == 0) {
            continue;
        }
        result.lse[head.lse_place(tile, query)] = row.lse();
        for (std::size_t d = 0; d < row.sum.size(); ++d) {
            result.out[head.row(tile, query) + d] = row.sum[d] / row.total;
        }
    }
}

/// Joins the parts of a cut list by their log-sums.
std::vector<Running> combine(const std::vector<std::vector<Running>>& slots, const Sum& sum) {
    std::vector<Running> rows = slots[at(sum.first)];
    for (Running& row : rows) {
        row = {-infinity, 0, std::vector<double>(row.sum.size(), 0)};
    }
    for (int part = sum.first; part < sum.first + sum.count; ++part) {
        for (std::size_t query = 0; query < rows.size(); ++query) {
            const Running& of_part = slots[at(part)][query];
            std::vector<double> mean = of_part.sum;
            for (double& value : mean) {
                value = of_part.total > 0 ? value / of_part.total : 0;
            }
            rows[query].add(of_part.lse(), 1.0, mean.data());
        }
    }
    return rows;
}

/// The probability of a key for a query, and the gradient of its score.
struct Pair {
    double probability, d_score;
};

Pair backward_pair(const Head& head, const ReferenceInput& input, const ReferenceOutput& forward,
                   const std::vector<double>& d_out, int query_tile, int query, int key_tile, int key,
                   std::int32_t bias) {
    const std::size_t q_row = head.row(query_tile, query);
    const double lse = forward.lse[head.lse_place(query_tile, query)];
    const double probability = std::exp2(head.score(query_tile, query, key_tile, key, bias) - lse);
    const double d_probability = head.dot(d_out, q_row, input.v, head.row(key_tile, key));
    const double delta = head.dot(d_out, q_row, forward.out, q_row);
    return {probability, probability * (d_probability - delta) * head.scale()};
}

void add_row(std::vector<double>& to, std::size_t i, double factor, const std::vector<double>& from,
             std::size_t j, int size) {
    for (std::size_t d = 0; d < at(size); ++d) {
        to[i + d] += factor * from[j + d];
    }
}

}  // namespace

ReferenceOutput reference_forward(const Schedule& schedule, const ReferenceInput& input) {
    ReferenceOutput result;
    result.out.assign(input.q.size(), 0);
    result.lse.assign(at(std::int64_t{input.samples} * schedule.heads * schedule.tiling.tiles * tile_tokens),
                      infinity);
    for (int sample = 0; sample < input.samples; ++sample) {
        std::vector<std::vector<Running>> slots(at(schedule.queries.slots));
        for_tiles(schedule.queries, [&](const Unit& unit, int side) {
            const Head head(schedule, input, sample, unit.head);
            std::vector<Running> rows = forward_unit(head, schedule, input, unit, side);
            if (unit.slot[side] < 0) {
                finish(head, unit.tile[side], rows, result);
            } else {
                slots[at(unit.slot[side])] = std::move(rows);
            }
        });
        for (const Sum& sum : schedule.queries.sums) {
            finish(Head(schedule, input, sample, sum.head), sum.tile, combine(slots, sum), result);
        }
    }
    return result;
}

ReferenceGradients reference_backward(const Schedule& schedule, const ReferenceInput& input,
                                      const ReferenceOutput& forward, const std::vector<double>& d_out) {
    ReferenceGradients result;
    result.dq.assign(input.q.size(), 0);
    result.dk = result.dv = result.dq;
    const int size = input.head_dim;
    for (int sample = 0; sample < input.samples; ++sample) {
        for_tiles(schedule.queries, [&](const Unit& unit, int side) {
            const Head head(schedule, input, sample, unit.head);
            const int tile = unit.tile[side];
            for_entries(schedule.queries, unit, side, [&](int other, std::int32_t bias) {
                for (int query = 0; query < head.tokens(tile); ++query) {
                    for (int key = 0; key < head.tokens(other); ++key) {
                        const Pair pair =
                            backward_pair(head, input, forward, d_out, tile, query, other, key, bias);
                        add_row(result.dq, head.row(tile, query), pair.d_score, input.k, head.row(other, key),
                                size);
                    }
                }
            });
        });
        for_tiles(schedule.keys, [&](const Unit& unit, int side) {
            const Head head(schedule, input, sample, unit.head);
            const int tile = unit.tile[side];
            for_entries(schedule.keys, unit, side, [&](int other, std::int32_t bias) {
                for (int key = 0; key < head.tokens(tile); ++key) {
                    for (int query = 0; query < head.tokens(other); ++query) {
                        const Pair pair =
                            backward_pair(head, input, forward, d_out, other, query, tile, key, bias);
                        add_row(result.dv, head.row(tile, key), pair.probability, d_out,
                                head.row(other, query), size);
                        add_row(result.dk, head.row(tile, key), pair.d_score, input.q, head.row(other, query),
                                size);
                    }
                }
            });
        });
    }
    return result;
}

}  // namespace bigbird::attention::cuda
