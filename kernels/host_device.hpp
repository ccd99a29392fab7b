#pragma once

/// In front of a function that kernels and the host both call. Nothing to a compiler that is not
/// nvcc.
#ifdef __CUDACC__
#define TROUPE_HOST_DEVICE __host__ __device__
#else
#define TROUPE_HOST_DEVICE
#endif
