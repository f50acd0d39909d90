# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT with version, commit and build; left alone where nothing changed, so that nothing is
# rebuilt for it.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} diff --quiet HEAD RESULT_VARIABLE dirty ERROR_QUIET)
  if(dirty)
    string(APPEND commit "-dirty")
  endif()
endif()
set(text "#pragma once
#define OPLAT_VERSION \"${VERSION}\"
#define OPLAT_COMMIT \"${commit}\"
#define OPLAT_BUILD_TYPE \"${BUILD_TYPE}\"
#define OPLAT_COMPILER \"${COMPILER}\"
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
