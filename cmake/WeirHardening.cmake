# What makes a fault in the release binary a crash and not more: the flags of Debian's
# hardening=+all and the processor's control-flow checks. tests/release/elf_test.py reads the binary
# and says what is missing. Not in sanitized and debug builds: they have their own checks, and
# _FORTIFY_SOURCE needs -O1.
include_guard()
include(CheckCXXCompilerFlag)

set(hardening -fPIE -fstack-protector-strong -fstack-clash-protection -g1
  # _FORTIFY_SOURCE=3 needs GCC 12 or clang 9 and glibc 2.34; less has no effect there.
  -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
  # No path of the machine that built it; with it two builds in two folders give one binary.
  -ffile-prefix-map=${PROJECT_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
check_cxx_compiler_flag(-fcf-protection=full WEIR_HAS_CET)  # x86 alone
if(WEIR_HAS_CET)
  list(APPEND hardening -fcf-protection=full)
endif()
if(NOT WEIR_SANITIZE AND NOT WEIR_FUZZ)
  target_compile_options(weir_options INTERFACE "$<$<CONFIG:Release>:${hardening}>")
  target_link_options(weir_options INTERFACE
    "$<$<CONFIG:Release>:-pie;-Wl,-z,relro;-Wl,-z,now;-Wl,-z,noexecstack;-Wl,--build-id=sha1>")
endif()
