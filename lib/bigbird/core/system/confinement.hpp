// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird {

/// From now on this process can read files, take memory and send() to the socket `channel`; whatever else
/// it asks of the system, such as to write or remove a file, to start a program or to connect, fails with
/// EPERM. It cannot be undone. False where the kernel or the processor knows no such thing (seccomp, x86-64);
/// then nothing is changed. Throws nothing. Call it on the only thread.
bool confine_process(int channel) noexcept;

}  // namespace bigbird
