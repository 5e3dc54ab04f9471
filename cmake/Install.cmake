# What an installation holds: programs, the folders of data that they read
# (share/rhizome), the runtime's library, completion, manual pages, examples; and
# how CPack packs it as a .deb and as a tarball that brings its libraries along.
include(GNUInstallDirs)

set(programs rhizome rhizome-opt rhizome-node)
if(TARGET rhizome-rank)
  list(APPEND programs rhizome-rank)
endif()
# Libraries that come along are looked for first, those of libraries too: they lie
# in a folder "lib", because LLVM's look in their own ../lib, and the path is a
# DT_RPATH, which the others inherit. mold drops the padding by which CMake would
# change a path when it installs, so the path is final at once.
foreach(program ${programs})
  set_target_properties(${program} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN/../lib/rhizome/lib" INSTALL_RPATH_USE_LINK_PATH ON)
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()
install(TARGETS ${programs} RUNTIME_DEPENDENCY_SET libraries
  DESTINATION ${CMAKE_INSTALL_BINDIR})

set(share ${CMAKE_INSTALL_DATADIR}/rhizome)
install(DIRECTORY data/ DESTINATION ${share} PATTERN completion EXCLUDE)
install(DIRECTORY rtl/src rtl/sim rtl/shell DESTINATION ${share}/rtl)
install(DIRECTORY runtime DESTINATION ${share})
install(DIRECTORY lib/Numeric DESTINATION ${share}/lib
  PATTERN CMakeLists.txt EXCLUDE)
install(DIRECTORY include/rhizome/Numeric DESTINATION ${share}/include/rhizome)
install(DIRECTORY examples DESTINATION ${share})
install(FILES cmake/RhizomeKernels.cmake DESTINATION ${share}/cmake)

install(TARGETS RhizomeRuntime ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(FILES data/completion/rhizome.bash RENAME rhizome
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES data/completion/_rhizome
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES data/completion/rhizome.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Manual pages are what --help says.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(man ${CMAKE_BINARY_DIR}/man)
add_custom_command(OUTPUT ${man}/rhizome.1
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/man_pages.py
    $<TARGET_FILE:rhizome> ${man}
  DEPENDS rhizome ${PROJECT_SOURCE_DIR}/scripts/man_pages.py VERBATIM)
add_custom_target(rhizome-man ALL DEPENDS ${man}/rhizome.1)
add_dependencies(rhizome-tools rhizome-man)
install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# For the tarball and the wheel: every library that is not part of a Debian
# system's base, with its license.
install(RUNTIME_DEPENDENCY_SET libraries COMPONENT libraries EXCLUDE_FROM_ALL
  DESTINATION lib/rhizome/lib
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so"
    "^lib(mpi|open-|OpenCL)"
  DIRECTORIES ${LLVM_LIBRARY_DIR})
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/BundledLibraries.cmake
  COMPONENT libraries EXCLUDE_FROM_ALL)

set(CPACK_PACKAGE_VENDOR "The Rhizome developers")
set(CPACK_PACKAGE_CONTACT "The Rhizome developers <rhizome@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "compiler for neural networks and tensor kernels on FPGAs")
set(CPACK_PACKAGE_DESCRIPTION
  "Rhizome compiles quantized neural networks into SystemVerilog for one FPGA or
several, and shows by simulation that the hardware computes the same bits as the
model, at the rate that the compiler predicted.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackageOptions.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "verilator, make, g++, iverilog, yosys, nextpnr-ice40, fpga-icestorm, node-d3, openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "pocl-opencl-icd, cmake, bash-completion")
include(CPack)
