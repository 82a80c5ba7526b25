// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/own_gradient.hpp"

#include "bigbird/core/check.hpp"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <memory>
#include <utility>

namespace bigbird::model {

namespace {

class OwnGradient : public torch::autograd::Node {
public:
    explicit OwnGradient(Slopes slopes) : slopes_(std::move(slopes)) {}
    Tensors apply(Tensors&& gradients) override {
        BIGBIRD_EXPECTS(slopes_ != nullptr, "gradients were taken before, and freed what they need");
        for (std::size_t i = 0; i < gradients.size(); ++i)
            if (!gradients[i].defined()) gradients[i] = input_metadata(i).zeros_like();
        return slopes_(gradients);
    }
    void release_variables() override { slopes_ = nullptr; }

private:
    Slopes slopes_;
};

}  // namespace

void set_gradient(const Tensors& results, const Tensors& inputs, Slopes slopes) {
    if (!torch::autograd::any_variable_requires_grad(inputs)) return;
    const std::shared_ptr<torch::autograd::Node> node(new OwnGradient(std::move(slopes)),
                                                      torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(inputs));
    torch::autograd::set_history(results, node);
}

}  // namespace bigbird::model
