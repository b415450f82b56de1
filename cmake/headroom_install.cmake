# Installs the binary with its pages, and the library: one public header, the floors up to `answers` as archives, and a
# package that find_package(headroom) finds. Components are what the Debian packages are made of
# (headroom_package.cmake): runtime, development, probes, mpi, onnx, web.
include(CMakePackageConfigHelpers)

get_property(floors GLOBAL PROPERTY HEADROOM_FLOORS)
list(REMOVE_ITEM floors headroom_calibrate headroom_verbs)  # they belong to the binary
install(TARGETS ${floors} EXPORT headroomTargets ARCHIVE COMPONENT development)
install(TARGETS headroom_all EXPORT headroomTargets)
install(DIRECTORY include/headroom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT headroomTargets NAMESPACE headroom:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headroom
        COMPONENT development)

# A static library asks its consumers for what it links.
file(WRITE ${PROJECT_BINARY_DIR}/headroomConfig.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(pugixml)\n"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/headroomTargets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/headroomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/headroomConfig.cmake ${PROJECT_BINARY_DIR}/headroomConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headroom COMPONENT development)

install(TARGETS headroom_cli RUNTIME COMPONENT runtime)
set(pages ${PROJECT_BINARY_DIR}/cli/pages/share)
install(DIRECTORY ${pages}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT runtime)
install(DIRECTORY ${pages}/bash-completion ${pages}/zsh ${pages}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}
        COMPONENT runtime)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.md")
install(DIRECTORY scenarios/train scenarios/serve scenarios/traces
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples/scenarios COMPONENT runtime)
