# The designs of designs/*.yaml as string constants: generated/design/templates_data.h.
set(header ${PROJECT_BINARY_DIR}/generated/design/templates_data.h)
string(JOIN "\n" content
  "#pragma once"
  "// Generated from designs/*.yaml by cmake/WeirTemplates.cmake."
  "#include <string_view>"
  ""
  "namespace weir::design {\n")
foreach(name pair pod16 rail256 clos1k)
  set(file ${PROJECT_SOURCE_DIR}/designs/${name}.yaml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(SUBSTRING ${name} 0 1 first)
  string(SUBSTRING ${name} 1 -1 rest)
  string(TOUPPER ${first} first)
  string(APPEND content "inline constexpr std::string_view kTemplate${first}${rest} =\n"
         "    R\"yaml(${text})yaml\";\n")
endforeach()
string(APPEND content "}  // namespace weir::design\n")
file(GENERATE OUTPUT ${header} CONTENT "${content}")
target_include_directories(weir_design PRIVATE ${PROJECT_BINARY_DIR}/generated)
