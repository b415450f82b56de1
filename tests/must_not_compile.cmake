# Every case must be refused by the compiler; control.cpp must pass, so that a broken include path is no success.
file(GLOB cases ${CASES}/*.cpp)
foreach(case IN LISTS cases)
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDES}/core ${case}
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE errors)
  if(case MATCHES "control.cpp$")
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${case} must compile:\n${errors}")
    endif()
  elseif(status EQUAL 0)
    message(FATAL_ERROR "${case} compiles and must not")
  endif()
endforeach()
