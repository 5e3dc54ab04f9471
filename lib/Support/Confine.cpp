// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Landlock decides which files a program reaches; the seccomp filter takes away
// what Landlock does not know: sockets, modes and times of files, terminals.
#include "rhizome/Support/Confine.h"
#include "rhizome/Support/Folders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <set>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

//===----------------------------------------------------------------------===//
// Landlock, whose newer parts Debian's headers do not have
//===----------------------------------------------------------------------===//

namespace {
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;

struct RulesetAttributes {
  uint64_t files, network, scopes;
};
struct __attribute__((packed)) PathAttributes {
  uint64_t allowed;
  int32_t folder;
};

constexpr uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2,
                   kReadFolder = 1 << 3, kRemoveFolder = 1 << 4,
                   kRemoveFile = 1 << 5, kMakeFolder = 1 << 7,
                   kMakeFile = 1 << 8, kMakeSocket = 1 << 9,
                   kMakePipe = 1 << 10, kMakeLink = 1 << 12, kRefer = 1 << 13,
                   kTruncate = 1 << 14, kControl = 1 << 15;
constexpr uint64_t kOfFiles =
    kExecute | kWriteFile | kReadFile | kTruncate | kControl;
constexpr uint64_t kWrites = kWriteFile | kRemoveFolder | kRemoveFile |
                             kMakeFolder | kMakeFile | kMakeSocket | kMakePipe |
                             kMakeLink | kRefer | kTruncate;

/// The system's version of Landlock, 0 without it.
int landlockVersion() {
  constexpr unsigned kAsk = 1;
  long version = syscall(kCreateRuleset, nullptr, size_t(0), kAsk);
  return version > 0 ? int(version) : 0;
}

/// All accesses to files that this version knows.
uint64_t knownFiles(int version) {
  uint64_t all = (1 << 13) - 1;
  all |= version >= 2 ? kRefer : 0;
  all |= version >= 3 ? kTruncate : 0;
  all |= version >= 5 ? kControl : 0;
  return all;
}

//===----------------------------------------------------------------------===//
// The filter of system calls
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kMachine = 0;
#endif

/// What changes the machine, other processes or their memory.
constexpr int kForbidden[] = {
    SYS_acct,
    SYS_add_key,
    SYS_bpf,
    SYS_chroot,
    SYS_clock_settime,
    SYS_delete_module,
    SYS_finit_module,
    SYS_init_module,
    SYS_kexec_load,
    SYS_keyctl,
    SYS_mount,
    SYS_open_by_handle_at,
    SYS_perf_event_open,
    SYS_pivot_root,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_ptrace,
    SYS_quotactl,
    SYS_reboot,
    SYS_request_key,
    SYS_setdomainname,
    SYS_sethostname,
    SYS_setns,
    SYS_settimeofday,
    SYS_swapoff,
    SYS_swapon,
    SYS_umount2,
    SYS_unshare,
    SYS_userfaultfd,
    SYS_vhangup,
    SYS_truncate,
#ifdef SYS_iopl
    SYS_iopl,
    SYS_ioperm,
#endif
};
/// Memory and queues that other programs of the user have as well, by a number
/// or a name that is no file's.
constexpr int kShared[] = {
    SYS_shmget, SYS_shmat,      SYS_shmctl,    SYS_semget, SYS_semctl,
    SYS_semop,  SYS_semtimedop, SYS_msgget,    SYS_msgsnd, SYS_msgrcv,
    SYS_msgctl, SYS_mq_open,    SYS_mq_unlink,
};
/// What has another way, which is looked into.
constexpr int kMissing[] = {425 /* io_uring_setup */, 437 /* openat2 */};
/// Modes, owners, times and attributes of files, which Landlock leaves alone;
/// compilers and the like set them and need not succeed.
constexpr int kPretended[] = {
#ifdef SYS_chmod
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
    SYS_fchmod,
    SYS_fchmodat,
    452 /* fchmodat2 */,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    463 /* setxattrat */,
    466 /* removexattrat */};

class Filter {
public:
  explicit Filter(const Confinement &confinement) {
    load(offsetof(seccomp_data, arch));
    unless(kMachine, SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    // The calls of programs with addresses of 32 bits.
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
    give(SECCOMP_RET_ERRNO | ENOSYS);
#endif
    for (int call : kForbidden)
      on(call, EPERM);
    for (int call : kMissing)
      on(call, ENOSYS);
    if (!confinement.hasNetwork)
      on(SYS_socket, EACCES);
    if (!confinement.isLarge)
      for (int call : kShared)
        on(call, EPERM);
    // A file without a name, which Landlock would let it start.
    if (confinement.programs == Confinement::Programs::None)
      on(SYS_memfd_create, EACCES);
    // Limits of another process, which may end it.
    unlessZero(SYS_prlimit64, 0);
    if (!confinement.isLarge)
      for (int call : kPretended)
        on(call, 0);
    // Text that a terminal would take as typed.
    constexpr unsigned kLinux = 0x541C;
    refuse(SYS_ioctl, 1, {TIOCSTI, kLinux, TIOCSETD});
    // Landlock before its version 3 lets files be truncated that are opened
    // for reading.
#ifdef SYS_open
    refuseTruncation(SYS_open, 1);
#endif
    refuseTruncation(SYS_openat, 2);
    give(SECCOMP_RET_ALLOW);
  }

  std::vector<sock_filter> code;

private:
  void load(size_t offset) {
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, uint32_t(offset)));
  }
  void give(uint32_t result) {
    code.push_back(BPF_STMT(BPF_RET | BPF_K, result));
  }
  void unless(uint32_t value, uint32_t result) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    give(result);
  }
  void on(int call, int error) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 1));
    give(SECCOMP_RET_ERRNO | uint32_t(error));
  }
  /// The low half of an argument.
  static size_t argument(unsigned k) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return offsetof(seccomp_data, args) + 8 * size_t(k);
  }
  void unlessZero(int call, unsigned k) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 4));
    load(argument(k));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    give(SECCOMP_RET_ERRNO | EPERM);
    load(offsetof(seccomp_data, nr));
  }
  void refuse(int call, unsigned k, std::vector<uint32_t> values) {
    const auto length = uint8_t(2 + 2 * values.size());
    code.push_back(
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, length));
    load(argument(k));
    for (uint32_t value : values) {
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
      give(SECCOMP_RET_ERRNO | EPERM);
    }
    load(offsetof(seccomp_data, nr));
  }
  void refuseTruncation(int call, unsigned k) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 5));
    load(argument(k));
    code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE));
    code.push_back(
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_TRUNC | O_RDONLY, 0, 1));
    give(SECCOMP_RET_ERRNO | EACCES);
    load(offsetof(seccomp_data, nr));
  }
};

