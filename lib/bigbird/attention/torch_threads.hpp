// SPDX-License-Identifier: Apache-2.0
// at::parallel_for with threads. It is a template that runs on one thread in every file compiled without
// OpenMP: such a file is no use (bigbird_use_openmp() in scripts/cmake/BigbirdTargets.cmake).
#pragma once

#include <ATen/Parallel.h>

#ifndef INTRA_OP_PARALLEL
#error "at::parallel_for would be serial here: name this file in bigbird_use_openmp()"
#endif
