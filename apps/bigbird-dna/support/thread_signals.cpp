// SPDX-License-Identifier: Apache-2.0
#include "support/thread_signals.hpp"

#include "bigbird/core/interrupt.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <csignal>

namespace {

std::atomic<bool> is_asked_for{false};

using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

}  // namespace

/// Stands before the C library's function of this name, for shared libraries too: who starts a thread calls
/// this one, but for what looks up the C library's by itself, and for timer_create(). A thread begins with
/// the signals held back that its creator holds back.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread,
                                                             const pthread_attr_t* attributes,
                                                             void* (*body)(void*), void* argument) noexcept {
    static auto* const create = reinterpret_cast<Create*>(::dlsym(RTLD_NEXT, "pthread_create"));
    if (!is_asked_for.load()) {
        return create(thread, attributes, body, argument);
    }
    sigset_t signals, before;
    ::sigemptyset(&signals);
    for (const int signal : bigbird::stop_signals) {
        ::sigaddset(&signals, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals, &before);
    const int result = create(thread, attributes, body, argument);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result;
}

namespace bigbird::cli {

void hold_signals_in_new_threads() noexcept {
    is_asked_for.store(true);
}

}  // namespace bigbird::cli
