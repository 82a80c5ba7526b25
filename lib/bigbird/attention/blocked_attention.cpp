// SPDX-License-Identifier: Apache-2.0
// Appendix D of the paper: key blocks are gathered for each query block, so that everything is a batched
// product of small dense matrices and no length x length matrix ever exists. Global query rows are a few
// dense rows. Only q, k and v are kept for the backward pass, which recomputes the probabilities. On the CPU
// a pass takes one head per thread and a few query blocks at once, so that the gathered blocks stay in the
// threads' caches. Elsewhere it takes as many samples as a gigabyte holds. Only the calling thread makes
// tensors, in its current grad mode.
#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/torch_threads.hpp"

#include <ATen/ATen.h>
#include <ATen/OpMathType.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace bigbird::attention {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The inputs of a pass; all but q, k and v are constants of the batch.
struct Batch {
    at::Tensor q, k, v;       // (batch, heads, length, head_dim)
    at::Tensor padding;       // (batch, blocks, block): 0 or padding_bias
    at::Tensor query_factor;  // (batch, length, 1): 1 where real, 0 where padded
    LayerLayout layout;
};

/// Some samples and some heads of a batch: `groups` = samples * heads.
struct Slice {
    std::int64_t first_sample, samples, first_head, heads;
    std::int64_t groups() const { return samples * heads; }
};

double scale_of(const Batch& batch) {
    return 1.0 / std::sqrt(static_cast<double>(batch.q.size(3)));
}

/// (batch, heads, length, head_dim) -> the slice's view of it, (samples, heads, length, head_dim).
at::Tensor cut(const at::Tensor& x, const Slice& slice) {
    return x.narrow(0, slice.first_sample, slice.samples).narrow(1, slice.first_head, slice.heads);
}

/// A slice in blocks: (groups, blocks, block, head_dim).
at::Tensor in_blocks(const at::Tensor& x, const Slice& slice, const LayerLayout& layout) {
    return cut(x, slice).reshape({slice.groups(), layout.blocks, layout.block_size, x.size(3)}).contiguous();
}

/// Which key blocks some sparse rows of a slice attend.
struct Attended {
    at::Tensor rows;     // (rows) int64 query blocks
    at::Tensor columns;  // (groups * rows * width) int64, counting blocks through all groups
    at::Tensor bias;     // (groups * rows, 1 or block, width * block)
};

Attended attended(const Batch& batch, const Slice& slice, std::int64_t first_row, std::int64_t rows) {
    const LayerLayout& layout = batch.layout;
    const std::int64_t width = layout.columns.size(2), block = layout.block_size;
    const auto of_slice = [&](const at::Tensor& x) {  // (heads, rows, width)
        return x.narrow(0, slice.first_head, slice.heads).narrow(1, first_row, rows);
    };
    const at::Tensor columns = of_slice(layout.columns);
    const at::Tensor offsets = at::arange(slice.groups(), columns.options()).mul_(layout.blocks);
    const at::Tensor of_keys = batch.padding.narrow(0, slice.first_sample, slice.samples)
                                   .index_select(1, columns.reshape(-1))
                                   .view({slice.samples, slice.heads, rows, width, block});
    at::Tensor bias = (of_keys + of_slice(layout.bias).to(of_keys.scalar_type()).unsqueeze(-1))
                          .view({slice.samples, slice.heads, rows, 1, width * block});
    if (layout.mask_index.defined()) {
        const at::Tensor of_tokens =  // (heads, rows, block, width, block)
            layout.mask_bias.to(bias.scalar_type())
                .index_select(0, of_slice(layout.mask_index).reshape(-1))
                .view({slice.heads, rows, width, block, block})
                .transpose(2, 3);
        bias = bias + of_tokens.reshape({slice.heads, rows, block, width * block});
    }
    return {layout.sparse_rows.narrow(0, first_row, rows),
            (columns + offsets.view({slice.samples, slice.heads, 1, 1})).view(-1),
            bias.view({slice.groups() * rows, -1, width * block})};
}

