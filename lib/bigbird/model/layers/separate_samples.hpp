// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird::model {

/// While an object exists, linear layers on this thread compute each sample of (batch, length, in) on a CPU
/// by a call of its own, so that its bits do not depend on the number of samples either.
class SeparateSamples {
public:
    SeparateSamples();
    ~SeparateSamples();
    SeparateSamples(const SeparateSamples&) = delete;
    SeparateSamples& operator=(const SeparateSamples&) = delete;

private:
    bool before_;
};

}  // namespace bigbird::model
