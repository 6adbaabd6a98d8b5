# What a user gets: the binary, its man page and its completion for bash and zsh (all made from the
# command table by weir-docs, so that they cannot disagree with it), and the Debian package of
# these.
include_guard()
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME weir)

set(WEIR_MAN ${PROJECT_BINARY_DIR}/docs/weir.1.gz)
set(WEIR_MPI_MAN ${PROJECT_BINARY_DIR}/docs/weir-mpi.1.gz)
set(WEIR_BASH ${PROJECT_BINARY_DIR}/docs/weir.bash)
set(WEIR_ZSH ${PROJECT_BINARY_DIR}/docs/_weir)
set(WEIR_CHANGELOG ${PROJECT_BINARY_DIR}/docs/changelog.gz)  # Debian's form; CHANGELOG.md has more
configure_file(packaging/changelog.in docs/changelog @ONLY)
add_custom_command(
  OUTPUT ${WEIR_MAN} ${WEIR_MPI_MAN} ${WEIR_BASH} ${WEIR_ZSH} ${WEIR_CHANGELOG}
  COMMAND weir-docs man > ${PROJECT_BINARY_DIR}/docs/weir.1
  COMMAND gzip -9nf ${PROJECT_BINARY_DIR}/docs/weir.1
  COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/packaging/weir-mpi.1 > ${WEIR_MPI_MAN}
  COMMAND weir-docs bash > ${WEIR_BASH}
  COMMAND weir-docs zsh > ${WEIR_ZSH}
  COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/docs/changelog
  DEPENDS weir-docs ${PROJECT_BINARY_DIR}/docs/changelog
          ${PROJECT_SOURCE_DIR}/packaging/weir-mpi.1
  COMMENT "Man page and completion"
  VERBATIM)
add_custom_target(weir_docs DEPENDS ${WEIR_MAN} ${WEIR_BASH} ${WEIR_ZSH} ${WEIR_CHANGELOG})

install(TARGETS weir RUNTIME)
install(FILES ${WEIR_MAN} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${WEIR_BASH} RENAME weir
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
# Where zsh looks: packages of Debian have a place of their own, whatever is local another.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(folder vendor-completions)
  endif()
  file(INSTALL \"${WEIR_ZSH}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/share/zsh/\${folder}\")")
# The unit that settles open journals at boot. Enabled as it is installed, and started by nothing
# but a boot; systemd looks below /usr and /usr/local.
install(CODE "
  set(BINDIR \"\${CMAKE_INSTALL_PREFIX}/bin\")
  set(folder \"${PROJECT_BINARY_DIR}/docs\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/weir-settle.service.in\"
                 \"\${folder}/weir-settle.service\" @ONLY)
  set(units \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")
  file(INSTALL \"\${folder}/weir-settle.service\" DESTINATION \"\${units}\")
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${units}/multi-user.target.wants\")
  file(CREATE_LINK ../weir-settle.service
       \"\$ENV{DESTDIR}\${units}/multi-user.target.wants/weir-settle.service\" SYMBOLIC)")
# The exporter's unit: started by whoever wants it.
install(CODE "
  set(BINDIR \"\${CMAKE_INSTALL_PREFIX}/bin\")
  set(folder \"${PROJECT_BINARY_DIR}/docs\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/weir-serve.service.in\"
                 \"\${folder}/weir-serve.service\" @ONLY)
  file(INSTALL \"\${folder}/weir-serve.service\"
       DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")")
install(FILES ${PROJECT_SOURCE_DIR}/packaging/copyright ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${WEIR_CHANGELOG}
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A package of its own, since it needs Open MPI.
if(TARGET weir-mpi)
  install(TARGETS weir-mpi RUNTIME COMPONENT weir-mpi)
  install(FILES ${WEIR_MPI_MAN}
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT weir-mpi)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/copyright ${WEIR_CHANGELOG}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/weir-mpi COMPONENT weir-mpi)
endif()

# The packages (`make deb`).
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL weir)
if(TARGET weir-mpi)
  list(APPEND CPACK_COMPONENTS_ALL weir-mpi)
endif()
set(CPACK_DEBIAN_WEIR_PACKAGE_NAME weir)
set(CPACK_DEBIAN_WEIR-MPI_PACKAGE_NAME weir-mpi)
set(CPACK_DEBIAN_WEIR-MPI_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_PACKAGE_NAME weir)
set(CPACK_PACKAGE_CONTACT "Weir maintainers <maintainers@weir.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "lossless RoCEv2 fabrics: designed, proven, watched")
set(CPACK_PACKAGE_DESCRIPTION
"Weir works on RDMA-over-Ethernet networks under GPU clusters. One design file
holds the intent of the whole fabric; from it Weir checks the design, configures
hosts and switches, verifies them under load, names what is broken and says what
to type. A packet-level simulator runs the same design without hardware.")
set(CPACK_COMPONENT_WEIR_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_COMPONENT_WEIR-MPI_DESCRIPTION
"The tuning of Weir with its simulations made by the ranks of an MPI job: the
same answer as weir tune on one machine, sooner.")
set(CPACK_DEBIAN_WEIR-MPI_DESCRIPTION
"weir tune over the ranks of an MPI job
${CPACK_COMPONENT_WEIR-MPI_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)  # what is stripped goes into a package of its own
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
