# troupe_variants(<directory> SOURCES <files...> [OPTIONS <compile options...>])
# Compiles sources of a module once for each instruction set of runtime/instruction_set.hpp, with
# TROUPE_INSTRUCTION_SET naming the namespace that holds that copy, and adds the objects to the
# module. On other processors than x86-64 there is the baseline alone. Objects that are compiled for
# more than the baseline must not define anything that other objects might define too: the linker
# would keep one copy for all, on machines that cannot run it. lint.variant_symbols looks.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("
  #ifndef __x86_64__
  #error another processor
  #endif
  int main() { return 0; }" TROUPE_X86_VARIANTS)

set(TROUPE_FLAGS_baseline "")
set(TROUPE_FLAGS_avx2 -mavx2 -mf16c)
set(TROUPE_FLAGS_avx512
  -mavx2 -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of its own intrinsics, which leave undefined lanes undefined (GCC PR 105593).
  list(APPEND TROUPE_FLAGS_avx512 -Wno-maybe-uninitialized -Wno-uninitialized)
endif()

function(troupe_variants directory)
  cmake_parse_arguments(PARSE_ARGV 1 variant "" "" "SOURCES;OPTIONS")
  string(REPLACE "/" "_" name ${directory})
  set(sets baseline)
  if(TROUPE_X86_VARIANTS)
    list(APPEND sets avx2 avx512)
    target_compile_definitions(troupe_${name} PRIVATE TROUPE_X86_VARIANTS)
  endif()
  foreach(set IN LISTS sets)
    set(target troupe_${name}_${set})
    add_library(${target} OBJECT ${variant_SOURCES})
    target_link_libraries(${target} PRIVATE troupe_flags)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${target} PRIVATE TROUPE_INSTRUCTION_SET=${set})
    target_compile_options(${target} PRIVATE
      -fno-exceptions -fno-rtti ${variant_OPTIONS} ${TROUPE_FLAGS_${set}})
    target_sources(troupe_${name} PRIVATE $<TARGET_OBJECTS:${target}>)
    if(NOT set STREQUAL "baseline")
      set_property(GLOBAL APPEND PROPERTY TROUPE_VARIANT_OBJECTS $<TARGET_OBJECTS:${target}>)
    endif()
  endforeach()
endfunction()
