# SPDX-License-Identifier: Apache-2.0
# paddle_proto(<target> <name>...): C++ of proto/<name>.proto, messages and gRPC, as a library.
#
# Included as <proto/NAME.grpc.pb.h>, as system headers: our warnings are not meant for
# generated code. The lite runtime and gRPC without TLS: all of it runs over unix sockets.

find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_program(PADDLE_PROTOC protoc REQUIRED)
find_program(PADDLE_GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

function(paddle_proto target)
  set(out "${CMAKE_BINARY_DIR}/generated/proto")
  set(sources)
  foreach(name IN LISTS ARGN)
    set(made "${out}/${name}.pb.cc" "${out}/${name}.grpc.pb.cc")
    add_custom_command(
      OUTPUT ${made} "${out}/${name}.pb.h" "${out}/${name}.grpc.pb.h"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${out}"
      COMMAND ${PADDLE_PROTOC} "--proto_path=${CMAKE_SOURCE_DIR}" "--cpp_out=${CMAKE_BINARY_DIR}/generated"
              "--grpc_out=${CMAKE_BINARY_DIR}/generated"
              "--plugin=protoc-gen-grpc=${PADDLE_GRPC_CPP_PLUGIN}" "proto/${name}.proto"
      DEPENDS "${CMAKE_SOURCE_DIR}/proto/${name}.proto"
      WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
      COMMENT "Generating C++ from proto/${name}.proto"
      VERBATIM)
    list(APPEND sources ${made})
  endforeach()
  add_library(${target} STATIC ${sources})
  target_compile_options(${target} PRIVATE -w)
  target_compile_definitions(${target} PUBLIC GRPC_USE_PROTO_LITE)
  target_include_directories(${target} SYSTEM PUBLIC "${CMAKE_BINARY_DIR}/generated")
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf-lite gRPC::grpc++_unsecure)
  # Their packages name every library that a static build would need.
  target_link_options(${target} INTERFACE -Wl,--as-needed)
endfunction()