//===----------------------------------------------------------------------===//
// What programs need
//===----------------------------------------------------------------------===//

constexpr const char *kSystem[] = {"/usr",
                                   "/bin",
                                   "/sbin",
                                   "/lib",
                                   "/lib32",
                                   "/lib64",
                                   "/libx32",
                                   "/opt",
                                   "/nix/store",
                                   "/proc",
                                   "/sys/devices/system",
                                   "/sys/fs/cgroup"};
/// The rest of /etc may hold secrets.
constexpr const char *kSettings[] = {
    "/etc/alternatives",  "/etc/ccache.conf",  "/etc/group",
    "/etc/host.conf",     "/etc/hosts",        "/etc/ld.so.cache",
    "/etc/ld.so.conf",    "/etc/ld.so.conf.d", "/etc/ld.so.preload",
    "/etc/locale.alias",  "/etc/localtime",    "/etc/lsb-release",
    "/etc/nsswitch.conf", "/etc/openmpi",      "/etc/os-release",
    "/etc/passwd",        "/etc/perl",         "/etc/pmix",
    "/etc/python3",       "/etc/resolv.conf"};
constexpr const char *kSources[] = {"/dev/null", "/dev/zero", "/dev/full",
                                    "/dev/random", "/dev/urandom"};
constexpr const char *kLoaders[] = {
    "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"};

