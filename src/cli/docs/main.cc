// weir-docs: prints the documents that are made from the command table and the design's fields, for
// the package and the repository.
//
//   weir-docs man | bash | zsh          what is installed
//   weir-docs commands | design-file    docs/commands.md, docs/design-file.md
#include <iostream>
#include <string_view>

#include "cli/docs/documents.h"
#include "cli/frame/command_table.h"
#include "design/file/schema.h"

int main(int argc, char** argv) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  const auto table = weir::cli::command_table();
  if (name == "man") {
    std::cout << weir::cli::man_page(table);
  } else if (name == "bash") {
    std::cout << weir::cli::bash_completion(table);
  } else if (name == "zsh") {
    std::cout << weir::cli::zsh_completion(table);
  } else if (name == "commands") {
    std::cout << weir::cli::commands_page(table);
  } else if (name == "design-file") {
    std::cout << weir::design::design_reference();
  } else {
    std::cerr << "usage: weir-docs man|bash|zsh|commands|design-file\n";
    return 2;
  }
  std::cout.flush();
  return std::cout.good() ? 0 : 1;
}
