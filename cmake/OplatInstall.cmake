# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the API (headers, libraries, find_package(oplat)), the programs
# and the workers. The libraries of the layers install themselves (oplat_add_layer).
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/oplat" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/src/base/result.hpp"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/oplat")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/oplat")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/oplat-config.cmake.in"
  "${PROJECT_BINARY_DIR}/oplat-config.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/oplat-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/oplat-config.cmake"
  "${PROJECT_BINARY_DIR}/oplat-config-version.cmake" DESTINATION "${package}")
install(EXPORT oplat-targets NAMESPACE oplat:: DESTINATION "${package}")

# Programs, the library that workers in other languages load, and the workers in Python.
install(TARGETS oplat RUNTIME)
if(TARGET oplat-qnnpack)
  install(TARGETS oplat-qnnpack RUNTIME)
endif()
install(TARGETS oplat_worker LIBRARY NAMELINK_SKIP)
install(FILES "${PROJECT_SOURCE_DIR}/python/oplat_worker.py"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/oplat/python")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/oplat"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/oplat/python" FILES_MATCHING PATTERN "*.py")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
