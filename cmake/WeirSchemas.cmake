# The JSON Schemas of docs/schemas/*.json as string constants: generated/cli/schemas_data.h.
file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/schemas/*.json)
set(header ${PROJECT_BINARY_DIR}/generated/cli/schemas_data.h)
string(JOIN "\n" content
  "#pragma once"
  "// Generated from docs/schemas/*.json by cmake/WeirSchemas.cmake."
  "#include <string_view>"
  ""
  "namespace weir::cli {"
  ""
  "struct EmbeddedSchema {"
  "  std::string_view name;"
  "  std::string_view text;"
  "};"
  "inline constexpr EmbeddedSchema kEmbeddedSchemas[] = {\n")
foreach(file ${schemas})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND content "    {\"${name}\",\n     R\"json(${text})json\"},\n")
endforeach()
string(APPEND content "};\n\n}  // namespace weir::cli\n")
file(GENERATE OUTPUT ${header} CONTENT "${content}")
target_include_directories(weir_cli PRIVATE ${PROJECT_BINARY_DIR}/generated)
