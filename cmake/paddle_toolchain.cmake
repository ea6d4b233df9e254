# SPDX-License-Identifier: Apache-2.0
# Language level, warnings as errors, sanitizers, ccache: the same for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

find_package(Threads REQUIRED)

add_library(paddle_flags INTERFACE)
if(PADDLE_PRECOMPILE)
  # A user's first build: warnings are our affair, and g++ 12 sees some in precompiled headers only.
  target_compile_options(paddle_flags INTERFACE -w)
else()
  target_compile_options(paddle_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
endif()
if(PADDLE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # An included file's anonymous namespace looks to g++ like a header's.
  target_compile_options(paddle_flags INTERFACE -Wno-subobject-linkage)
endif()
target_include_directories(paddle_flags INTERFACE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}")
target_link_libraries(paddle_flags INTERFACE Threads::Threads)

if(PADDLE_SANITIZE)
  target_compile_options(paddle_flags INTERFACE -fsanitize=${PADDLE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(paddle_flags INTERFACE -fsanitize=${PADDLE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND PADDLE_SANITIZE MATCHES undefined)
    # These two want type information of libraries that were built without it.
    target_compile_options(paddle_flags INTERFACE -fno-sanitize=vptr,function)
  endif()
endif()
if(PADDLE_WITH_FUZZERS)
  target_compile_options(paddle_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
