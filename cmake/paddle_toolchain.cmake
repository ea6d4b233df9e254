# SPDX-License-Identifier: Apache-2.0
# Language level, warnings as errors, sanitizers, ccache: the same for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")

find_program(CCACHE ccache)
if(CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER) # a launcher that measures comes by -D
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

# Sixty test programs are linked for each preset: with mold that takes seconds, not minutes.
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# What users run: buffer overflows and calls through overwritten pointers end the program, and
# addresses are other ones at each start. tools/images takes no program without. Programs name no
# directory of the machine that built them: two builds are the same bytes.
string(APPEND CMAKE_CXX_FLAGS_RELEASE
  " -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong"
  " -fstack-clash-protection -fPIE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -fcf-protection=full")
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -mbranch-protection=standard")
endif()
string(APPEND CMAKE_EXE_LINKER_FLAGS_RELEASE " -pie -Wl,-z,relro,-z,now,-z,noexecstack")

find_package(Threads REQUIRED)

add_library(paddle_flags INTERFACE)
target_compile_options(paddle_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
if(PADDLE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # An included file's anonymous namespace looks to g++ like a header's; and with this much to inline
  # g++ 12 takes the inactive alternatives of a variant for uninitialized values.
  target_compile_options(paddle_flags INTERFACE -Wno-subobject-linkage -Wno-maybe-uninitialized)
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
