// SPDX-License-Identifier: Apache-2.0
// OpenMP's parallel regions, as ThreadSanitizer has to be told of them: LibTorch's OpenMP runtime is not
// compiled with it, so that it sees no order between what a region does and what comes before and after.
#include <dlfcn.h>

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

struct Region {
    void (*body)(void*);
    void* data;
};

void run(void* pointer) {
    __tsan_acquire(pointer);
    auto* const region = static_cast<Region*>(pointer);
    region->body(region->data);
    __tsan_release(pointer);
}

}  // namespace

/// Stands before the runtime's function, which every `#pragma omp parallel` of g++ calls, LibTorch's too. The
/// team begins after what the caller did, and what the caller does next comes after all of the team.
extern "C" [[gnu::visibility("default")]] void GOMP_parallel(void (*body)(void*), void* data,
                                                             unsigned threads, unsigned flags) {
    using Function = void (*)(void (*)(void*), void*, unsigned, unsigned);
    static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "GOMP_parallel"));
    Region region{body, data};
    __tsan_release(&region);
    next(run, &region, threads, flags);
    __tsan_acquire(&region);
}
