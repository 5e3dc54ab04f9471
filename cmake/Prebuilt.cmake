# Installs the programs of the build folder RHIZOME_BUILD without building any.
if(NOT EXISTS ${RHIZOME_BUILD}/bin/rhizome)
  message(FATAL_ERROR "RHIZOME_BUILD is '${RHIZOME_BUILD}', which has no "
    "bin/rhizome; 'make build' builds it")
endif()
add_custom_target(rhizome-tools)
foreach(component Unspecified libraries)
  install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} --install
      \"${RHIZOME_BUILD}\" --prefix \"\${CMAKE_INSTALL_PREFIX}\" --strip
      --component ${component} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT ${component})
endforeach()
