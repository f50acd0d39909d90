# SPDX-License-Identifier: Apache-2.0
# liboplat_worker (worker.h): the harness of a worker for other languages. Whoever loads it has
# libraries of its own, in versions of its own, so everything that it needs is inside and hidden: it
# is compiled anew without sanitizers, with fmt and xxHash from their headers, and needs nothing but
# libc.
set(worker_base files hash lfs text)
set(worker_ir dtype key key_parse key_print value)
set(worker_runtimes base64 block_loop device_facts key_json memory memory_look messages rounds_alone
  rpc serve uploads worker_library)
set(worker_sources)
foreach(layer base ir runtimes)
  foreach(name ${worker_${layer}})
    set(source "${PROJECT_SOURCE_DIR}/src/${layer}/${name}.cpp")
    list(APPEND worker_sources "${source}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP all)
  endforeach()
endforeach()

# version.cpp by itself: it changes with every commit.
add_library(oplat_worker SHARED
  ${worker_sources} "${PROJECT_SOURCE_DIR}/src/base/version.cpp"
  $<TARGET_OBJECTS:oplat_probe_objects>)
add_dependencies(oplat_worker oplat_version_data)
target_include_directories(oplat_worker PRIVATE "${PROJECT_BINARY_DIR}/src/base")
foreach(layer base ir plan table measure runtimes)
  oplat_include_root(${layer} root)
  target_include_directories(oplat_worker PRIVATE "${root}")
endforeach()
target_compile_definitions(oplat_worker PRIVATE XXH_INLINE_ALL)
target_compile_options(oplat_worker PRIVATE -fno-sanitize=all)
target_link_libraries(oplat_worker PRIVATE
  oplat_build_flags tl::expected fmt::fmt-header-only nlohmann_json::nlohmann_json Threads::Threads)
target_link_options(oplat_worker PRIVATE
  -fno-sanitize=all -static-libstdc++ -static-libgcc "-Wl,--exclude-libs,ALL" "-Wl,-z,defs"
  "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/worker.map")
set_target_properties(oplat_worker PROPERTIES
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD_MODE GROUP
  LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/worker.map" VERSION 1.0.0 SOVERSION 1)
# What else includes worker.h finds it as it finds the headers of the layer.
oplat_include_root(runtimes root)
target_include_directories(oplat_worker INTERFACE "${root}")
