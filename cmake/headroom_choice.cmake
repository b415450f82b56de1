# Parts that are built where what they need is there: HEADROOM_<part> = AUTO | ON | OFF, and HEADROOM_HAVE_<part>.
#
#   headroom_choice(<part> LABEL <name> WHAT <what is built> WHEN <what is looked for> [DEFAULT <value>] [PROGRAM])
#   headroom_decide(<part> LABEL <name> WITH <what it is built with> [WHY_NOT <what is missing>])
#
# The first makes the cache entry and sets HEADROOM_TRY_<part>: whether to look for what the part needs. It is OFF in a
# project that includes this one and AUTO in this one, unless DEFAULT says otherwise; a part of the PROGRAM is OFF without
# it. The second, after the look, sets HEADROOM_HAVE_<part>; what is missing is an error under ON. One status line says
# why or why not.
function(headroom_choice part)
  cmake_parse_arguments(PARSE_ARGV 1 choice "PROGRAM" "LABEL;WHAT;WHEN;DEFAULT" "")
  set(default OFF)
  if(DEFINED choice_DEFAULT)
    set(default ${choice_DEFAULT})
  elseif(PROJECT_IS_TOP_LEVEL)
    set(default AUTO)
  endif()
  set(HEADROOM_${part} ${default} CACHE STRING "Build ${choice_WHAT}: AUTO (when ${choice_WHEN}), ON or OFF")
  set_property(CACHE HEADROOM_${part} PROPERTY STRINGS AUTO ON OFF)
  set(HEADROOM_HAVE_${part} OFF PARENT_SCOPE)
  set(HEADROOM_TRY_${part} ON PARENT_SCOPE)
  set(off "HEADROOM_${part}")
  if(choice_PROGRAM)
    string(APPEND off " or HEADROOM_PROGRAM")
  endif()
  if(HEADROOM_${part} STREQUAL "OFF" OR (choice_PROGRAM AND NOT HEADROOM_PROGRAM))
    set(HEADROOM_TRY_${part} OFF PARENT_SCOPE)
    message(STATUS "${choice_LABEL}: OFF (${off} is OFF)")
  endif()
endfunction()

function(headroom_decide part)
  cmake_parse_arguments(PARSE_ARGV 1 decision "" "LABEL;WITH;WHY_NOT" "")
  if(NOT decision_WHY_NOT)
    set(HEADROOM_HAVE_${part} ON PARENT_SCOPE)
    message(STATUS "${decision_LABEL}: ON (${decision_WITH})")
  elseif(HEADROOM_${part} STREQUAL "ON")
    message(FATAL_ERROR "HEADROOM_${part} is ON, but ${decision_WHY_NOT}")
  else()
    message(STATUS "${decision_LABEL}: OFF (${decision_WHY_NOT})")
  endif()
endfunction()
