// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/fork_server.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

namespace bigbird {

namespace {

int server_socket = -1;
pid_t server = -1;
std::mutex server_mutex;

[[noreturn]] void refuse(int error) {
    throw ConfigError(std::string("a process cannot be started: ") + std::strerror(error));
}

/// What a child is to do: a function, whose address is the same in the server, and a descriptor for it.
struct Message {
    ForkServer::Body body = nullptr;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> rights{};
    iovec text{&body, sizeof body};
    msghdr head{nullptr, 0, &text, 1, rights.data(), rights.size(), 0};

    bool send(int to, int handle) {
        cmsghdr* const control = CMSG_FIRSTHDR(&head);
        *control = {CMSG_LEN(sizeof handle), SOL_SOCKET, SCM_RIGHTS};
        std::memcpy(CMSG_DATA(control), &handle, sizeof handle);
        return ::sendmsg(to, &head, MSG_NOSIGNAL) == sizeof body;
    }
    /// The descriptor; -1 if there are no more messages.
    int receive(int from) {
        int handle = -1;
        const ssize_t size = ::recvmsg(from, &head, MSG_CMSG_CLOEXEC);
        if (size == sizeof body && CMSG_FIRSTHDR(&head) != nullptr)
            std::memcpy(&handle, CMSG_DATA(CMSG_FIRSTHDR(&head)), sizeof handle);
        return handle;
    }
};

/// Answers each message with the child's id, or minus an error. Stop signals are for the parent, whose end
/// closes the connection. Holds no output open, whose reader might wait for its end.
[[noreturn]] void serve(int socket) {
    for (const int signal : stop_signals)
        std::signal(signal, SIG_IGN);
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    while (true) {
        Message message;
        const int handle = message.receive(socket);
        if (handle < 0) ::_exit(0);
        // The child's parent is this process' parent, which waits for it and may end it.
        const long id = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
        if (id == 0) {
            ::close(socket);
            message.body(handle);
            ::_exit(0);
        }
        const pid_t answer = id < 0 ? -errno : static_cast<pid_t>(id);
        ::close(handle);
        ::send(socket, &answer, sizeof answer, MSG_NOSIGNAL);
    }
}

}  // namespace

pid_t fork_here() {
    std::fflush(stdout);
    const pid_t id = ::fork();
    if (id < 0) refuse(errno);
    return id;
}

ForkServer::ForkServer() noexcept {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    std::fflush(stdout);
    server = ::fork();
    ::close(ends[server == 0 ? 0 : 1]);
    if (server == 0) serve(ends[1]);
    if (server > 0)
        server_socket = ends[0];
    else
        ::close(ends[0]);
}

void ForkServer::end() noexcept {
    if (server_socket < 0) return;
    ::close(std::exchange(server_socket, -1));
    ::kill(server, SIGKILL);  // it does not see the end where another process holds this one's socket
    ::waitpid(std::exchange(server, -1), nullptr, 0);
}

pid_t ForkServer::fork(Body body, int connection) {
    const std::scoped_lock lock(server_mutex);
    if (server_socket < 0) {
        const pid_t id = fork_here();
        if (id > 0) return id;
        body(connection);
        ::_exit(0);
    }
    pid_t answer = -ESRCH;
    Message message{.body = body};
    if (message.send(server_socket, connection)) {
        while (::recv(server_socket, &answer, sizeof answer, 0) < 0 && errno == EINTR) {
        }
    }
    if (answer < 0) refuse(-answer);
    return answer;
}

}  // namespace bigbird
