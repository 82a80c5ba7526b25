// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that fails the n-th call of a kind, or kills the process there (run says how it is used).
// Only calls from main() on count, on files below a folder.
//
//   BIGBIRD_FAULT_CALLS     kinds, as "write,rename"; see `names` below
//   BIGBIRD_FAULT_AT        the call that fails, from 1; 0 or none: calls are counted only
//   BIGBIRD_FAULT_ERROR     errno by name, or "kill" (SIGKILL before it)
//   BIGBIRD_FAULT_LASTS     where set, all later calls of the kinds fail, too, as on a disk that stays full
//   BIGBIRD_FAULT_FOLDER    files below it count
//   BIGBIRD_FAULT_REPORT    file to which "hit KIND N" or, at the end, "count KIND N" is appended
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { k_write, k_open, k_fsync, k_rename, k_mkdir, kinds };
static const char* const names[kinds] = {"write", "open", "fsync", "rename", "mkdir"};

static bool armed, chosen[kinds], lasts, kills;
static int error_number;
static long fails_at;
static atomic_long calls, seen[kinds];
static char folder[PATH_MAX], report[PATH_MAX];

#define NEXT(name) ((__typeof__(&name))next_of(#name))

static void* next_of(const char* name) {
    return dlsym(RTLD_NEXT, name);
}

static void say(const char* what, enum kind kind, long number) {
    char line[96];
    const int length = snprintf(line, sizeof line, "%s %s %ld\n", what, names[kind], number);
    const long handle = syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (handle < 0) return;
    syscall(SYS_write, handle, line, length);
    syscall(SYS_close, handle);
}

// Whether this call is to fail; then errno is set.
static bool fails(enum kind kind) {
    if (!armed || !chosen[kind]) return false;
    atomic_fetch_add(&seen[kind], 1);
    const long number = atomic_fetch_add(&calls, 1) + 1;
    if (fails_at == 0 || number < fails_at || (number > fails_at && !lasts)) return false;
    if (number == fails_at) say("hit", kind, number);
    if (kills) syscall(SYS_kill, getpid(), SIGKILL);
    errno = error_number;
    return true;
}