/// (groups, blocks, block, head_dim) -> the attended blocks, (groups * rows, width * block, head_dim).
at::Tensor gather(const at::Tensor& blocks, const Attended& where, std::int64_t width) {
    const std::int64_t block = blocks.size(2), head_dim = blocks.size(3);
    return blocks.view({-1, block * head_dim})
        .index_select(0, where.columns)
        .view({-1, width * block, head_dim});
}

/// Adds each row of source (groups * n, size), in order, to the target row that `rows` names. Different
/// groups never name the same row.
template <typename Number>
void add_rows(const at::Tensor& target, const at::Tensor& rows, const at::Tensor& source,
              std::int64_t groups) {
    const std::int64_t size = source.size(1), of_group = source.size(0) / groups;
    auto* const to = target.mutable_data_ptr<Number>();
    const auto* const from = source.const_data_ptr<Number>();
    const auto* const row = rows.const_data_ptr<std::int64_t>();
    at::parallel_for(0, groups, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin * of_group; i < end * of_group; ++i)
            std::transform(from + i * size, from + (i + 1) * size, to + row[i] * size, to + row[i] * size,
                           std::plus<>());
    });
}

/// The opposite of gather(): adds the gathered blocks to their sources, in the target's type. The order of
/// summation is fixed on every device.
void scatter_add(const at::Tensor& blocks, const Attended& where, const at::Tensor& gathered) {
    const at::Tensor target = blocks.view({-1, blocks.size(2) * blocks.size(3)});
    const at::Tensor source = gathered.reshape({-1, target.size(1)}).to(target.scalar_type()).contiguous();
    if (!target.device().is_cpu())
        target.index_put_({where.columns}, source, true);
    else if (target.scalar_type() == at::kDouble)
        add_rows<double>(target, where.columns, source, blocks.size(0));
    else
        add_rows<float>(target, where.columns, source, blocks.size(0));
}

/// Selects query blocks `rows`: (groups, blocks, block, head_dim) -> (groups * rows, block, head_dim).
at::Tensor take_rows(const at::Tensor& blocks, const at::Tensor& rows) {
    return blocks.index_select(1, rows).view({-1, blocks.size(2), blocks.size(3)});
}

at::Tensor sparse_probabilities(const at::Tensor& scaled_rows, const at::Tensor& keys,
                                const at::Tensor& bias) {
    const at::Tensor scores =
        at::baddbmm(bias.expand({-1, scaled_rows.size(1), -1}), scaled_rows, keys.transpose(1, 2));
    return at::softmax(scores, -1);  // (groups * rows, block, width * block)
}

/// The dense rows of a slice: their queries (groups, dense * block, head_dim) and probabilities (…, length).
struct DenseRows {
    at::Tensor queries, keys, probabilities;
};

DenseRows dense_rows(const Batch& batch, const Slice& slice, const at::Tensor& q, const at::Tensor& k) {
    const std::int64_t head_dim = q.size(3), length = q.size(1) * q.size(2);
    DenseRows dense;
    dense.queries =
        q.index_select(1, batch.layout.dense_rows).view({slice.groups(), -1, head_dim}) * scale_of(batch);
    dense.keys = k.view({slice.groups(), length, head_dim});
    const at::Tensor bias = batch.padding.narrow(0, slice.first_sample, slice.samples)
                                .view({slice.samples, 1, 1, length})
                                .expand({-1, slice.heads, dense.queries.size(1), -1})
                                .reshape({slice.groups(), dense.queries.size(1), length});
    dense.probabilities = at::softmax(at::baddbmm(bias, dense.queries, dense.keys.transpose(1, 2)), -1);
    return dense;
}

/// Copies (groups, blocks, block, head_dim) back to the slice's position in (batch, heads, length, head_dim).
void put(const at::Tensor& target, const Slice& slice, const at::Tensor& blocks) {
    const at::Tensor place = cut(target, slice);
    place.copy_(blocks.view(place.sizes()));
}

template <typename Body>
void for_row_chunks(const Batch& batch, std::int64_t rows_at_once, Body&& body) {
    const std::int64_t rows = batch.layout.sparse_rows.size(0);
    for (std::int64_t first = 0; first < rows; first += rows_at_once)
        body(first, std::min(rows_at_once, rows - first));
}

