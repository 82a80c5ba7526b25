// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/dropout.hpp"

#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>

namespace bigbird::model {

namespace {

/// SplitMix64's value `counter` of the stream `key`; 64 random bits serve two elements.
std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
    std::uint64_t value = key + 0x9E3779B97F4A7C15ULL * (counter + 1);
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31);
}

template <typename Scalar>
void drop_pairs(const Scalar* in, Scalar* out, std::int64_t first_pair, std::int64_t last_pair,
                std::int64_t size, std::uint64_t key, double probability) {
    using Wide = at::opmath_type<Scalar>;
    const auto threshold = static_cast<std::uint32_t>(probability * 0x1p32);
    const auto scale = static_cast<Wide>(1.0 / (1.0 - probability));
    const auto one = [&](std::uint32_t bits, Scalar x) {
        return bits >= threshold ? static_cast<Scalar>(static_cast<Wide>(x) * scale) : Scalar(0);
    };
    for (std::int64_t pair = first_pair; pair < last_pair; ++pair) {
        const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(pair));
        const std::int64_t i = 2 * pair;
        out[i] = one(static_cast<std::uint32_t>(bits), in[i]);
        if (i + 1 < size) out[i + 1] = one(static_cast<std::uint32_t>(bits >> 32), in[i + 1]);
    }
}

at::Tensor drop_on_cpu(const at::Tensor& x, const std::vector<std::int64_t>& keys, double probability) {
    at::Tensor out = at::empty_like(x);
    const std::int64_t size = x.numel() / x.size(0), pairs = (size + 1) / 2;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, x.scalar_type(), "dropout", [&] {
        const scalar_t* in = x.const_data_ptr<scalar_t>();
        scalar_t* result = out.mutable_data_ptr<scalar_t>();
        at::parallel_for(0, x.size(0) * pairs, 16'384, [&](std::int64_t begin, std::int64_t end) {
            while (begin < end) {
                const std::int64_t row = begin / pairs, last = std::min(end, (row + 1) * pairs);
                drop_pairs(in + row * size, result + row * size, begin - row * pairs, last - row * pairs,
                           size, static_cast<std::uint64_t>(keys[static_cast<std::size_t>(row)]),
                           probability);
                begin = last;
            }
        });
    });
    return out;
}

at::Tensor drop_on_device(const at::Tensor& x, const std::vector<std::int64_t>& keys, double probability) {
    at::Generator generator = at::globalContext().defaultGenerator(x.device()).clone();
    at::Tensor factors = at::empty_like(x);
    for (std::int64_t row = 0; row < x.size(0); ++row) {
        generator.set_current_seed(static_cast<std::uint64_t>(keys[static_cast<std::size_t>(row)]));
        factors.select(0, row).bernoulli_(1.0 - probability, generator);
    }
    return factors.mul_(x).mul_(1.0 / (1.0 - probability));
}

at::Tensor drop(const at::Tensor& x, const std::vector<std::int64_t>& keys, double probability) {
    const at::Tensor contiguous = x.contiguous();
    return x.device().is_cpu() ? drop_on_cpu(contiguous, keys, probability)
                               : drop_on_device(contiguous, keys, probability);
}

}  // namespace

std::vector<std::int64_t> dropout_streams(std::int64_t rows, const DropoutKey& key, const DropoutSite& site) {
    const Rng step = Rng(key.seed).split("dropout").split(static_cast<std::uint64_t>(key.step));
    std::vector<std::int64_t> keys;
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t number =
            key.samples.empty() ? key.first_sample + row : key.samples[static_cast<std::size_t>(row)];
        const Rng sample = step.split(static_cast<std::uint64_t>(number));
        const Rng layer = sample.split(static_cast<std::uint64_t>(site.place))
                              .split(static_cast<std::uint64_t>(site.layer));
        keys.push_back(static_cast<std::int64_t>(layer.key()));
    }
    return keys;
}

at::Tensor dropout(const at::Tensor& x, double probability, const DropoutKey& key, const DropoutSite& site) {
    if (probability == 0 || x.numel() == 0) return x;
    const std::vector<std::int64_t> keys = dropout_streams(x.size(0), key, site);
    const at::Tensor y = drop(x.detach(), keys, probability);
    if (at::GradMode::is_enabled()) {
        set_gradient(
            {y}, {x},
            [keys, probability](const Tensors& gradients) -> Tensors {
                return {drop(gradients[0], keys, probability)};
            });
    }
    return y;
}

at::Tensor dropout_factors(at::IntArrayRef shape, const at::TensorOptions& options, double probability,
                           const DropoutKey& key, const DropoutSite& site) {
    return drop(at::ones(shape, options), dropout_streams(shape[0], key, site), probability);
}

}  // namespace bigbird::model
