# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# rhizome_kernels(target file… [OPTIONS option…])
# Compiles tensor kernels into `target`. A .cfd or .mlir file gives an object, a
# header and, in projects with Fortran, a module; a Fortran or C++ file with
# kernels between markers is compiled with calls in their place. The program
# `rhizome` is found in PATH or named by RHIZOME_EXECUTABLE.
include_guard()
cmake_policy(VERSION 3.20)

function(rhizome_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "OPTIONS")
  if(NOT RHIZOME_EXECUTABLE)
    find_program(RHIZOME_EXECUTABLE rhizome REQUIRED)
  endif()
  find_package(Threads REQUIRED)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  foreach(file ${ARG_UNPARSED_ARGUMENTS})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(filename ${file} NAME)
    get_filename_component(ending ${file} LAST_EXT)
    set(outputs)
    if(ending MATCHES "^\\.(cfd|mlir)$")
      get_filename_component(kernels ${file} NAME_WE)
      set(command compile ${path} --target cpu)
    else()
      # The kernels' names stand in the markers.
      file(STRINGS ${path} markers REGEX "^[ \t]*(!\\$|#[ \t]*pragma[ \t]+)rhizome +kernel ")
      set(kernels)
      foreach(marker ${markers})
        string(REGEX REPLACE ".* kernel +([A-Za-z0-9_]+).*" "\\1" kernel "${marker}")
        list(APPEND kernels ${kernel})
      endforeach()
      set(command embed ${path})
      list(APPEND outputs ${folder}/${filename})
    endif()
    foreach(kernel ${kernels})
      list(APPEND outputs ${folder}/${kernel}.o)
      if(Fortran IN_LIST languages)
        list(APPEND outputs ${folder}/${kernel}_kernel.f90)
      endif()
      set_source_files_properties(${folder}/${kernel}.o
        PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    endforeach()
    add_custom_command(OUTPUT ${outputs}
      COMMAND ${RHIZOME_EXECUTABLE} ${command} -o ${folder} ${ARG_OPTIONS}
      DEPENDS ${path} ${RHIZOME_EXECUTABLE}
      COMMENT "Kernels of ${filename}" VERBATIM)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    target_sources(${target} PRIVATE ${outputs})
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE Threads::Threads m)
endfunction()
