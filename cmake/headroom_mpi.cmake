# HEADROOM_MPI: headroom-mpi, the search on several ranks.
headroom_choice(MPI LABEL "MPI" WHAT "headroom-mpi" WHEN "an MPI is found")
if(NOT HEADROOM_TRY_MPI)
  return()
endif()

# The C interface: FindMPI asks for a C compiler to find it.
include(CheckLanguage)
check_language(C)
if(CMAKE_C_COMPILER)
  enable_language(C)
  find_package(MPI QUIET COMPONENTS C)
endif()
set(why)
if(NOT TARGET MPI::MPI_C)
  set(why "no MPI was found; install libopenmpi-dev and openmpi-bin")
endif()
headroom_decide(MPI LABEL "MPI" WITH "${MPI_C_LIBRARIES}" WHY_NOT "${why}")
