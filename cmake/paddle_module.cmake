# SPDX-License-Identifier: Apache-2.0
# module(): one folder = one static library + one test program; section(): a sub-folder of a module
# with DEPS of its own; program(): one main().
#
#   module(kube
#     DEPS    base api net          # folders it may include; tools/check_layers holds it to them
#     SOURCES client.cc ...
#     TESTS   client_test.cc ...    # become <name>_test, linked with GoogleTest
#     FUZZERS watch_fuzz.cc ...     # become <name>, only in the clang preset
#     LIBS    CURL::libcurl         # third-party libraries
#     ALONE   odd_test.cc           # files that cannot share a translation unit with others
#     PURE                          # no I/O: it reaches only other PURE folders, checked as well
#     HEADERS_ONLY)                 # nothing to compile, so no library
#
# A nested folder names itself with '/': module(controllers/loop ...).
#
#   section(controllers/paddle_job/decide DEPS ... SOURCES ... TESTS ... ALONE ... PURE)
#
# A section is compiled into the library of the module above it, and its tests into that module's
# test program: it costs no translation unit of its own. Its DEPS are checked like a module's. Who
# lists the module in DEPS may include its sections.

include(GoogleTest)
if(PADDLE_WITH_TESTS)
  find_package(GTest REQUIRED)
endif()

function(paddle_target_name folder out)
  string(REPLACE "/" "_" name "${folder}")
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

# The folder whose library has the objects of `folder`: its own, or that of the module above.
function(paddle_library_of folder out)
  get_property(owner GLOBAL PROPERTY "PADDLE_LIBRARY_OF_${folder}")
  if(NOT owner)
    set(owner "${folder}")
  endif()
  paddle_target_name("${owner}" name)
  set(${out} "paddle_${name}" PARENT_SCOPE)
endfunction()

function(paddle_link target scope)
  foreach(dep IN LISTS ARGN)
    paddle_library_of("${dep}" library)
    if(NOT library STREQUAL target)
      target_link_libraries(${target} ${scope} ${library})
    endif()
  endforeach()
endfunction()

# Several files of a target in one translation unit, where PADDLE_UNITY says how many: headers are
# read and templates instantiated once, not once per file. Files of one target therefore must not
# define the same name in an anonymous namespace; ALONE names the exceptions.
function(paddle_unite target)
  if(PADDLE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${PADDLE_UNITY})
    if(ARGN)
      set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
endfunction()

