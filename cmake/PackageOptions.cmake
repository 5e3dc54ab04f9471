# Read by CPack for each kind of package. A .deb names the libraries that it
# needs; a tarball holds them, and unpacks into any folder.
set(CPACK_COMPONENTS_ALL Unspecified)
if(CPACK_GENERATOR STREQUAL "TGZ")
  list(APPEND CPACK_COMPONENTS_ALL libraries)
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
endif()
