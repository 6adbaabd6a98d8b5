# The files of src/web as string constants: generated/serve/assets_data.h.
set(header ${PROJECT_BINARY_DIR}/generated/serve/assets_data.h)
string(JOIN "\n" content
  "#pragma once"
  "// Generated from src/web by cmake/WeirWeb.cmake."
  "#include <string_view>"
  ""
  "namespace weir::serve::web {\n")
foreach(asset IndexHtml:index.html PageCss:page.css ModelJs:model.js MapJs:map.js PageJs:page.js
              UplotJs:uplot/uPlot.iife.min.js UplotCss:uplot/uPlot.min.css
              UplotLicense:uplot/LICENSE)
  string(REPLACE ":" ";" asset ${asset})
  list(GET asset 0 name)
  list(GET asset 1 path)
  set(file ${PROJECT_SOURCE_DIR}/src/web/${path})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(APPEND content "inline constexpr std::string_view k${name} =\n"
         "    R\"weir_asset(${text})weir_asset\";\n")
endforeach()
string(APPEND content "}  // namespace weir::serve::web\n")
# Written as it is: a generator expression in a script would be one of CMake's.
set(before "")
if(EXISTS ${header})
  file(READ ${header} before)
endif()
if(NOT before STREQUAL content)
  file(WRITE ${header} "${content}")
endif()
target_include_directories(weir_serve PRIVATE ${PROJECT_BINARY_DIR}/generated)
