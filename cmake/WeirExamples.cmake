# The examples of accounts, a line each, as string constants: generated/diagnose/examples_data.h.
set(file ${PROJECT_SOURCE_DIR}/src/diagnose/paste/account_examples.tsv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
file(READ ${file} text)
string(REGEX REPLACE "\n$" "" text "${text}")
string(REPLACE "\n" ")tell\",\n    R\"tell(" text "${text}")
string(JOIN "\n" content
  "#pragma once"
  "// Generated from src/diagnose/paste/account_examples.tsv by cmake/WeirExamples.cmake."
  "#include <array>"
  "#include <string_view>"
  ""
  "namespace weir::diagnose {"
  "inline constexpr auto kExampleLines = std::to_array<std::string_view>({"
  "    R\"tell(${text})tell\"});"
  "}  // namespace weir::diagnose\n")
file(WRITE ${PROJECT_BINARY_DIR}/generated/diagnose/examples_data.h.new "${content}")
file(COPY_FILE ${PROJECT_BINARY_DIR}/generated/diagnose/examples_data.h.new
     ${PROJECT_BINARY_DIR}/generated/diagnose/examples_data.h ONLY_IF_DIFFERENT)
target_include_directories(weir_diagnose PRIVATE ${PROJECT_BINARY_DIR}/generated)
# The regression over them is arithmetic on long rows: optimised in every build.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/diagnose/account_likeness.cc PROPERTIES
  COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
