// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lists of reserved words. Those of C follow the standards and what glibc's
// headers declare, those of Python its own lists (keyword.kwlist,
// sys.stdlib_module_names).
#include "ReservedNames.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

using namespace rhizome;

namespace {
/// Keywords of Verilog and SystemVerilog, and of C++ for Verilator's model.
const char *const kHardwareWords =
    "accept_on alias always always_comb always_ff always_latch and "
    "assert assign assume auto automatic before begin bind bins binsof "
    "bit bool break buf bufif0 bufif1 byte case casex casez catch cell "
    "chandle char checker class clocking cmos config const constraint "
    "context continue cover covergroup coverpoint cross deassign "
    "default defparam delete design disable dist do double edge else "
    "end endcase endchecker endclass endclocking endconfig endfunction "
    "endgenerate endgroup endinterface endmodule endpackage "
    "endprimitive endprogram endproperty endsequence endspecify "
    "endtable endtask enum event eventually expect explicit export "
    "extends extern false final first_match float for force foreach "
    "forever fork forkjoin friend function generate genvar global goto "
    "highz0 highz1 if iff ifnone ignore_bins illegal_bins implements "
    "implies import incdir include initial inline inout input inside "
    "instance int integer interconnect interface intersect join "
    "join_any join_none large let liblist library local localparam "
    "logic long longint macromodule matches medium modport module "
    "mutable namespace nand negedge nettype new nexttime nmos nor "
    "noshowcancelled not notif0 notif1 null operator or output package "
    "packed parameter pmos posedge primitive priority private program "
    "property protected public pull0 pull1 pulldown pullup "
    "pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase "
    "randsequence rcmos real realtime ref reg register reject_on "
    "release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 "
    "s_always s_eventually s_nexttime s_until s_until_with scalared "
    "sequence short shortint shortreal showcancelled signed sizeof "
    "small soft solve specify specparam static string strong strong0 "
    "strong1 struct super supply0 supply1 switch sync_accept_on "
    "sync_reject_on table tagged task template this throughout throw "
    "time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 "
    "triand trior trireg true try type typedef typename union unique "
    "unique0 unsigned until until_with untyped use using uwire var "
    "vectored virtual void volatile wait wait_order wand weak weak0 "
    "weak1 while wildcard wire with within wor xnor xor ";

/// Keywords of C and C++ up to C23 and C++26, alternative spellings, macros of
/// standard headers in small letters, types that every header declares.
const char *const kCWords =
    "P_tmpdir alignas alignof and and_eq asm assert atomic_cancel "
    "atomic_commit atomic_noexcept auto bitand bitor bool break case "
    "catch char char16_t char32_t char8_t class co_await co_return "
    "co_yield compl complex concept const const_cast consteval "
    "constexpr constinit continue decltype default delete do double "
    "dynamic_cast else enum errno explicit export extern false float "
    "for fortran fpclassify friend goto i386 if imaginary import inline "
    "int int16_t int32_t int64_t int8_t intmax_t intptr_t "
    "kill_dependency linux long main math_errhandling max_align_t "
    "module mutable namespace new noexcept noreturn not not_eq nullptr "
    "nullptr_t offsetof operator or or_eq private protected ptrdiff_t "
    "public reflexpr register reinterpret_cast requires restrict return "
    "rhizome rhz_array short sigmask signbit signed size_t sizeof "
    "ssize_t static static_assert static_cast std stderr stdin stdout "
    "struct switch synchronized template this thread_local throw true "
    "try typedef typeid typename typeof typeof_unqual uint16_t uint32_t "
    "uint64_t uint8_t uintmax_t uintptr_t union unix unsigned using "
    "va_arg va_copy va_end va_start virtual void volatile wchar_t while "
    "xor xor_eq ";

/// Macros of standard headers in capitals; more follow patterns.
const char *const kCMacros =
    "ACCESSPERMS ALLPERMS BIG_ENDIAN BUFSIZ BYTE_ORDER CHAR_BIT "
    "CLOCKS_PER_SEC CMPLX CMPLXF CMPLXL DECIMAL_DIG DEFFILEMODE DOMAIN "
    "EXIT_FAILURE EXIT_SUCCESS HUGE HUGE_VAL HUGE_VALF HUGE_VALL I "
    "INFINITY LITTLE_ENDIAN NAN NDEBUG NFDBITS NGREG NSIG NULL OVERFLOW "
    "PDP_ENDIAN PIPE_BUF PLOSS SING TLOSS UNDERFLOW WEOF X_TLOSS ";

/// Functions of the C library: what C and POSIX declare.
const char *const kCFunctions =
    "a64l abort abs access acct acos acosf acosh acoshf acoshl acosl "
    "adjtime alarm aligned_alloc alloca arc4random arc4random_buf "
    "arc4random_uniform asctime asctime_r asin asinf asinh asinhf "
    "asinhl asinl at_quick_exit atan atan2 atan2f atan2l atanf atanh "
    "atanhf atanhl atanl atexit atof atoi atol atoll atomic_flag_clear "
    "atomic_flag_clear_explicit atomic_flag_test_and_set "
    "atomic_flag_test_and_set_explicit atomic_signal_fence "
    "atomic_thread_fence bcmp bcopy brk bsearch btowc bzero c16rtomb "
    "c32rtomb cabs cabsf cabsl cacos cacosf cacosh cacoshf cacoshl "
    "cacosl call_once calloc carg cargf cargl casin casinf casinh "
    "casinhf casinhl casinl catan catanf catanh catanhf catanhl catanl "
    "cbrt cbrtf cbrtl ccos ccosf ccosh ccoshf ccoshl ccosl ceil ceilf "
    "ceill cexp cexpf cexpl chdir chmod chown chroot cimag cimagf "
    "cimagl clearenv clearerr clearerr_unlocked clock "
    "clock_getcpuclockid clock_getres clock_gettime clock_nanosleep "
    "clock_settime clog clogf clogl close closefrom cnd_broadcast "
    "cnd_destroy cnd_init cnd_signal cnd_timedwait cnd_wait confstr "
    "conj conjf conjl copysign copysignf copysignl cos cosf cosh coshf "
    "coshl cosl cpow cpowf cpowl cproj cprojf cprojl creal crealf "
    "creall creat crypt csin csinf csinh csinhf csinhl csinl csqrt "
    "csqrtf csqrtl ctan ctanf ctanh ctanhf ctanhl ctanl ctermid ctime "
    "ctime_r daemon difftime div dlclose dlerror dlopen dlsym dprintf "
    "drand48 drand48_r drem dremf dreml dup dup2 duplocale dysize ecvt "
    "ecvt_r endusershell erand48 erand48_r erf erfc erfcf erfcl erff "
    "erfl execl execle execlp execv execve execvp exit exp exp2 exp2f "
    "exp2l expf expl explicit_bzero expm1 expm1f expm1l fabs fabsf "
    "fabsl faccessat fchdir fchmod fchmodat fchown fchownat fclose "
    "fcntl fcvt fcvt_r fdatasync fdim fdimf fdiml fdopen feclearexcept "
    "fegetenv fegetexceptflag fegetround feholdexcept feof "
    "feof_unlocked feraiseexcept ferror ferror_unlocked fesetenv "
    "fesetexceptflag fesetround fetestexcept feupdateenv fexecve fflush "
    "fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgets "
    "fgetwc fgetws fileno fileno_unlocked finite finitef finitel "
    "flockfile floor floorf floorl fma fmaf fmal fmax fmaxf fmaxl "
    "fmemopen fmin fminf fminl fmod fmodf fmodl fopen fork fpathconf "
    "fprintf fputc fputc_unlocked fputs fputwc fputws fread "
    "fread_unlocked free freelocale freopen frexp frexpf frexpl fscanf "
    "fseek fseeko fsetpos fstat fstatat fsync ftell ftello ftruncate "
    "ftrylockfile funlockfile futimens futimes fwide fwprintf fwrite "
    "fwrite_unlocked fwscanf gamma gammaf gammal gcvt getc "
    "getc_unlocked getchar getchar_unlocked getcwd getdelim "
    "getdomainname getdtablesize getegid getentropy getenv geteuid "
    "getgid getgroups gethostid gethostname getitimer getline "
    "getloadavg getlogin getlogin_r getopt getpagesize getpass getpgid "
    "getpgrp getpid getppid getsid getsubopt gettimeofday getuid "
    "getusershell getw getwc getwchar getwd gmtime gmtime_r gsignal "
    "hcreate hdestroy hsearch hypot hypotf hypotl ilogb ilogbf ilogbl "
    "imaxabs imaxdiv index initstate initstate_r insque isalnum "
    "isalnum_l isalpha isalpha_l isascii isatty isblank isblank_l "
    "iscntrl iscntrl_l isdigit isdigit_l isgraph isgraph_l isinf isinff "
    "isinfl islower islower_l isnan isnanf isnanl isprint isprint_l "
    "ispunct ispunct_l isspace isspace_l isupper isupper_l iswalnum "
    "iswalnum_l iswalpha iswalpha_l iswblank iswblank_l iswcntrl "
    "iswcntrl_l iswctype iswctype_l iswdigit iswdigit_l iswgraph "
    "iswgraph_l iswlower iswlower_l iswprint iswprint_l iswpunct "
    "iswpunct_l iswspace iswspace_l iswupper iswupper_l iswxdigit "
    "iswxdigit_l isxdigit isxdigit_l j0 j0f j0l j1 j1f j1l jn jnf jnl "
    "jrand48 jrand48_r kill killpg l64a labs lchmod lchown lcong48 "
    "lcong48_r ldexp ldexpf ldexpl ldiv lfind lgamma lgamma_r lgammaf "
    "lgammaf_r lgammal lgammal_r link linkat llabs lldiv llrint llrintf "
    "llrintl llround llroundf llroundl localeconv localtime localtime_r "
    "lockf log log10 log10f log10l log1p log1pf log1pl log2 log2f log2l "
    "logb logbf logbl logf logl longjmp lrand48 lrand48_r lrint lrintf "
    "lrintl lround lroundf lroundl lsearch lseek lstat lutimes malloc "
    "mblen mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsnrtowcs "
    "mbsrtowcs mbstowcs mbtowc memccpy memchr memcmp memcpy memmove "
    "memset mkdir mkdirat mkdtemp mkfifo mkfifoat mknod mknodat mkstemp "
    "mkstemps mktemp mktime modf modff modfl mrand48 mrand48_r "
    "mtx_destroy mtx_init mtx_lock mtx_timedlock mtx_trylock mtx_unlock "
    "nan nanf nanl nanosleep nearbyint nearbyintf nearbyintl newlocale "
    "nextafter nextafterf nextafterl nexttoward nexttowardf nexttowardl "
    "nice nrand48 nrand48_r on_exit open open_memstream open_wmemstream "
    "openat pathconf pause pclose perror pipe popen posix_fadvise "
    "posix_fallocate posix_memalign pow powf powl pread printf profil "
    "pselect psiginfo psignal putc putc_unlocked putchar "
    "putchar_unlocked putenv puts putw putwc putwchar pwrite qecvt "
    "qecvt_r qfcvt qfcvt_r qgcvt qsort quick_exit raise rand rand_r "
    "random random_r read readlink readlinkat realloc reallocarray "
    "realpath remainder remainderf remainderl remove remque remquo "
    "remquof remquol rename renameat revoke rewind rindex rint rintf "
    "rintl rmdir round roundf roundl rpmatch sbrk scalb scalbf scalbl "
    "scalbln scalblnf scalblnl scalbn scalbnf scalbnl scanf "
    "sched_get_priority_max sched_get_priority_min sched_getparam "
    "sched_getscheduler sched_rr_get_interval sched_setparam "
    "sched_setscheduler sched_yield seed48 seed48_r select setbuf "
    "setbuffer setdomainname setegid setenv seteuid setgid sethostid "
    "sethostname setitimer setjmp setlinebuf setlocale setlogin setpgid "
    "setpgrp setregid setreuid setsid setstate setstate_r settimeofday "
    "setuid setusershell setvbuf sigaction sigaddset sigaltstack "
    "sigblock sigdelset sigemptyset sigfillset siggetmask siginterrupt "
    "sigismember siglongjmp signal significand significandf "
    "significandl sigpending sigprocmask sigqueue sigreturn sigsetmask "
    "sigstack sigsuspend sigtimedwait sigwait sigwaitinfo sin sinf sinh "
    "sinhf sinhl sinl sleep snprintf sprintf sqrt sqrtf sqrtl srand "
    "srand48 srand48_r srandom srandom_r sscanf ssignal stat stpcpy "
    "stpncpy strcasecmp strcasecmp_l strcat strchr strcmp strcoll "
    "strcoll_l strcpy strcspn strdup strerror strerror_l strerror_r "
    "strftime strftime_l strlen strncasecmp strncasecmp_l strncat "
    "strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal "
    "strspn strstr strtod strtof strtoimax strtok strtok_r strtol "
    "strtold strtoll strtoq strtoul strtoull strtoumax strtouq strxfrm "
    "strxfrm_l swprintf swscanf symlink symlinkat sync syscall sysconf "
    "system tan tanf tanh tanhf tanhl tanl tcgetpgrp tcsetpgrp tdelete "
    "tempnam tfind tgamma tgammaf tgammal thrd_create thrd_current "
    "thrd_detach thrd_equal thrd_exit thrd_join thrd_sleep thrd_yield "
    "time timegm timelocal timer_create timer_delete timer_getoverrun "
    "timer_gettime timer_settime timespec_get tmpfile tmpnam tmpnam_r "
    "toascii tolower tolower_l toupper toupper_l towctrans towctrans_l "
    "towlower towlower_l towupper towupper_l trunc truncate truncf "
    "truncl tsearch tss_create tss_delete tss_get tss_set ttyname "
    "ttyname_r ttyslot twalk tzset ualarm umask ungetc ungetwc unlink "
    "unlinkat unsetenv uselocale usleep utimensat utimes valloc "
    "vdprintf vfork vfprintf vfscanf vfwprintf vfwscanf vhangup vprintf "
    "vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf "
    "vwscanf wcpcpy wcpncpy wcrtomb wcscasecmp wcscasecmp_l wcscat "
    "wcschr wcscmp wcscoll wcscoll_l wcscpy wcscspn wcsdup wcsftime "
    "wcslen wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy wcsnlen "
    "wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof "
    "wcstoimax wcstok wcstol wcstold wcstoll wcstombs wcstoul wcstoull "
    "wcstoumax wcsxfrm wcsxfrm_l wctob wctomb wctrans wctrans_l wctype "
    "wctype_l wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf write "
    "wscanf y0 y0f y0l y1 y1f y1l yn ynf ynl ";

/// Keywords of Python.
const char *const kPythonWords =
    "False None True and as assert async await break class continue def "
    "del elif else except finally for from global if import in is "
    "lambda nonlocal not or pass raise return try while with yield ";

/// Modules of Python that import each other by their names.
const char *const kPythonModules =
    "abc aifc antigravity argparse array ast asynchat asyncio asyncore "
    "atexit audioop base64 bdb binascii bisect builtins bz2 cProfile "
    "calendar cgi cgitb chunk cmath cmd code codecs codeop collections "
    "colorsys compileall concurrent configparser contextlib contextvars "
    "copy copyreg crypt csv ctypes curses dataclasses datetime dbm "
    "decimal difflib dis distutils doctest email encodings ensurepip "
    "enum errno faulthandler fcntl filecmp fileinput fnmatch fractions "
    "ftplib functools gc genericpath getopt getpass gettext glob "
    "graphlib grp gzip hashlib heapq hmac html http idlelib imaplib "
    "imghdr imp importlib inspect io ipaddress itertools json keyword "
    "lib2to3 linecache locale logging lzma mailbox mailcap marshal math "
    "mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc "
    "nis nntplib nt ntpath nturl2path numbers opcode operator optparse "
    "os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil "
    "platform plistlib poplib posix posixpath pprint profile pstats pty "
    "pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random "
    "re readline reprlib resource rlcompleter runpy sched secrets "
    "select selectors shelve shlex shutil signal site smtpd smtplib "
    "sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants "
    "sre_parse ssl stat statistics string stringprep struct subprocess "
    "sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib "
    "tempfile termios textwrap this threading time timeit tkinter token "
    "tokenize tomllib trace traceback tracemalloc tty turtle turtledemo "
    "types typing unicodedata unittest urllib uu uuid venv warnings "
    "wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc "
    "zipapp zipfile zipimport zlib zoneinfo numpy np npt rhizome "
    "annotationlib compression pathlib_abc ";

llvm::StringSet<> setOf(llvm::StringRef words) {
  llvm::SmallVector<llvm::StringRef> list;
  words.split(list, ' ', -1, /*KeepEmpty=*/false);
  llvm::StringSet<> set;
  for (llvm::StringRef word : list)
    set.insert(word);
  return set;
}
} // namespace

