/* Stands between a program and the system's file calls, by LD_PRELOAD: counts those that touch one folder, lets one of
 * them (or all from it on) fail, or moves the folder away before it, and notes what reached the disk.
 *
 * injector_arm(folder, at, error, mode, log): call number `at` (from 1; 0: none) that touches a path below `folder`
 *   mode 0: fails with errno = error     mode 1: so does every later one (a disk that stays full or read-only)
 *   mode 2: half of the bytes are written, the rest is not; for other calls as mode 0
 *   mode 3: finds the folder renamed to folder + ".gone"
 *   log: a descriptor that gets one entry a call, or -1
 * injector_count(): calls so far.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[PATH_MAX];
static int count, at, error_number, mode, log_to = -1;

void injector_arm(const char *path, int number, int error, int how, int log) {
    strncpy(folder, path, sizeof folder - 1);
    count = 0, at = number, error_number = error, mode = how, log_to = log;
}
int injector_count(void) { return count; }

static int below(const char *path) {
    size_t n = strlen(folder);
    return n && !strncmp(path, folder, n) && (path[n] == '/' || !path[n]);
}
static const char *name_of(int handle, char *buffer) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t n = readlink(link, buffer, PATH_MAX - 1);
    buffer[n < 0 ? 0 : n] = 0;
    return buffer;
}
/* whether the call goes wrong: 1 yes, 2 by half, 0 no */
static int strikes(const char *path) {
    if (!folder[0] || !below(path)) return 0;
    int number = __sync_add_and_fetch(&count, 1);
    if (!at || number < at || (number > at && mode != 1)) return 0;
    if (mode == 3) {
        char gone[PATH_MAX + 8];
        snprintf(gone, sizeof gone, "%s.gone", folder);
        syscall(SYS_renameat, AT_FDCWD, folder, AT_FDCWD, gone);
        return 0;
    }
    errno = error_number;
    return mode == 2 ? 2 : 1;
}
/* an entry: operation, inode, offset, length, names, bytes */
static void note(char kind, uint64_t inode, int64_t offset, const void *data, uint64_t size, const char *a,
                 const char *b) {
    if (log_to < 0 || !folder[0]) return;
    struct { char kind; char pad[7]; uint64_t inode; int64_t offset; uint64_t size, a, b; } head = {
        kind, {0}, inode, offset, size, a ? strlen(a) : 0, b ? strlen(b) : 0};
    int kept = errno;
    syscall(SYS_write, log_to, &head, sizeof head);
    if (a) syscall(SYS_write, log_to, a, head.a);
    if (b) syscall(SYS_write, log_to, b, head.b);
    if (size && data) syscall(SYS_write, log_to, data, size);
    errno = kept;
}
static uint64_t inode_of(int handle) {
    struct stat found;
    return fstat(handle, &found) ? 0 : (uint64_t)found.st_ino;
}

static ssize_t put(int handle, const void *data, size_t size, int64_t offset) {
    char buffer[PATH_MAX];
    const char *path = folder[0] ? name_of(handle, buffer) : "";
    int how = strikes(path);
    if (how == 1 || (how == 2 && size < 2)) return -1;
    if (how == 2) size /= 2;
    int64_t place = offset < 0 ? (folder[0] && below(path) ? lseek(handle, 0, SEEK_CUR) : 0) : offset;
    ssize_t n = offset < 0 ? syscall(SYS_write, handle, data, size) : syscall(SYS_pwrite64, handle, data, size, offset);
    if (n > 0 && below(path)) note('w', inode_of(handle), place, data, n, 0, 0);
    return n;
}
ssize_t write(int handle, const void *data, size_t size) { return put(handle, data, size, -1); }
ssize_t pwrite(int handle, const void *data, size_t size, off_t offset) { return put(handle, data, size, offset); }
ssize_t pwrite64(int handle, const void *data, size_t size, off_t offset) { return put(handle, data, size, offset); }

static int sync_(int handle, int number) {
    char buffer[PATH_MAX];
    const char *path = folder[0] ? name_of(handle, buffer) : "";
    if (strikes(path)) return -1;
    int code = syscall(number, handle);
    if (!code && below(path)) note('s', inode_of(handle), 0, 0, 0, path, 0);
    return code;
}
int fsync(int handle) { return sync_(handle, SYS_fsync); }
int fdatasync(int handle) { return sync_(handle, SYS_fdatasync); }

