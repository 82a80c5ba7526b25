// SPDX-License-Identifier: Apache-2.0
// at::parallel_for with threads. It is a template that runs on one thread in every file compiled without
// OpenMP. So only files compiled with OpenMP may use it (bigbird_share_torch_header() in
// scripts/cmake/BigbirdTargets.cmake).
#pragma once

#include <ATen/Parallel.h>

#ifndef INTRA_OP_PARALLEL
#error "at::parallel_for would be serial here: compile it with OpenMP"
#endif