bool reserved::inHardware(llvm::StringRef name) {
  static const llvm::StringSet<> words = setOf(kHardwareWords);
  return words.contains(name);
}

bool reserved::inC(llvm::StringRef name) {
  static const llvm::StringSet<> words =
      setOf((llvm::Twine(kCWords) + kCMacros).str());
  // Error numbers, signals, limits, formats and flags; what the standards keep
  // for later versions of their headers.
  static const llvm::Regex macros(
      "^(E[0-9A-Z][0-9A-Z]*|SIG[A-Z0-9]+|W[A-Z]+ED|(PRI|SCN)[a-zX].*"
      "|.*_(MAX|MIN|WIDTH|C|FILENO)"
      "|(FP|FPE|FE|FLT|DBL|LDBL|LC|M|MATH|ATOMIC|SIG|CLOCK|AT|F|O|S|W|R|X|SEEK"
      "|L|POSIX|FD|TIME|RHIZOME|INT|UINT|CHAR|SHRT|LONG)_[A-Z0-9_]+)$");
  return words.contains(name) || macros.match(name);
}

bool reserved::asCFunction(llvm::StringRef name) {
  static const llvm::StringSet<> words = setOf(kCFunctions);
  return words.contains(name);
}

bool reserved::inPython(llvm::StringRef name) {
  static const llvm::StringSet<> words = setOf(kPythonWords);
  return words.contains(name);
}

bool reserved::asPythonModule(llvm::StringRef name) {
  static const llvm::StringSet<> words = setOf(kPythonModules);
  return words.contains(name);
}