std::string realPath(StringRef path) {
  SmallString<256> real;
  return sys::fs::real_path(path, real) ? path.str() : real.str().str();
}

/// The folders of an installation by the folder of a program in it: prefix/bin
/// stands with prefix/lib and others. Of the user's home, and what holds other
/// things of the user's, only these.
void addInstallation(StringRef programs, std::set<std::string> &folders) {
  if (!programs.starts_with("/"))
    return;
  folders.insert(programs.str());
  const StringRef prefix = sys::path::parent_path(programs);
  const StringRef name = sys::path::filename(programs);
  if ((name != "bin" && name != "sbin") || prefix == "/" || prefix.empty())
    return;
  const char *home = std::getenv("HOME");
  if (home && *home && StringRef(home).starts_with(prefix))
    return;
  if (sys::path::filename(prefix) != ".local") {
    folders.insert(prefix.str());
    return;
  }
  for (const char *part :
       {"lib", "lib64", "libexec", "include", "share/verilator", "share/yosys",
        "share/icebox", "share/nextpnr", "share/pipx"})
    folders.insert((prefix + "/" + part).str());
}

/// The interpreter of a script, "" for other programs.
std::string interpreterOf(StringRef program) {
  Descriptor file(open(program.str().c_str(), O_RDONLY | O_CLOEXEC));
  char start[256];
  ssize_t count = file.get() < 0 ? 0 : read(file.get(), start, sizeof start);
  StringRef line = StringRef(start, size_t(std::max<ssize_t>(count, 0)));
  if (!line.consume_front("#!"))
    return "";
  return line.split('\n').first.trim().split(' ').first.str();
}

