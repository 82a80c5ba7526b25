// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/word_vectors.hpp"

#include <ATen/ATen.h>

#include <utility>

namespace bigbird::model {

namespace {

at::Tensor& own() {
    thread_local at::Tensor vectors;
    return vectors;
}

}  // namespace

WordVectors::WordVectors(at::Tensor vectors) : before_(std::exchange(own(), std::move(vectors))) {}

WordVectors::~WordVectors() {
    own() = before_;
}

const at::Tensor& WordVectors::current() {
    return own();
}

}  // namespace bigbird::model