void forward_slice(const Batch& batch, const Slice& slice, std::int64_t rows_at_once, const at::Tensor& out) {
    const LayerLayout& layout = batch.layout;
    const at::Tensor q = in_blocks(batch.q, slice, layout), k = in_blocks(batch.k, slice, layout),
                     v = in_blocks(batch.v, slice, layout);
    const std::int64_t width = layout.columns.size(2);
    at::Tensor context = at::empty_like(q);  // (groups, blocks, block, head_dim)
    for_row_chunks(batch, rows_at_once, [&](std::int64_t first, std::int64_t rows) {
        const Attended where = attended(batch, slice, first, rows);
        const at::Tensor probabilities = sparse_probabilities(take_rows(q, where.rows) * scale_of(batch),
                                                              gather(k, where, width), where.bias);
        const at::Tensor of_rows = at::bmm(probabilities, gather(v, where, width));
        context.index_copy_(1, where.rows, of_rows.view({slice.groups(), rows, q.size(2), q.size(3)}));
    });
    if (layout.dense_rows.size(0) > 0) {
        const DenseRows dense = dense_rows(batch, slice, q, k);
        const at::Tensor of_rows = at::bmm(dense.probabilities, v.view(dense.keys.sizes()));
        context.index_copy_(1, layout.dense_rows, of_rows.view({slice.groups(), -1, q.size(2), q.size(3)}));
    }
    put(out, slice, context);
}

struct Gradients {
    at::Tensor q, k, v;  // like the inputs
};

void backward_slice(const Batch& batch, const Slice& slice, std::int64_t rows_at_once,
                    const at::Tensor& gradient, const Gradients& out) {
    const LayerLayout& layout = batch.layout;
    const at::Tensor q = in_blocks(batch.q, slice, layout), k = in_blocks(batch.k, slice, layout),
                     v = in_blocks(batch.v, slice, layout), d_context = in_blocks(gradient, slice, layout);
    const double scale = scale_of(batch);
    const std::int64_t width = layout.columns.size(2);
    // Global key blocks get a share from every row: too many for a sum in 16 bits.
    const auto sum_type = at::toOpMathType(k.scalar_type());
    const at::Tensor dq = at::empty_like(q);
    const at::Tensor dk = at::zeros_like(k, sum_type), dv = at::zeros_like(v, sum_type);
    for_row_chunks(batch, rows_at_once, [&](std::int64_t first, std::int64_t rows) {
        const Attended where = attended(batch, slice, first, rows);
        const at::Tensor queries = take_rows(q, where.rows) * scale, keys = gather(k, where, width);
        const at::Tensor d_rows = take_rows(d_context, where.rows);
        const at::Tensor p = sparse_probabilities(queries, keys, where.bias);
        scatter_add(dv, where, at::bmm(p.transpose(1, 2), d_rows));
        const at::Tensor d_p = at::bmm(d_rows, gather(v, where, width).transpose(1, 2));
        const at::Tensor d_scores = at::_softmax_backward_data(d_p, p, -1, p.scalar_type());
        scatter_add(dk, where, at::bmm(d_scores.transpose(1, 2), queries));
        const at::Tensor d_queries = at::bmm(d_scores, keys) * scale;
        dq.index_copy_(1, where.rows, d_queries.view({slice.groups(), rows, q.size(2), q.size(3)}));
    });
    if (layout.dense_rows.size(0) > 0) {
        const DenseRows dense = dense_rows(batch, slice, q, k);
        const at::Tensor d_rows = d_context.index_select(1, layout.dense_rows).view(dense.queries.sizes());
        dv.view(dense.keys.sizes()).add_(at::bmm(dense.probabilities.transpose(1, 2), d_rows));
        const at::Tensor d_p = at::bmm(d_rows, v.view(dense.keys.sizes()).transpose(1, 2));
        const at::Tensor d_scores =
            at::_softmax_backward_data(d_p, dense.probabilities, -1, d_p.scalar_type());
        dk.view(dense.keys.sizes()).add_(at::bmm(d_scores.transpose(1, 2), dense.queries));
        const at::Tensor d_queries = at::bmm(d_scores, dense.keys) * scale;
        dq.index_copy_(1, layout.dense_rows, d_queries.view({slice.groups(), -1, q.size(2), q.size(3)}));
    }
    put(out.q, slice, dq);
    put(out.k, slice, dk);
    put(out.v, slice, dv);
}

