#include "cli/process.h"

int main(int argc, char** argv) {
  return weir::cli::run_process({argv + 1, argv + argc});
}
