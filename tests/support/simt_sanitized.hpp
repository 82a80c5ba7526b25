// SPDX-License-Identifier: Apache-2.0
// Fibers, as ThreadSanitizer has to be told of them.
#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace bigbird::testing {

/// While it lives, ThreadSanitizer counts calls and returns for itself. It counts by thread, but fibers that
/// are given up never return.
class CallsOfFibers {
public:
#ifdef __SANITIZE_THREAD__
    __attribute__((no_sanitize("thread"))) CallsOfFibers()
        : before_(__tsan_get_current_fiber()), own_(__tsan_create_fiber(0)) {
        __tsan_switch_to_fiber(own_, 0);
    }
    __attribute__((no_sanitize("thread"))) ~CallsOfFibers() {
        __tsan_switch_to_fiber(before_, 0);
        __tsan_destroy_fiber(own_);
    }
    CallsOfFibers(const CallsOfFibers&) = delete;
    CallsOfFibers& operator=(const CallsOfFibers&) = delete;

private:
    void *before_, *own_;
#else
    CallsOfFibers() {}
#endif
};

}  // namespace bigbird::testing
