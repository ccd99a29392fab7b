# Whether kernels/ is built. AUTO takes nvcc where it is and does without where it is not; builds
# with sanitizers do without.
set(TROUPE_CUDA_FOUND OFF)
if(TROUPE_WITH_CUDA STREQUAL "AUTO" AND NOT TROUPE_SANITIZE)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(TROUPE_CUDA_FOUND ON)
  endif()
elseif(TROUPE_WITH_CUDA AND NOT TROUPE_WITH_CUDA STREQUAL "AUTO")
  set(TROUPE_CUDA_FOUND ON)
endif()

if(TROUPE_CUDA_FOUND)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  # Shared, so that a stand-in can take its place.
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit 12.5 REQUIRED)
  # CMake 3.25 does not know how nvcc is asked for C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  set(TROUPE_CUDA_OPTIONS
    --expt-relaxed-constexpr
    -Xcompiler=-Wall,-Wextra,-Wconversion$<$<BOOL:${TROUPE_WERROR}>:,-Werror>)
else()
  message(STATUS "Troupe: kernels/ is not built: no nvcc, or TROUPE_WITH_CUDA is off")
endif()