static int cut(int handle, off_t size) {
    char buffer[PATH_MAX];
    const char *path = folder[0] ? name_of(handle, buffer) : "";
    if (strikes(path)) return -1;
    int code = syscall(SYS_ftruncate, handle, size);
    if (!code && below(path)) note('t', inode_of(handle), size, 0, 0, 0, 0);
    return code;
}
int ftruncate(int handle, off_t size) { return cut(handle, size); }
int ftruncate64(int handle, off_t size) { return cut(handle, size); }

static int reserve(int handle, int how, off_t offset, off_t size) {
    char buffer[PATH_MAX];
    const char *path = folder[0] ? name_of(handle, buffer) : "";
    if (strikes(path)) return -1;
    int code = syscall(SYS_fallocate, handle, how, offset, size);
    if (!code && below(path)) note('a', inode_of(handle), offset + size, 0, 0, 0, 0);
    return code;
}
int fallocate(int handle, int how, off_t offset, off_t size) { return reserve(handle, how, offset, size); }
int fallocate64(int handle, int how, off_t offset, off_t size) { return reserve(handle, how, offset, size); }
int posix_fallocate(int handle, off_t offset, off_t size) { return reserve(handle, 0, offset, size) ? errno : 0; }
int posix_fallocate64(int handle, off_t offset, off_t size) { return reserve(handle, 0, offset, size) ? errno : 0; }

static int open_(int place, const char *path, int flags, mode_t rights) {
    if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) && strikes(path)) return -1;
    int handle = syscall(SYS_openat, place, path, flags, rights);
    if (handle >= 0 && folder[0] && below(path) && (flags & (O_CREAT | O_TRUNC)))
        note(flags & O_TRUNC ? 'o' : 'c', inode_of(handle), 0, 0, 0, path, 0);
    return handle;
}
#define RIGHTS(last) mode_t rights = 0; if (flags & (O_CREAT | __O_TMPFILE)) { va_list more; va_start(more, last); \
    rights = va_arg(more, mode_t); va_end(more); }
int open(const char *path, int flags, ...) { RIGHTS(flags) return open_(AT_FDCWD, path, flags, rights); }
int open64(const char *path, int flags, ...) { RIGHTS(flags) return open_(AT_FDCWD, path, flags, rights); }
int openat(int place, const char *path, int flags, ...) { RIGHTS(flags) return open_(place, path, flags, rights); }
int openat64(int place, const char *path, int flags, ...) { RIGHTS(flags) return open_(place, path, flags, rights); }
int creat(const char *path, mode_t rights) { return open_(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, rights); }
int creat64(const char *path, mode_t rights) { return creat(path, rights); }

int mkdir(const char *path, mode_t rights) {
    if (strikes(path)) return -1;
    int code = syscall(SYS_mkdirat, AT_FDCWD, path, rights);
    if (!code && folder[0] && below(path)) note('d', 0, 0, 0, 0, path, 0);
    return code;
}
int rename(const char *from, const char *to) {
    if (strikes(to)) return -1;
    int code = syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
    if (!code && folder[0] && below(to)) note('r', 0, 0, 0, 0, from, to);
    return code;
}
int renameat(int a, const char *from, int b, const char *to) { (void)a, (void)b; return rename(from, to); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    if (strikes(to)) return -1;
    int code = syscall(SYS_renameat2, a, from, b, to, flags);
    if (!code && folder[0] && below(to)) note(flags & 2 ? 'x' : 'r', 0, 0, 0, 0, from, to);
    return code;
}
int link(const char *from, const char *to) {
    if (strikes(to)) return -1;
    int code = syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (!code && folder[0] && below(to)) note('l', 0, 0, 0, 0, from, to);
    return code;
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    (void)a, (void)b, (void)flags;
    return link(from, to);
}
int unlink(const char *path) {
    if (mode == 1 && error_number == EROFS && strikes(path)) return -1;
    int code = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (!code && folder[0] && below(path)) note('u', 0, 0, 0, 0, path, 0);
    return code;
}