# paddle_test(<name> SOURCES ... DEPS ... [LIBS ...] [ALONE ...] [LABELS unit|integration] [OPTIMIZED])
#   OPTIMIZED: most of its time is spent in its own code, and in templates that this instantiates
function(paddle_test name)
  if(NOT PADDLE_WITH_TESTS)
    return()
  endif()
  cmake_parse_arguments(T "OPTIMIZED" "" "SOURCES;DEPS;LIBS;ALONE;LABELS" ${ARGN})
  if(NOT T_LABELS)
    set(T_LABELS unit)
  endif()
  add_executable(${name} ${T_SOURCES})
  paddle_unite(${name} ${T_ALONE})
  # What it tests is optimized; checked calls of the C library need optimization.
  if(T_OPTIMIZED)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  else()
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0;-U_FORTIFY_SOURCE>)
  endif()
  # Each preset builds only what is run in it: unit tests under sanitizers, integration tests in
  # release. The other targets exist and can be asked for by name.
  if((T_LABELS STREQUAL unit AND NOT PADDLE_BUILD_UNIT_TESTS)
     OR (T_LABELS STREQUAL integration AND PADDLE_SANITIZE))
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  paddle_link(${name} PRIVATE ${T_DEPS})
  target_link_libraries(${name} PRIVATE paddle_flags ${T_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}")
  set_property(GLOBAL APPEND PROPERTY PADDLE_TEST_TARGETS_${T_LABELS} ${name})
endfunction()

function(paddle_fuzzers library)
  if(NOT PADDLE_WITH_FUZZERS OR NOT ARGN)
    return()
  endif()
  # Coverage guides the fuzzers; it costs a fifth of a compilation, so only what they test has it.
  target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
  foreach(source IN LISTS ARGN)
    get_filename_component(fuzzer ${source} NAME_WE)
    add_executable(${fuzzer} ${source})
    target_link_libraries(${fuzzer} PRIVATE ${library})
    target_compile_options(${fuzzer} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${fuzzer} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
    set_property(GLOBAL APPEND PROPERTY PADDLE_FUZZ_TARGETS ${fuzzer})
  endforeach()
endfunction()

function(module folder)
  cmake_parse_arguments(M "PURE;HEADERS_ONLY" "" "DEPS;SOURCES;TESTS;FUZZERS;LIBS;ALONE" ${ARGN})
  paddle_target_name("${folder}" name)
  if(M_HEADERS_ONLY)
    add_library(paddle_${name} INTERFACE)
    paddle_link(paddle_${name} INTERFACE ${M_DEPS})
    target_link_libraries(paddle_${name} INTERFACE paddle_flags ${M_LIBS})
    return()
  endif()
  add_library(paddle_${name} STATIC ${M_SOURCES})
  set_target_properties(paddle_${name} PROPERTIES LINKER_LANGUAGE CXX)  # sections may have all sources
  paddle_unite(paddle_${name} ${M_ALONE})
  paddle_link(paddle_${name} PUBLIC ${M_DEPS})
  target_link_libraries(paddle_${name} PUBLIC paddle_flags ${M_LIBS})
  if(PADDLE_WITH_TESTS AND M_TESTS)
    paddle_test(${name}_test SOURCES ${M_TESTS} DEPS ${folder} ALONE ${M_ALONE})
  endif()
  paddle_fuzzers(paddle_${name} ${M_FUZZERS})
endfunction()

# Adds files of this folder to a target that another folder has declared.
function(paddle_add_files target)
  cmake_parse_arguments(A "" "" "SOURCES;ALONE" ${ARGN})
  list(TRANSFORM A_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  target_sources(${target} PRIVATE ${A_SOURCES})
  if(PADDLE_UNITY AND A_ALONE)
    list(TRANSFORM A_ALONE PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    set_source_files_properties(${A_ALONE} TARGET_DIRECTORY ${target}
      PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# After the module() above it.
function(section folder)
  cmake_parse_arguments(S "PURE" "" "DEPS;SOURCES;TESTS;FUZZERS;LIBS;ALONE" ${ARGN})
  set(owner "${folder}")
  set(library "")
  while(owner MATCHES "/" AND NOT TARGET "${library}")
    string(REGEX REPLACE "/[^/]*$" "" owner "${owner}")
    paddle_target_name("${owner}" name)
    set(library "paddle_${name}")
  endwhile()
  if(NOT TARGET "${library}")
    message(FATAL_ERROR "section(${folder}): there is no module() above it")
  endif()
  set_property(GLOBAL PROPERTY "PADDLE_LIBRARY_OF_${folder}" "${owner}")
  paddle_add_files(${library} SOURCES ${S_SOURCES} ALONE ${S_ALONE})
  paddle_link(${library} PUBLIC ${S_DEPS})
  target_link_libraries(${library} PUBLIC ${S_LIBS})
  if(PADDLE_WITH_TESTS AND S_TESTS)
    if(TARGET ${name}_test)
      paddle_add_files(${name}_test SOURCES ${S_TESTS} ALONE ${S_ALONE})
    else()
      paddle_test(${name}_test SOURCES ${S_TESTS} DEPS ${owner} ALONE ${S_ALONE})
    endif()
  endif()
  paddle_fuzzers(${library} ${S_FUZZERS})
endfunction()

function(program name)
  cmake_parse_arguments(P "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${P_SOURCES})
  paddle_link(${name} PRIVATE ${P_DEPS})
  target_link_libraries(${name} PRIVATE paddle_flags)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PADDLE_BIN_DIR}")
  set_property(GLOBAL APPEND PROPERTY PADDLE_PROGRAMS ${name})
endfunction()
