# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers, and the two helpers with which every layer declares itself.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")

option(OPLAT_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
# On in both presets. Off elsewhere: there, sources compile as they stand.
option(OPLAT_PRECOMPILE "Precompile the standard library, fmt and GoogleTest" ${OPLAT_SANITIZE})
find_program(OPLAT_CCACHE ccache)
if(OPLAT_CCACHE)
  if(OPLAT_PRECOMPILE)
    # Without these, ccache does not cache a compilation that uses a precompiled header.
    set(OPLAT_CCACHE env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "${OPLAT_CCACHE}")
  endif()
  set(CMAKE_C_COMPILER_LAUNCHER ${OPLAT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${OPLAT_CCACHE})
endif()
find_program(OPLAT_MOLD mold)
if(OPLAT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Several sources a compiler run: most of the time goes into headers and templates that they share,
# so that the whole build takes a quarter. The price: names in an anonymous namespace are unique
# within a layer (CONTRIBUTING.md). Batches of 18 make code of a tenth fewer templates than batches
# of 8, and hold every test program but one; a layer where a change is to be compiled sooner says so
# itself (src/estimate).
option(OPLAT_UNITY "Compile several sources of a layer at a time" ON)
set(CMAKE_UNITY_BUILD ${OPLAT_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 18)

# For loops over numbers, in debug builds, too: tests repeat them for thousands of rows
# (docs/adr/0038-fast-dev-builds.md). clang inlines nothing with -O1.
set(OPLAT_NUMERIC_OPTIONS "$<$<CONFIG:Debug>:$<IF:$<CXX_COMPILER_ID:Clang>,-O2,-O1>>")

# Carries every flag; linked PRIVATE so that users of the libraries do not inherit our warnings.
add_library(oplat_build_flags INTERFACE)
target_compile_options(oplat_build_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual -Wnon-virtual-dtor>)
if(OPLAT_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes a source in a batch for a header, where a member of a file's own type would be a
  # mistake.
  target_compile_options(oplat_build_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Where it optimises, GCC 12 takes the value of an empty std::optional for one that is used.
  target_compile_options(oplat_build_flags INTERFACE $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
endif()
if(OPLAT_WERROR)
  target_compile_options(oplat_build_flags INTERFACE -Werror)
endif()
if(OPLAT_SANITIZE)
  # Whole build, test programs included. The worker loads a runtime with dlopen, which the
  # sanitizers allow. Of debugging information the lines are enough for a report (a debugger wants
  # -DCMAKE_CXX_FLAGS=-g3 -DOPLAT_SANITIZE=OFF).
  add_compile_definitions(OPLAT_SANITIZED)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined -g1 -gno-column-info)
  # The library that a program without sanitizers, such as a Python, loads first (src/python).
  set(asan libasan.so)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(asan "libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so")
  endif()
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=${asan}"
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE OPLAT_ASAN_LIBRARY)
  if(NOT OPLAT_FUZZ)
    # Left out here, and kept by the fuzz targets, which clang builds: the checks null
    # (AddressSanitizer reports the use of such a pointer), alignment and vptr, and red zones round
    # global variables. They are a third of the time to compile, and the descriptors of those
    # variables were three quarters of the 139 MB of data that every start of oplat walked through.
    add_compile_options(-fno-sanitize=null,alignment,vptr)
    # The addresses in that data are known when a program is linked, not relocated at each start.
    add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>")
    # Those red zones, and code for a check that is off when a program runs unless ASAN_OPTIONS
    # turns it on: a twentieth of all machine code.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options("SHELL:--param asan-globals=0" "SHELL:--param asan-use-after-return=0")
    else()
      add_compile_options(
        "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:OPLAT_COMPILED_BY_GXX>>>:SHELL:-fsanitize-address-use-after-return=never -mllvm -asan-globals=0>")
      # clang's programs would each have a runtime of their own, which a library that a Python loads
      # lacks.
      add_link_options(-shared-libasan)
      get_filename_component(folder "${OPLAT_ASAN_LIBRARY}" DIRECTORY)
      list(APPEND CMAKE_BUILD_RPATH "${folder}")
      # a build with sanitizers is installed by tests only
      list(APPEND CMAKE_INSTALL_RPATH "${folder}")
    endif()
  endif()
  add_link_options(-fsanitize=address,undefined)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A compiler that collects its garbage less often makes the same code sooner.
  add_compile_options("SHELL:--param ggc-min-expand=200" "SHELL:--param ggc-min-heapsize=262144")
endif()

# The headers that nearly every source includes, parsed once for all layers and once for all test
# programs: a fifth of a compilation (docs/adr/0038-fast-dev-builds.md). The list is what `grep -h
# '#include <'` counts most often. Sources still include what they use: other builds have no
# precompiled headers.
set(OPLAT_PRECOMPILED <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <filesystem>
  <fstream> <functional> <limits> <map> <memory> <optional> <set> <span> <sstream> <string>
  <string_view> <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h>
  <tl/expected.hpp>)
# oplat_precompile(TARGET OF): a target uses the precompiled headers of OF, one of
# oplat_precompiled_layers, oplat_precompiled_light and oplat_precompiled_tests
# (position-independent code differs, and GCC optimises as the header was).
function(oplat_precompile TARGET OF)
  if(OPLAT_PRECOMPILE)
    target_precompile_headers(${TARGET} REUSE_FROM ${OF})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${TARGET} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    else() # for ccache
      target_compile_options(${TARGET} PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    endif()
  endif()
endfunction()
# oplat_add_precompiled(): makes both; after the dependencies are known.
function(oplat_add_precompiled)
  if(NOT OPLAT_PRECOMPILE)
    return()
  endif()
  set(source "${PROJECT_BINARY_DIR}/precompiled.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "int main() { return 0; }\n")
  add_library(oplat_precompiled_layers STATIC "${source}")
  target_link_libraries(oplat_precompiled_layers PRIVATE fmt::fmt tl::expected oplat_build_flags)
  target_precompile_headers(oplat_precompiled_layers PRIVATE ${OPLAT_PRECOMPILED})
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_library(oplat_precompiled_light STATIC "${source}")
    target_compile_options(oplat_precompiled_light PRIVATE -O1)
    target_link_libraries(oplat_precompiled_light PRIVATE fmt::fmt tl::expected oplat_build_flags)
    target_precompile_headers(oplat_precompiled_light PRIVATE ${OPLAT_PRECOMPILED})
  endif()
  if(OPLAT_TESTS)
    add_executable(oplat_precompiled_tests "${source}")
    set_target_properties(oplat_precompiled_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY
      "${PROJECT_BINARY_DIR}/CMakeFiles")
    target_link_libraries(oplat_precompiled_tests PRIVATE fmt::fmt tl::expected GTest::gtest
      oplat_build_flags)
    target_precompile_headers(oplat_precompiled_tests PRIVATE ${OPLAT_PRECOMPILED} <gtest/gtest.h>
      <gmock/gmock.h>)
  endif()
endfunction()
# oplat_optimise_lightly(TARGET): what no loop over numbers and no search runs through is optimised
# less in a release build, which takes two thirds of the time to compile
# (docs/adr/0038-fast-dev-builds.md).
function(oplat_optimise_lightly TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    oplat_precompile(${TARGET} oplat_precompiled_light)
  else()
    oplat_precompile(${TARGET} oplat_precompiled_layers)
  endif()
endfunction()
# oplat_add_test_main(): main() of all GoogleTest programs.
function(oplat_add_test_main)
  add_library(oplat_test_main STATIC "${PROJECT_SOURCE_DIR}/tests/main.cpp")
  target_compile_definitions(oplat_test_main PRIVATE
    OPLAT_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}/tests"
    OPLAT_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared")
  target_link_libraries(oplat_test_main PRIVATE GTest::gmock GTest::gtest oplat_build_flags)
endfunction()

# oplat_include_root(LAYER): a folder that holds the layer's headers and nothing else of ours, so
# that they are included as "LAYER/name.hpp" and only by those who link the layer. That is how the
# build refuses an #include against the layer rule.
function(oplat_include_root LAYER OUTPUT)
  set(root "${PROJECT_BINARY_DIR}/include-roots/${LAYER}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${LAYER}" "${root}/${LAYER}" SYMBOLIC)
  set(${OUTPUT} "${root}" PARENT_SCOPE)
endfunction()

# oplat_private_uses(OUTPUT TARGET...): what a library needs only to be compiled. Headers without a
# library are not part of what an installed oplat needs, so its users need not have them.
function(oplat_private_uses OUTPUT)
  set(uses $<BUILD_INTERFACE:oplat_build_flags>)
  foreach(target ${ARGN})
    if(target MATCHES "^(nlohmann_json::nlohmann_json|Eigen3::Eigen|CLI11::CLI11)$")
      list(APPEND uses $<BUILD_INTERFACE:${target}>)
    else()
      list(APPEND uses ${target})
    endif()
  endforeach()
  set(${OUTPUT} ${uses} PARENT_SCOPE)
endfunction()

# oplat_install_library(TARGET): a static library that oplat::oplat is made of goes with it. Only
# the API has headers outside: the include roots exist in the build alone.
function(oplat_install_library TARGET)
  if(OPLAT_INSTALL)
    install(TARGETS ${TARGET} EXPORT oplat-targets
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/oplat")
  endif()
endfunction()

# oplat_add_layer(NAME <layer> [LIGHT] SOURCES ... USES <layers and libraries it may see>)
# LIGHT: oplat_optimise_lightly(). The link graph is the layer rule of HACKING.md: a layer sees the
# headers of what it names in USES, nothing else of ours.
function(oplat_add_layer)
  cmake_parse_arguments(ARG "LIGHT" "NAME" "SOURCES;USES;PRIVATE_USES" ${ARGN})
  add_library(oplat_${ARG_NAME} STATIC ${ARG_SOURCES})
  add_library(oplat::${ARG_NAME} ALIAS oplat_${ARG_NAME})
  oplat_include_root(${ARG_NAME} root)
  target_include_directories(oplat_${ARG_NAME} PUBLIC "$<BUILD_INTERFACE:${root}>")
  oplat_private_uses(private ${ARG_PRIVATE_USES})
  target_link_libraries(oplat_${ARG_NAME} PUBLIC ${ARG_USES} PRIVATE ${private})
  if(ARG_LIGHT)
    oplat_optimise_lightly(oplat_${ARG_NAME})
  else()
    oplat_precompile(oplat_${ARG_NAME} oplat_precompiled_layers)
  endif()
  if(NOT ARG_NAME STREQUAL "cli")
    oplat_install_library(oplat_${ARG_NAME})
  endif()
endfunction()

# oplat_add_numeric(LAYER SOURCES ... USES ... [BATCH n]): sources of a layer with
# OPLAT_NUMERIC_OPTIONS. BATCH: of a compiler run.
function(oplat_add_numeric LAYER)
  cmake_parse_arguments(ARG "" "BATCH" "SOURCES;USES" ${ARGN})
  set(numeric oplat_${LAYER}_numeric)
  add_library(${numeric} OBJECT ${ARG_SOURCES})
  if(ARG_BATCH)
    set_target_properties(${numeric} PROPERTIES UNITY_BUILD_BATCH_SIZE ${ARG_BATCH})
  endif()
  target_compile_options(${numeric} PRIVATE "${OPLAT_NUMERIC_OPTIONS}")
  oplat_include_root(${LAYER} root)
  target_include_directories(${numeric} PRIVATE "${root}")
  target_link_libraries(${numeric} PRIVATE ${ARG_USES} oplat_build_flags)
  target_sources(oplat_${LAYER} PRIVATE $<TARGET_OBJECTS:${numeric}>)
endfunction()

# oplat_add_test(NAME <layer>_test SOURCES ... USES ... [SHARDS n] [COST n]): one GoogleTest
# program, one entry in CTest; a long one is shared out over SHARDS entries. COST: seconds, so that
# long ones start first.
function(oplat_add_test)
  cmake_parse_arguments(ARG "" "NAME;SHARDS;COST" "SOURCES;USES;LABELS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_include_directories(${ARG_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_USES} oplat_build_flags
    oplat_test_main GTest::gmock GTest::gtest)
  oplat_precompile(${ARG_NAME} oplat_precompiled_tests)
  target_compile_definitions(${ARG_NAME} PRIVATE
    OPLAT_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}/tests"
    OPLAT_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared" OPLAT_EXECUTABLE="$<TARGET_FILE:oplat>")
  add_dependencies(${ARG_NAME} oplat)
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(entry ${ARG_NAME})
    if(ARG_SHARDS GREATER 1)
      set(entry ${ARG_NAME}.${shard})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${entry} COMMAND ${ARG_NAME} --gtest_brief=1)
    set_tests_properties(${entry} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 1200
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
    if(ARG_COST)
      set_tests_properties(${entry} PROPERTIES COST ${ARG_COST})
    endif()
  endforeach()
endfunction()
