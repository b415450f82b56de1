# Installs the floors with their headers, the binary, and a package that find_package(headroom) finds.
include(CMakePackageConfigHelpers)

add_library(headroom_all INTERFACE)
add_library(headroom::headroom ALIAS headroom_all)
set_target_properties(headroom_all PROPERTIES EXPORT_NAME headroom)
target_link_libraries(headroom_all INTERFACE headroom_calibrate)

get_property(floors GLOBAL PROPERTY HEADROOM_FLOORS)
list(REMOVE_ITEM floors headroom_verbs)  # the verbs belong to the binary
install(TARGETS ${floors} EXPORT headroomTargets ARCHIVE FILE_SET HEADERS)
install(TARGETS headroom_all EXPORT headroomTargets)
install(TARGETS headroom_cli RUNTIME)
install(EXPORT headroomTargets NAMESPACE headroom:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headroom)

# A static library asks its consumers for what it links.
file(WRITE ${PROJECT_BINARY_DIR}/headroomConfig.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(pugixml)\n"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/headroomTargets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/headroomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/headroomConfig.cmake ${PROJECT_BINARY_DIR}/headroomConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headroom)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