/// Calls body(slice, rows_at_once) for slices that make up the batch. `rows_at_once`: of the sparse rows.
template <typename Body>
void for_slices(const Batch& batch, Body&& body) {
    const std::int64_t samples = batch.q.size(0), heads = batch.q.size(1), head_dim = batch.q.size(3);
    const std::int64_t rows = batch.layout.sparse_rows.size(0), block = batch.layout.block_size;
    // Elements that a row of one group gathers and scores: keys, values, probabilities and their gradients.
    const std::int64_t row_elements = batch.layout.columns.size(2) * block * (3 * head_dim + 2 * block);
    const std::int64_t threads = at::get_num_threads();
    Slice most{0, (std::int64_t{1} << 28) / (row_elements * rows * heads), 0, heads};
    std::int64_t rows_at_once = rows;
    if (batch.q.device().is_cpu()) {
        most = {0, threads / heads, 0, std::min(heads, threads)};
        rows_at_once = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(blocked_elements_at_once) / row_elements, 1, rows);
    }
    most.samples = std::clamp<std::int64_t>(most.samples, 1, samples);
    for (std::int64_t sample = 0; sample < samples; sample += most.samples) {
        for (std::int64_t head = 0; head < heads; head += most.heads) {
            body(Slice{sample, std::min(most.samples, samples - sample), head,
                       std::min(most.heads, heads - head)},
                 rows_at_once);
        }
    }
}

Batch make_batch(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& key_mask,
                 LayerLayout layout) {
    const at::Tensor padding =
        key_padding_bias(key_mask, q.scalar_type()).view({q.size(0), layout.blocks, layout.block_size});
    return {q.detach(),       k.detach(), v.detach(), padding, key_mask.to(q.scalar_type()).unsqueeze(-1),
            std::move(layout)};
}

/// Carries a layout from the forward to the backward pass; its tensors are shared.
struct LayoutHolder : torch::CustomClassHolder {
    explicit LayoutHolder(LayerLayout held) : layout(std::move(held)) {}
    LayerLayout layout;
};

class BlockedAttention : public torch::autograd::Function<BlockedAttention> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const at::Tensor& key_mask, const LayerLayout& layout) {
        const Batch batch = make_batch(q, k, v, key_mask, layout);
        const at::Tensor out = empty_result(q);
        for_slices(batch, [&](const Slice& slice, std::int64_t rows_at_once) {
            forward_slice(batch, slice, rows_at_once, out);
        });
        context->save_for_backward({q, k, v, key_mask});
        context->saved_data["layout"] = c10::IValue::make_capsule(c10::make_intrusive<LayoutHolder>(layout));
        return out.mul_(batch.query_factor.unsqueeze(1));
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
        const variable_list saved = context->get_saved_variables();
        const auto holder =
            c10::static_intrusive_pointer_cast<LayoutHolder>(context->saved_data["layout"].toCapsule());
        const Batch batch = make_batch(saved[0], saved[1], saved[2], saved[3], holder->layout);
        const at::Tensor gradient = gradients[0] * batch.query_factor.unsqueeze(1);
        const Gradients out{empty_result(saved[0]), empty_result(saved[1]), empty_result(saved[2])};
        for_slices(batch, [&](const Slice& slice, std::int64_t rows_at_once) {
            backward_slice(batch, slice, rows_at_once, gradient, out);
        });
        return {out.q, out.k, out.v, at::Tensor(), at::Tensor()};
    }
};

}  // namespace

at::Tensor blocked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& key_mask, const LayerLayout& layout) {
    return BlockedAttention::apply(q, k, v, key_mask, layout);
}

}  // namespace bigbird::attention
