// SPDX-License-Identifier: Apache-2.0
// What ThreadSanitizer has to be told in programs with LibTorch, which is not compiled with it.
#include <dlfcn.h>

/// What LibTorch reads and writes is not looked at, for its locks are not all known.
extern "C" [[gnu::visibility("default"), gnu::no_sanitize("thread")]] const char* __tsan_default_options() {
    return "ignore_noninstrumented_modules=1";
}

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

struct Region {
    void (*body)(void*);
    void* data;
    /// Places of their own, or a thread that ends would come before one that begins later.
    alignas(16) char begun = 0;
    alignas(16) char ended = 0;
};

void run(void* pointer) {
    auto* const region = static_cast<Region*>(pointer);
    __tsan_acquire(&region->begun);
    region->body(region->data);
    __tsan_release(&region->ended);
}

}  // namespace

/// Stands before the function of OpenMP's runtime that every `#pragma omp parallel` of g++ calls, LibTorch's
/// too. The team begins after what the caller did, and what the caller does next comes after all of the team.
extern "C" [[gnu::visibility("default")]] void GOMP_parallel(void (*body)(void*), void* data,
                                                             unsigned threads, unsigned flags) {
    using Function = void (*)(void (*)(void*), void*, unsigned, unsigned);
    static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "GOMP_parallel"));
    Region region{body, data};
    __tsan_release(&region.begun);
    next(run, &region, threads, flags);
    __tsan_acquire(&region.ended);
}
