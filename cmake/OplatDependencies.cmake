# SPDX-License-Identifier: Apache-2.0
# What oplat is built from, all of it Debian's (docs/adr/0002-dependencies.md). Nothing is downloaded.

find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(QHULL REQUIRED IMPORTED_TARGET qhull_r)
find_package(Threads REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
if(BUILD_TESTING OR NOT DEFINED BUILD_TESTING)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)
endif()
