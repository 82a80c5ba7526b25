// SPDX-License-Identifier: Apache-2.0
// Filters of system calls: Linux, Documentation/userspace-api/seccomp_filter.rst.
#include "bigbird/core/system/confinement.hpp"

#if defined(__x86_64__)
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#endif

namespace bigbird {

#if defined(__x86_64__)

namespace {

/// What reading, memory and the process's end need.
constexpr std::array allowed{SYS_read,          SYS_readv,        SYS_pread64,
                             SYS_preadv,        SYS_lseek,        SYS_fstat,
                             SYS_stat,          SYS_newfstatat,   SYS_statx,
                             SYS_access,        SYS_faccessat,    SYS_faccessat2,
                             SYS_readlink,      SYS_getcwd,       SYS_close,
                             SYS_fcntl,         SYS_flock,        SYS_fadvise64,
                             SYS_mmap,          SYS_munmap,       SYS_mremap,
                             SYS_mprotect,      SYS_madvise,      SYS_brk,
                             SYS_futex,         SYS_poll,         SYS_sched_yield,
                             SYS_clock_gettime, SYS_gettimeofday, SYS_clock_nanosleep,
                             SYS_getrandom,     SYS_getpid,       SYS_gettid,
                             SYS_tgkill,        SYS_rt_sigaction, SYS_rt_sigprocmask,
                             SYS_sigaltstack,   SYS_rt_sigreturn, SYS_restart_syscall,
                             SYS_exit,          SYS_exit_group};
constexpr std::uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

/// Instructions of a filter, which looks at a call and at its arguments.
class Filter {
public:
    void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), 0, 0); }
    void answer(std::uint32_t value) { add(BPF_RET | BPF_K, value, 0, 0); }
    /// Passes over the next `count` instructions unless what was loaded is `value`.
    void unless_equal_skip(std::uint32_t value, std::uint8_t count) {
        add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count);
    }
    /// Passes over the next `count` instructions where what was loaded has one of `bits`.
    void if_any_skip(std::uint32_t bits, std::uint8_t count) {
        add(BPF_JMP | BPF_JSET | BPF_K, bits, count, 0);
    }

    bool install() {
        sock_fprog program{static_cast<unsigned short>(size_), instructions_.data()};
        return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    }

private:
    void add(int code, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
        instructions_[size_++] = {static_cast<std::uint16_t>(code), if_true, if_false, value};
    }
    std::array<sock_filter, 2 * allowed.size() + 32> instructions_{};
    std::size_t size_ = 0;
};

constexpr std::size_t argument(int number) {
    return offsetof(seccomp_data, args) + static_cast<std::size_t>(number) * sizeof(std::uint64_t);
}

}  // namespace

bool confine_process(int channel) noexcept {
    constexpr std::uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
    Filter filter;
    filter.load(offsetof(seccomp_data, arch));
    filter.unless_equal_skip(AUDIT_ARCH_X86_64, 1);
    filter.load(offsetof(seccomp_data, nr));  // else the number of the machine stays, which is no call's
    filter.unless_equal_skip(SYS_openat, 4);
    filter.load(argument(2));
    filter.if_any_skip(writing, 1);
    filter.answer(SECCOMP_RET_ALLOW);
    filter.answer(refused);
    filter.unless_equal_skip(SYS_sendto, 4);
    filter.load(argument(0));
    filter.unless_equal_skip(static_cast<std::uint32_t>(channel), 1);
    filter.answer(SECCOMP_RET_ALLOW);
    filter.answer(refused);
    for (const auto call : allowed) {
        filter.unless_equal_skip(static_cast<std::uint32_t>(call), 1);
        filter.answer(SECCOMP_RET_ALLOW);
    }
    filter.answer(refused);
    return filter.install();
}

#else

bool confine_process(int) noexcept {
    return false;
}

#endif

}  // namespace bigbird
