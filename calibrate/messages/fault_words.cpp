// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/messages/fault_words.hpp>

#include <array>

namespace headroom {
namespace {

using S = FaultSource;

constexpr std::string_view own_error =
    "Find the kernel with compute-sanitizer or CUDA_LAUNCH_BLOCKING=1; the GPU is well.";
constexpr std::string_view reset =
    "Drain the node, reset the GPU, and run its diagnostics (dcgmi diag -r 3) before it takes "
    "work again.";
constexpr std::string_view replace =
    "Take the node out of the job and restart it; where it comes again, have the GPU, its seat and its power looked "
    "at.";
constexpr std::string_view restart = "Restart the program; where it comes again, have the GPU looked at.";
constexpr std::string_view firmware =
    "Drain the node and reset the GPU; where it comes again, update driver and firmware.";
constexpr std::string_view link =
    "Take the node out, look at NVLink's counters (nvidia-smi nvlink -e) and at the fabric "
    "manager's log.";
constexpr std::string_view driver = "Restart the node; where it comes again, update driver and firmware.";

// Numbers and names: NVIDIA's open kernel modules, src/common/sdk/nvidia/inc/nverror.h (commit df1c9a3d, March 2026).
// What to do at once and after: NVIDIA, "Analyzing Xid Errors with the Xid Catalog"
// (docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, A100 to GB200, October 2025), whose immediate action
// decides: RESTART_APP after a look at the program, RESET_GPU, RESTART_BM, IGNORE (work goes on). 61 and 122 are of
// older GPUs, which that catalog calls unused.
constexpr std::array xids{
    XidMeaning{13, S::program, "a kernel's instruction or address was not allowed", own_error},
    XidMeaning{31, S::program, "a kernel touched memory that is not mapped", own_error},
    XidMeaning{32, S::program, "the stream of commands to the GPU was corrupt",
               "Restart the program, and look at it with compute-sanitizer; where it comes again, look for errors of "
               "PCIe in the kernel's log."},
    XidMeaning{38, S::device, "the driver's firmware did not answer in time", driver, false},
    XidMeaning{39, S::device, "an engine that copies failed", restart},
    XidMeaning{40, S::device, "an engine that copies failed", restart},
    XidMeaning{41, S::device, "an engine that copies failed", restart},
    XidMeaning{43, S::program, "a channel was stopped for the program's error", own_error},
    XidMeaning{44, S::program, "a fault fell into a switch of contexts", own_error},
    XidMeaning{45, S::follows, "work was cleared away after another error",
               "Look at the error before it; by itself it says that the process was ended."},
    XidMeaning{46, S::device, "the GPU stopped processing", reset},
    XidMeaning{48, S::device, "memory had an error of two bits, which ECC cannot mend", reset},
    XidMeaning{61, S::device, "the GPU's controller met a breakpoint", reset},
    XidMeaning{62, S::device, "the GPU's controller halted", reset},
    XidMeaning{63, S::device, "a row of memory is to be replaced",
               "Reset the GPU when the job allows, so that the row is remapped; it may go on until then.", false},
    XidMeaning{64, S::device, "a row of memory could not be replaced",
               "Drain the node and reset the GPU; where it comes again, have the GPU replaced."},
    XidMeaning{69, S::program, "a kernel's command was not allowed", own_error},
    XidMeaning{74, S::network, "an NVLink failed", link},
    XidMeaning{79, S::device, "the GPU fell off the bus", replace},
    XidMeaning{92, S::device, "errors of one bit come too often",
               "The job may go on; watch the rate (nvidia-smi -q -d ECC), and have the GPU looked at where it stays.",
               false},
    XidMeaning{94, S::device, "an error of memory was contained: one process is lost",
               "Restart the job; reset the GPU when it is free."},
    XidMeaning{95, S::device, "an error of memory was not contained", reset},
    XidMeaning{109, S::device, "a switch of contexts took too long", reset},
    XidMeaning{110, S::device, "a fault of the GPU's protection", reset},
    XidMeaning{119, S::device, "the GPU's system processor did not answer", firmware},
    XidMeaning{120, S::device, "the GPU's system processor failed", firmware},
    XidMeaning{121, S::network, "the link between processor and GPU had an error",
               "The job may go on; have the node looked at where it comes again.", false},
    XidMeaning{122, S::device, "the driver could not read the board's memory", driver},
    XidMeaning{136, S::network, "an NVLink could not be trained", link},
    XidMeaning{137, S::program, "a kernel reached through NVLink for memory that is not its own",
               "Look at the Xids of the other GPUs of the node, and at peers that ended or freed what others read."},
    XidMeaning{140, S::device, "memory had an error that was not recovered", reset},
    XidMeaning{143, S::device, "the GPU could not be started", reset},
    XidMeaning{144, S::network, "NVLink (SAW): a fault of a link of the fifth generation", link},
    XidMeaning{145, S::network, "NVLink (RLW): a fault of a link of the fifth generation", link},
    XidMeaning{146, S::network, "NVLink (TLW): a fault of a link of the fifth generation", link},
    XidMeaning{147, S::network, "NVLink (TREX): a fault of a link of the fifth generation", link},
    XidMeaning{148, S::network, "NVLink (NVLPW): a fault of a link of the fifth generation", link},
    XidMeaning{149, S::network, "NVLink (NETIR): a fault of a link of the fifth generation", link},
    XidMeaning{150, S::network, "NVLink (MSE): a fault of a link of the fifth generation", link},
    XidMeaning{154, S::follows, "the driver says what recovery the GPU needs", "Do what the line says."},
    XidMeaning{155, S::network, "the driver gave an NVLink up", link},
    XidMeaning{156, S::device, "a part of the GPU is retired", "Drain the node and reset the GPU; it is well then."},
    XidMeaning{157, S::device, "a part of the GPU could not be retired", replace, false},
    XidMeaning{158, S::device, "the GPU did not answer in time", reset},
    XidMeaning{171, S::device, "memory had an error that ECC cannot mend", reset},
    XidMeaning{172, S::device, "memory on the chip had an error that ECC cannot mend", reset},
};

constexpr std::array cuda_words{
    WordMeaning{"uncorrectable ECC", S::device, "memory had an error that ECC cannot mend", reset},
    WordMeaning{"Uncorrectable ECC", S::device, "memory had an error that ECC cannot mend", reset},
    WordMeaning{"uncorrectable NVLink error", S::network, "an NVLink failed", link},
    WordMeaning{"hardware stack error", S::device, "a kernel met an error of the hardware's stack", own_error},
    WordMeaning{"unknown error", S::device, "the driver does not say what failed",
                "Look at the kernel's log of that time (dmesg, Xid)."},
    WordMeaning{"no CUDA-capable device", S::device, "the process sees no GPU",
                "Look at nvidia-smi on that node, and at CUDA_VISIBLE_DEVICES."},
    WordMeaning{"illegal memory access", S::program, "a kernel touched memory that is not mapped", own_error},
    WordMeaning{"misaligned address", S::program, "a kernel's address was not aligned", own_error},
    WordMeaning{"illegal instruction", S::program, "a kernel's instruction was not allowed", own_error},
    WordMeaning{"device-side assert", S::program, "an assertion of a kernel failed, mostly an index out of range",
                "Run that batch on the CPU, or with CUDA_LAUNCH_BLOCKING=1, to see which index."},
    WordMeaning{"unspecified launch failure", S::program, "a kernel broke off", own_error},
    WordMeaning{"launch timed out", S::program, "a kernel ran longer than the display's watchdog allows",
                "Use a GPU without a display, or shorter kernels."},
    WordMeaning{"no kernel image", S::program, "the build holds no kernels for this GPU",
                "Install a build for the GPU's compute capability."},
    WordMeaning{"too many resources requested", S::program,
                "a kernel wants more registers or shared memory than there are",
                "Use fewer threads a block; headroom kernel occupancy says how many."},
    WordMeaning{"invalid device ordinal", S::program, "the process asks for a GPU that is not there",
                "Start one process for each GPU of the node, and look at CUDA_VISIBLE_DEVICES."},
    WordMeaning{"peer access", S::program, "GPUs cannot reach each other's memory",
                "Look at nvidia-smi topo -p2p r, and at the IOMMU (ACS) of a virtual machine."},
};

constexpr std::array nccl_words{
    WordMeaning{"Duplicate GPU detected", S::program, "two ranks use one GPU",
                "Set each process to its own GPU (torch.cuda.set_device(LOCAL_RANK))."},
    WordMeaning{"Got completion", S::network, "an adapter's request failed",
                "Look at both ends of that link: cable, port counters (perfquery), routes, and NCCL_IB_TIMEOUT."},
    WordMeaning{"ibv_reg_mr", S::host, "memory could not be registered with the adapter",
                "Raise the limit of locked memory (ulimit -l unlimited, also for the container)."},
    WordMeaning{"ibv_", S::network, "a call to the adapter failed",
                "Look at ibstat and the subnet manager on that node, and at NCCL_IB_HCA and NCCL_IB_GID_INDEX."},
    WordMeaning{"No space left on device", S::host, "shared memory of the host is full",
                "Give the container more (--shm-size, or an emptyDir in memory at /dev/shm)."},
    WordMeaning{"/dev/shm", S::host, "shared memory of the host failed",
                "Give the container more (--shm-size, or an emptyDir in memory at /dev/shm)."},
    WordMeaning{"Connection refused", S::network, "a rank could not be reached",
                "Look at NCCL_SOCKET_IFNAME and the firewall between the hosts."},
    WordMeaning{"No route to host", S::network, "a host could not be reached",
                "Look at NCCL_SOCKET_IFNAME and the routes between the hosts."},
    WordMeaning{"Connection timed out", S::network, "a host did not answer",
                "Look at NCCL_SOCKET_IFNAME, the routes and the firewall between the hosts."},
    WordMeaning{"Connection closed by remote peer", S::follows, "another rank went away",
                "Look at the log of the rank that ended first."},
    WordMeaning{"Connection reset by peer", S::follows, "another rank went away",
                "Look at the log of the rank that ended first."},
    WordMeaning{"Broken pipe", S::follows, "another rank went away", "Look at the log of the rank that ended first."},
};

constexpr std::array host_words{
    WordMeaning{"Out of memory: Killed process", S::host, "the kernel ended a process for want of host memory",
                "Use fewer workers that load samples, pin less, or ask for more memory of the node."},
    WordMeaning{"oom-kill:", S::host, "the kernel ended a process for want of host memory",
                "Use fewer workers that load samples, pin less, or ask for more memory of the node."},
    WordMeaning{"oom_kill", S::host, "the kernel ended a process for want of host memory",
                "Use fewer workers that load samples, pin less, or ask for more memory of the node."},
    WordMeaning{"DataLoader worker (pid", S::host, "a worker that loads samples was ended",
                "Give the container more shared memory (--shm-size), or use fewer workers."},
};

}  // namespace

std::span<const XidMeaning> xid_meanings() noexcept {
  return xids;
}

std::span<const WordMeaning> cuda_meanings() noexcept {
  return cuda_words;
}

std::span<const WordMeaning> nccl_meanings() noexcept {
  return nccl_words;
}

std::span<const WordMeaning> host_meanings() noexcept {
  return host_words;
}

}  // namespace headroom
