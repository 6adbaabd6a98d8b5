# weir_layer(NAME [COLD] [USES layer…] [LIBRARIES target…])
#
# COLD: prints and parses, and is compiled for that: -O1 takes a quarter less time to compile than
# -O3, and most of the code is such.
#
# Turns src/NAME into the library weir_NAME and, with WEIR_TESTS, its *_test.cc files into the
# binary NAME_test with one CTest entry. main.cc belongs to the executable, not to the library.
include_guard()

add_library(weir_options INTERFACE)
target_include_directories(weir_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
# A member that an aggregate leaves out has its default: no warning.
target_compile_options(weir_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wswitch-enum
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 takes std::string's own copying for overlapping at -O2 and above (GCC bug 105651).
  target_compile_options(weir_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ collects garbage from 128 MB on, and frees little: a tenth of the compile time. A unit then
  # takes about 1 GB at the most.
  target_compile_options(weir_options INTERFACE
    "SHELL:--param ggc-min-expand=300" "SHELL:--param ggc-min-heapsize=400000")
endif()
if(WEIR_WERROR)
  target_compile_options(weir_options INTERFACE -Werror)
endif()
if(WEIR_SANITIZE STREQUAL "thread")
  target_compile_options(weir_options INTERFACE -fsanitize=thread)
  target_link_options(weir_options INTERFACE -fsanitize=thread)
elseif(WEIR_SANITIZE)
  target_compile_options(weir_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
    # A check at every pointer is a quarter of the compile time; ASan sees what they would.
    -fno-sanitize=null,alignment,object-size,vptr)
  target_link_options(weir_options INTERFACE -fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # What g++ sees less of in instrumented code (std::regex, replaced operator new); the release
    # build still warns.
    target_compile_options(weir_options INTERFACE
      -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
  endif()
endif()
if(WEIR_FUZZ)
  target_compile_options(weir_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(WEIR_TESTS)
  find_package(GTest REQUIRED)
endif()

# One precompiled header for every library and test of the layers: a quarter of clang's time for the
# sanitized build (g++ gains nothing). The release build does without, so each file still includes
# what it uses.
if(WEIR_PRECOMPILE)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cc CONTENT "")
  add_library(weir_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(weir_precompiled PRIVATE
    weir_options fmt::fmt nlohmann_json::nlohmann_json GTest::gtest)
  target_precompile_headers(weir_precompiled PRIVATE
    <algorithm> <array> <functional> <map> <optional> <span> <string> <vector>
    <fmt/format.h> <gtest/gtest.h> <nlohmann/json.hpp>)
endif()

# A room (a folder of sources) is compiled as one translation unit, or with the rooms that stand
# beside it in units.txt: large headers are then read once per unit, not once per file. A name in an
# anonymous namespace must be unique in its unit.
set(WEIR_UNITS_FILE ${CMAKE_CURRENT_LIST_DIR}/units.txt)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
             CMAKE_CONFIGURE_DEPENDS ${WEIR_UNITS_FILE})
file(STRINGS ${WEIR_UNITS_FILE} units REGEX "^[^#]")
foreach(unit ${units})
  string(REPLACE " " ";" rooms ${unit})
  list(GET rooms 0 first)
  foreach(room ${rooms})
    set(WEIR_UNIT_OF_${room} ${first})
  endforeach()
endforeach()

function(weir_rooms name)
  set_target_properties(weir_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH room)
    string(REPLACE "${PROJECT_SOURCE_DIR}/src/" "" room ${room})
    if(DEFINED WEIR_UNIT_OF_${room})
      set(room ${WEIR_UNIT_OF_${room}})
    endif()
    string(REPLACE "/" "_" room ${room})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
  endforeach()
endfunction()

function(weir_layer name)
  cmake_parse_arguments(ARG "COLD" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(WEIR_SANITIZE STREQUAL "thread")
    list(FILTER tests EXCLUDE REGEX "/allocation_test\\.cc$")  # its allocator and TSan's collide
  endif()
  list(TRANSFORM ARG_USES PREPEND weir_)
  if(sources)
    add_library(weir_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(weir_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  if(ARG_COLD AND sources)
    # g++ 12 at -O1 takes the value of an empty std::optional for one that may be read.
    target_compile_options(weir_${name} PRIVATE $<$<CONFIG:Release>:-O1;-Wno-maybe-uninitialized>)
  endif()
  if(WEIR_UNITY AND sources)
    weir_rooms(${name} ${sources})
  endif()
  target_link_libraries(weir_${name} ${scope} weir_options ${ARG_USES} ${ARG_LIBRARIES})
  if(WEIR_PRECOMPILE AND sources)
    target_precompile_headers(weir_${name} REUSE_FROM weir_precompiled)
  endif()
  if(WEIR_TESTS AND WEIR_UNIT_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE weir_${name} GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE
      WEIR_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
    if(WEIR_PRECOMPILE)
      target_precompile_headers(${name}_test REUSE_FROM weir_precompiled)
    endif()
    add_test(NAME unit.${name} COMMAND ${name}_test)
    # What its cases raise and spare, for tests/diagnose/shown_test.py.
    set_tests_properties(unit.${name} PROPERTIES LABELS unit
                         ENVIRONMENT "WEIR_SHOWN=${CMAKE_BINARY_DIR}/shown/${name}")
  endif()
endfunction()