static bool below(const char* path) {
    const size_t length = strlen(folder);
    return length > 0 && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool counts_path(const char* path) {
    char here[PATH_MAX];
    if (!armed || path == NULL) return false;
    return below(path[0] == '/' || getcwd(here, sizeof here) == NULL ? path : here);
}

static bool counts_file(int handle) {
    char link[64], path[PATH_MAX];
    if (!armed) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = '\0';
    return below(path);
}

static bool writes(int flags) {
    return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
}

// ---- bytes

ssize_t write(int handle, const void* bytes, size_t size) {
    if (counts_file(handle) && fails(k_write)) return -1;
    return syscall(SYS_write, handle, bytes, size);
}

ssize_t pwrite(int handle, const void* bytes, size_t size, off_t at) {
    if (counts_file(handle) && fails(k_write)) return -1;
    return syscall(SYS_pwrite64, handle, bytes, size, at);
}

ssize_t pwrite64(int handle, const void* bytes, size_t size, off64_t at) {
    return pwrite(handle, bytes, size, at);
}

ssize_t writev(int handle, const struct iovec* parts, int count) {
    if (counts_file(handle) && fails(k_write)) return -1;
    return syscall(SYS_writev, handle, parts, count);
}

ssize_t sendfile(int to, int from, off_t* at, size_t size) {
    if (counts_file(to) && fails(k_write)) return -1;
    return syscall(SYS_sendfile, to, from, at, size);
}

ssize_t sendfile64(int to, int from, off64_t* at, size_t size) {
    return sendfile(to, from, at, size);
}

int fsync(int handle) {
    return counts_file(handle) && fails(k_fsync) ? -1 : (int)syscall(SYS_fsync, handle);
}

int fdatasync(int handle) {
    return counts_file(handle) && fails(k_fsync) ? -1 : (int)syscall(SYS_fdatasync, handle);
}

// ---- names

static int open_at(int parent, const char* path, int flags, mode_t mode) {
    if (writes(flags) && counts_path(path) && fails(k_open)) return -1;
    return (int)syscall(SYS_openat, parent, path, flags, mode);
}

static mode_t mode_of(int flags, va_list rest) {
    return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                   \
    int name(const char* path, int flags, ...) {     \
        va_list rest;                                \
        va_start(rest, flags);                       \
        const mode_t mode = mode_of(flags, rest);    \
        va_end(rest);                                \
        return open_at(AT_FDCWD, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                         \
    int name(int parent, const char* path, int flags, ...) { \
        va_list rest;                                        \
        va_start(rest, flags);                               \
        const mode_t mode = mode_of(flags, rest);            \
        va_end(rest);                                        \
        return open_at(parent, path, flags, mode);           \
    }
OPENAT(openat)
OPENAT(openat64)

int rename(const char* from, const char* to) {
    return counts_path(to) && fails(k_rename) ? -1 : (int)syscall(SYS_rename, from, to);
}

int link(const char* from, const char* to) {
    return counts_path(to) && fails(k_rename) ? -1 : (int)syscall(SYS_link, from, to);
}

int mkdir(const char* path, mode_t mode) {
    return counts_path(path) && fails(k_mkdir) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

// ---- streams of C: the library's own calls cannot be interposed, so those that write go through ours

static ssize_t stream_write(void* cookie, const char* bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t now = write((int)(long)cookie, bytes + done, size - done);
        if (now < 0) break;
        done += (size_t)now;
    }
    return (ssize_t)done;
}

static ssize_t stream_read(void* cookie, char* bytes, size_t size) {
    return read((int)(long)cookie, bytes, size);
}

static int stream_seek(void* cookie, off64_t* at, int from) {
    const off64_t result = lseek64((int)(long)cookie, *at, from);
    if (result >= 0) *at = result;
    return result < 0 ? -1 : 0;
}

static int stream_close(void* cookie) {
    return close((int)(long)cookie);
}

FILE* fopen(const char* path, const char* mode) {
    if (!counts_path(path) || (mode[0] == 'r' && strchr(mode, '+') == NULL)) return NEXT(fopen)(path, mode);
    int flags = strchr(mode, '+') != NULL ? O_RDWR : O_WRONLY;
    if (mode[0] != 'r') flags |= O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
    if (strchr(mode, 'e') != NULL) flags |= O_CLOEXEC;
    if (strchr(mode, 'x') != NULL) flags |= O_EXCL;
    const int handle = open(path, flags, 0666);
    if (handle < 0) return NULL;
    const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    return fopencookie((void*)(long)handle, mode, functions);
}

// libstdc++ opens by this one, and then writes by write().
FILE* fopen64(const char* path, const char* mode) {
    const bool reads = mode[0] == 'r' && strchr(mode, '+') == NULL;
    return !reads && counts_path(path) && fails(k_open) ? NULL : NEXT(fopen64)(path, mode);
}

// ---- start and end

static int error_of(const char* name) {
    static const struct {
        const char* name;
        int number;
    } errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EDQUOT", EDQUOT}};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; ++i) {
        if (strcmp(errors[i].name, name) == 0) return errors[i].number;
    }
    return EIO;
}

static const char* setting(const char* name) {
    const char* const value = getenv(name);
    return value == NULL ? "" : value;
}

static bool in_list(const char* list, const char* word) {
    const size_t length = strlen(word);
    for (const char* at = strstr(list, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

static void set_up(void) {
    const char* const error = setting("BIGBIRD_FAULT_ERROR");
    for (int kind = 0; kind < kinds; ++kind) {
        chosen[kind] = in_list(setting("BIGBIRD_FAULT_CALLS"), names[kind]);
    }
    fails_at = atol(setting("BIGBIRD_FAULT_AT"));
    lasts = setting("BIGBIRD_FAULT_LASTS")[0] != '\0';
    kills = strcmp(error, "kill") == 0;
    error_number = error_of(error);
    snprintf(folder, sizeof folder, "%s", setting("BIGBIRD_FAULT_FOLDER"));
    snprintf(report, sizeof report, "%s", setting("BIGBIRD_FAULT_REPORT"));
    armed = report[0] != '\0';
}

static int (*real_main)(int, char**, char**);

static int armed_main(int argc, char** argv, char** environment) {
    set_up();
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void* stack_end) {
    real_main = main;
    return NEXT(__libc_start_main)(armed_main, argc, argv, init, fini, loader_fini, stack_end);
}

__attribute__((destructor)) static void tell_counts(void) {
    if (!armed || fails_at != 0) return;
    armed = false;
    for (int kind = 0; kind < kinds; ++kind) {
        if (chosen[kind]) say("count", (enum kind)kind, atomic_load(&seen[kind]));
    }
}
