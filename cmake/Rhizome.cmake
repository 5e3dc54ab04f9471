# How a layer becomes a library and a dialect becomes generated headers.

# Two precompiled headers serve all libraries and programs, since headers are two
# thirds of the compile time: MLIR's, and, for what is above the dialects,
# those with the dialects' own (RhizomeDialects). A library of a header of its
# own names it by PCH. clang keeps them reproducible with -fno-pch-timestamp,
# so that ccache hits. It remembers the sizes of the headers in it: ccache must
# tell apart those that differ in comments only (CCACHE_COMMENTS, in the preset).
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# rhizome_reuse_headers(target): the larger of the two that exists so far.
function(rhizome_reuse_headers target)
  if(TARGET RhizomeDialects)
    target_precompile_headers(${target} REUSE_FROM RhizomeDialects)
  else()
    target_precompile_headers(${target} REUSE_FROM RhizomeSupport)
  endif()
endfunction()

# rhizome_add_library(NAME source… [PCH header] [DEPENDS target…] [LINK lib…])
# A static library of the layer NAME; NAME is linked as RhizomeNAME.
function(rhizome_add_library name)
  cmake_parse_arguments(ARG "NO_PCH" "PCH" "DEPENDS;LINK" ${ARGN})
  add_library(Rhizome${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(Rhizome${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  if(ARG_DEPENDS)
    add_dependencies(Rhizome${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(Rhizome${name} PUBLIC ${ARG_LINK})
  if(NOT ARG_NO_PCH)
    if(ARG_PCH)
      target_precompile_headers(Rhizome${name} PRIVATE ${ARG_PCH})
    else()
      rhizome_reuse_headers(Rhizome${name})
    endif()
  endif()
endfunction()

# rhizome_add_dialect(Num num): generates {Num}{Dialect,Types,Ops}.{h,cpp}.inc
# from Num.td into the mirrored folder of the build tree.
function(rhizome_add_dialect Name prefix)
  set(LLVM_TARGET_DEFINITIONS ${Name}.td)
  mlir_tablegen(${Name}Dialect.h.inc -gen-dialect-decls -dialect=${prefix})
  mlir_tablegen(${Name}Dialect.cpp.inc -gen-dialect-defs -dialect=${prefix})
  mlir_tablegen(${Name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${prefix})
  mlir_tablegen(${Name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${prefix})
  mlir_tablegen(${Name}Ops.h.inc -gen-op-decls -dialect=${prefix})
  mlir_tablegen(${Name}Ops.cpp.inc -gen-op-defs -dialect=${prefix})
  add_public_tablegen_target(Rhizome${Name}IncGen)
endfunction()

# rhizome_add_passes(Transforms): generates Passes.h.inc from Passes.td.
function(rhizome_add_passes Name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${Name})
  add_public_tablegen_target(Rhizome${Name}PassIncGen)
endfunction()

# rhizome_add_tool(rhizome source… LINK lib…)
function(rhizome_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  rhizome_reuse_headers(${name})
endfunction()
