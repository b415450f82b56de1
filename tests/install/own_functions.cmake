# Programs that answer take no function of the C library whose last digit depends on that library or on the processor:
# core/elementary has them. Exact ones (floor, fmod, sqrt) are the same everywhere. -DREADELF=... -DFILES=a;b
set(inexact
  acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 fma hypot j0 j1 jn lgamma lgamma_r log
  log10 log1p log2 pow sin sincos sinh tan tanh tgamma y0 y1 yn)
set(problems)
foreach(file IN LISTS FILES)
  execute_process(COMMAND ${READELF} --dyn-syms --wide ${file} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${file}: ${err}")
  endif()
  foreach(name IN LISTS inexact)
    if(out MATCHES "UND ${name}f?@")
      list(APPEND problems "${file} takes '${name}' of the C library, whose digits are that library's: give it a place in core/elementary")
    endif()
  endforeach()
endforeach()
if(problems)
  list(JOIN problems "\n" text)
  message(FATAL_ERROR "${text}")
endif()
