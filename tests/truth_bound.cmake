# No measured training row beats the hardware: none is rejected as faster than its roofline. Rows that are kept with the
# source are always asked, those of the shared folder where it is there.
file(GLOB files ${CMAKE_CURRENT_LIST_DIR}/../scenarios/published/*.csv ${TRUTH}/train_*.csv)
list(FILTER files EXCLUDE REGEX "trtllm_kv_capacity|wide_ep")  # of serving
execute_process(COMMAND ${BINARY} validate ${files} --format csv OUTPUT_VARIABLE out RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "validate ended with ${status}")
endif()
string(REGEX MATCHALL "[^\n]*faster than the roofline[^\n]*" faster "${out}")
if(faster)
  list(JOIN faster "\n" lines)
  message(FATAL_ERROR "rows that beat the hardware's bound:\n${lines}")
endif()
string(REGEX MATCHALL "[^\n]*,ok,[^\n]*" answered "${out}")
list(LENGTH answered count)
if(count LESS 100)
  message(FATAL_ERROR "${count} rows are answered: fewer than stand with the source")
endif()
