# SPDX-License-Identifier: Apache-2.0
# module(): one folder = one static library + one test program; program(): one main().
#
#   module(kube
#     DEPS    base api net          # folders it may include; tools/check_layers holds it to them
#     SOURCES client.cc ...
#     TESTS   client_test.cc ...    # become <name>_test, linked with GoogleTest
#     FUZZERS watch_fuzz.cc ...     # become <name>, only in the clang preset
#     LIBS    CURL::libcurl         # third-party libraries
#     ALONE   odd_test.cc)          # files that cannot share a translation unit with others
#
# A nested folder names itself with '/': module(controllers/loop ...).

include(GoogleTest)
if(PADDLE_WITH_TESTS)
  find_package(GTest REQUIRED)
endif()

function(paddle_target_name folder out)
  string(REPLACE "/" "_" name "${folder}")
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

function(paddle_link target scope)
  foreach(dep IN LISTS ARGN)
    paddle_target_name("${dep}" name)
    target_link_libraries(${target} ${scope} paddle_${name})
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

# paddle_test(<name> SOURCES ... DEPS ... [LIBS ...] [ALONE ...] [LABELS unit|integration])
function(paddle_test name)
  if(NOT PADDLE_WITH_TESTS)
    return()
  endif()
  cmake_parse_arguments(T "" "" "SOURCES;DEPS;LIBS;ALONE;LABELS" ${ARGN})
  if(NOT T_LABELS)
    set(T_LABELS unit)
  endif()
  add_executable(${name} ${T_SOURCES})
  paddle_unite(${name} ${T_ALONE})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)  # what it tests is optimized
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

function(module folder)
  cmake_parse_arguments(M "" "" "DEPS;SOURCES;TESTS;FUZZERS;LIBS;ALONE" ${ARGN})
  paddle_target_name("${folder}" name)
  add_library(paddle_${name} STATIC ${M_SOURCES})
  paddle_unite(paddle_${name} ${M_ALONE})
  paddle_link(paddle_${name} PUBLIC ${M_DEPS})
  target_link_libraries(paddle_${name} PUBLIC paddle_flags ${M_LIBS})
  if(PADDLE_WITH_TESTS AND M_TESTS)
    paddle_test(${name}_test SOURCES ${M_TESTS} DEPS ${folder} ALONE ${M_ALONE})
  endif()
  if(PADDLE_WITH_FUZZERS AND M_FUZZERS)
    # Coverage guides the fuzzers; it costs a fifth of a compilation, so only what they test has it.
    target_compile_options(paddle_${name} PRIVATE -fsanitize=fuzzer-no-link)
    foreach(source IN LISTS M_FUZZERS)
      get_filename_component(fuzzer ${source} NAME_WE)
      add_executable(${fuzzer} ${source})
      target_link_libraries(${fuzzer} PRIVATE paddle_${name})
      target_compile_options(${fuzzer} PRIVATE -fsanitize=fuzzer-no-link)
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${fuzzer} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
      set_property(GLOBAL APPEND PROPERTY PADDLE_FUZZ_TARGETS ${fuzzer})
    endforeach()
  endif()
endfunction()

function(program name)
  cmake_parse_arguments(P "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${P_SOURCES})
  paddle_link(${name} PRIVATE ${P_DEPS})
  target_link_libraries(${name} PRIVATE paddle_flags)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PADDLE_BIN_DIR}")
  set_property(GLOBAL APPEND PROPERTY PADDLE_PROGRAMS ${name})
endfunction()