/// What a program needs to run, besides what it works on.
std::set<std::string> installationsFor(const Confinement &wanted,
                                       StringRef program) {
  std::set<std::string> folders;
  auto add = [&](StringRef path) {
    addInstallation(sys::path::parent_path(path), folders);
    addInstallation(sys::path::parent_path(realPath(path)), folders);
  };
  add(program);
  for (const std::string &tool : wanted.tools)
    add(tool);
  for (const std::string &path : {program.str(), realPath(program)})
    if (std::string interpreter = interpreterOf(path);
        StringRef(interpreter).starts_with("/"))
      add(interpreter);
  for (const char *variable : {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH"}) {
    const char *text = std::getenv(variable);
    SmallVector<StringRef> parts;
    StringRef(text ? text : "").split(parts, ':', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      if (StringRef(variable) == "PATH")
        addInstallation(part, folders);
      else if (part.starts_with("/"))
        folders.insert(part.str());
  }
  if (const char *root = std::getenv("VERILATOR_ROOT"))
    folders.insert(root);
  return folders;
}

/// The program of bubblewrap, "" if it is missing or the system does not let it
/// work.
std::string bubblewrap() {
  ErrorOr<std::string> found = sys::findProgramByName("bwrap");
  if (!found)
    return "";
  const StringRef null = "/dev/null";
  int status = sys::ExecuteAndWait(
      *found, {*found, "--ro-bind", "/", "/", "--unshare-all", "/bin/true"},
      std::nullopt, {null, null, null}, /*SecondsToWait=*/10);
  return status == 0 ? *found : "";
}

std::string allowed() {
  const char *text = std::getenv("RHIZOME_CONFINE");
  return text ? text : "";
}
} // namespace

Wall rhizome::wallHere() {
  static const Wall found = [] {
    const std::string most = allowed();
    if (most.empty() && kMachine && landlockVersion() >= 1)
      return Wall::Landlock;
    return most != "none" && !bubblewrap().empty() ? Wall::Bubblewrap
                                                   : Wall::None;
  }();
  return found;
}

struct Cage::Parts {
  std::string wrapper; ///< bubblewrap
  std::vector<std::string> options;
  Descriptor ruleset;
  std::vector<sock_filter> filter;
  std::vector<std::string> environment;
  bool isAlone = false;      ///< it talks to what it starts, and to nobody else
  std::string users, groups; ///< the user's own, for a namespace of users
};

Cage::Cage(std::unique_ptr<Parts> parts) : parts(std::move(parts)) {}
Cage::Cage(Cage &&) noexcept = default;
Cage &Cage::operator=(Cage &&) noexcept = default;
Cage::~Cage() = default;

namespace {
/// Which accesses to what is below a path.
struct Rule {
  std::string path;
  uint64_t allowed;
};

std::vector<Rule> rulesFor(const Confinement &wanted, StringRef program) {
  using Programs = Confinement::Programs;
  const uint64_t read = kReadFile | kReadFolder;
  const uint64_t run = wanted.programs == Programs::None ? 0 : kExecute;
  std::vector<Rule> rules;
  if (wanted.isLarge)
    rules.push_back({"/", read | run});
  for (const char *path : kSystem)
    rules.push_back({path, read | run});
  for (const char *path : kSettings)
    rules.push_back({path, read});
  for (const char *path : kSources)
    rules.push_back({path, kReadFile | kWriteFile | kTruncate});
  for (const std::string &path : installationsFor(wanted, program))
    rules.push_back({path, read | run});
  if (!run) {
    rules.push_back({program.str(), kReadFile | kExecute});
    for (const char *path : kLoaders)
      rules.push_back({path, kReadFile | kExecute});
  }
  for (const std::string &path : wanted.readable)
    rules.push_back({path, read});
  for (const std::string &path : wanted.writable)
    rules.push_back(
        {path,
         read | kWrites | (wanted.programs == Programs::Any ? kExecute : 0)});
  return rules;
}

Error landlock(const Confinement &wanted, StringRef program,
               Descriptor &ruleset) {
  const int version = landlockVersion();
  const uint64_t known = knownFiles(version);
  // TCP and, for whoever has no network, sockets without a path and signals.
  RulesetAttributes attributes{known, 0, 0};
  size_t size = sizeof attributes.files;
  if (version >= 4) {
    size = offsetof(RulesetAttributes, scopes);
    attributes.network = wanted.hasNetwork ? 0 : 3;
  }
  if (version >= 6) {
    size = sizeof attributes;
    attributes.scopes = 3;
  }
  auto refused = [&](StringRef what) {
    return createStringError(std::error_code(errno, std::generic_category()),
                             "cannot confine '%s': %s: %s",
                             program.str().c_str(), what.str().c_str(),
                             std::strerror(errno));
  };
  ruleset = Descriptor(int(syscall(kCreateRuleset, &attributes, size, 0u)));
  if (ruleset.get() < 0)
    return refused("Landlock");
  fcntl(ruleset.get(), F_SETFD, FD_CLOEXEC);
  for (const Rule &rule : rulesFor(wanted, program)) {
    Descriptor at(open(rule.path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status;
    if (at.get() < 0 || fstat(at.get(), &status) != 0)
      continue; // what is not there need not be reached
    PathAttributes path{rule.allowed & known, at.get()};
    if (!S_ISDIR(status.st_mode))
      path.allowed &= kOfFiles;
    constexpr int kBelow = 1;
    if (path.allowed &&
        syscall(kAddRule, ruleset.get(), kBelow, &path, 0u) != 0)
      return refused(rule.path);
  }
  return Error::success();
}

std::vector<std::string> bubblewrapOptions(const Confinement &wanted,
                                           StringRef program) {
  std::vector<std::string> words = {
      "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--dev", "/dev",
      "--tmpfs",       "/tmp"};
  // With it comes a loopback interface of its own.
  words.push_back("--unshare-net");
  auto bind = [&](const char *how, const std::string &path) {
    words.insert(words.end(), {how, path, path});
  };
  if (wanted.isLarge)
    words.insert(words.begin(), {"--ro-bind", "/", "/"});
  for (const auto &list :
       {ArrayRef<const char *>(kSystem), ArrayRef<const char *>(kSettings)})
    for (const char *path : list)
      bind("--ro-bind-try", path);
  words.insert(words.end(), {"--proc", "/proc"});
  for (const std::string &path : installationsFor(wanted, program))
    bind("--ro-bind-try", path);
  bind("--ro-bind", program.str());
  for (const std::string &path : wanted.readable)
    bind("--ro-bind-try", path);
  for (const std::string &path : wanted.writable)
    bind("--bind", path);
  return words;
}
} // namespace

Expected<Cage> Cage::make(const Confinement &wanted, StringRef program) {
  auto parts = std::make_unique<Parts>();
  for (const std::string &path : wanted.writable)
    if (!sys::fs::is_directory(path))
      return createStringError("the folder '%s' is missing", path.c_str());
  if (!wanted.writable.empty()) {
    for (const char *name : {"TMPDIR=", "TMP=", "TEMP="})
      parts->environment.push_back(name + wanted.writable.front());
    if (!wanted.isLarge)
      parts->environment.push_back("HOME=" + wanted.writable.front());
  }
  switch (wallHere()) {
  case Wall::Landlock:
    if (Error error = landlock(wanted, program, parts->ruleset))
      return std::move(error);
    parts->filter = std::move(Filter(wanted).code);
    parts->isAlone = wanted.hasNetwork;
    parts->users = formatv("{0} {0} 1", getuid());
    parts->groups = formatv("{0} {0} 1", getgid());
    break;
  case Wall::Bubblewrap:
    parts->wrapper = bubblewrap();
    parts->options = bubblewrapOptions(wanted, program);
    break;
  case Wall::None:
    return createStringError("nothing on this machine confines programs");
  }
  return Cage(std::move(parts));
}

/// A whole text to a file of /proc.
static bool put(const char *path, const char *text, size_t size) {
  Descriptor file(open(path, O_WRONLY | O_CLOEXEC));
  return file.get() >= 0 && write(file.get(), text, size) == ssize_t(size);
}

/// Gives the calling thread a network of its own with the loopback interface
/// alone, so that what listens there is heard nowhere else. Not every system
/// lets a program have one.
static void leaveNetwork(const std::string &users, const std::string &groups) {
  if (unshare(CLONE_NEWNET) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
      return;
    constexpr char kDeny[] = "deny";
    put("/proc/self/setgroups", kDeny, sizeof kDeny - 1);
    put("/proc/self/uid_map", users.data(), users.size());
    put("/proc/self/gid_map", groups.data(), groups.size());
  }
  Descriptor control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP;
  ioctl(control.get(), SIOCSIFFLAGS, &request);
}

bool Cage::enter() const {
  if (!parts->wrapper.empty())
    return true;
  if (parts->isAlone)
    leaveNetwork(parts->users, parts->groups);
  sock_fprog filter{static_cast<unsigned short>(parts->filter.size()),
                    parts->filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(kRestrictSelf, parts->ruleset.get(), 0u) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

std::vector<std::string> Cage::words(StringRef folder) const {
  std::vector<std::string> words;
  if (parts->wrapper.empty())
    return words;
  words = parts->options;
  words.insert(words.begin(), parts->wrapper);
  words.insert(words.end(), {"--chdir", folder.str(), "--"});
  return words;
}

const std::vector<std::string> &Cage::environment() const {
  return parts->environment;
}

Error rhizome::confineThread(const Confinement &confinement,
                             StringRef program) {
  if (wallHere() != Wall::Landlock)
    return createStringError("this is confined by Landlock, which this system "
                             "lacks; if you trust the package, say --trust");
  Expected<Cage> cage = Cage::make(confinement, program);
  if (!cage)
    return cage.takeError();
  return cage->enter() ? Error::success()
                       : createStringError("it cannot be confined");
}
