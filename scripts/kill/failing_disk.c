/* A disk that fails on request. Loaded with LD_PRELOAD, it counts what a process does to the files
 * of one folder, and at a chosen step kills the process or lets the call fail.
 *
 * The file that FAILING_DISK names holds the state: steps so far, the chosen step, the fault, and
 * the folder. All processes share it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { NONE, KILL, FULL, BROKEN, SHORT };
enum { HALF = -1 };

static struct { _Atomic long steps; long at; long fault; char folder[1000]; } *disk;

__attribute__((constructor)) static void attach(void) {
    const char *name = getenv("FAILING_DISK");
    int file = name ? open(name, O_RDWR) : -1;
    if (file < 0) return;
    void *found = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) disk = found;
    close(file);
}

static int named(const char *path) {
    size_t size = disk ? strlen(disk->folder) : 0;
    return size && !strncmp(path, disk->folder, size) && (!path[size] || path[size] == '/');
}

static int opened(int file) {
    char link[40], path[1200];
    if (!disk || !disk->folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return named(path);
}

/* Returns 0, the error of a call, or HALF: only a half of the data is written. `grows` tells
 * whether the step needs space, `data` whether it has a half. */
static int step(int grows, int data) {
    long now = ++disk->steps;
    if (now < disk->at) return 0;
    switch (disk->fault) {
    case KILL: if (data && now == disk->at) return HALF; raise(SIGKILL); return 0;
    case FULL: return grows ? ENOSPC : 0;
    case BROKEN: return now == disk->at ? EIO : 0;
    case SHORT: return now == disk->at && data ? HALF : grows && now > disk->at ? ENOSPC : 0;
    default: return 0;
    }
}

static int failed(int error) { errno = error; return -1; }

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define DATA(name, params, types, size, call, half) \
    ssize_t name params { \
        REAL(ssize_t, name, types); \
        if (!opened(file)) return call; \
        int error = step(1, (size) > 1); \
        if (error == HALF) { \
            ssize_t done = half; \
            if (disk->fault == KILL) raise(SIGKILL); \
            return done; \
        } \
        return error ? failed(error) : call; \
    }
#define TYPES(...) __VA_ARGS__

#define WRITE(name) DATA(name, (int file, const void *data, size_t size), \
    TYPES(int, const void *, size_t), size, real(file, data, size), real(file, data, size / 2))
#define PWRITE(name) DATA(name, (int file, const void *data, size_t size, off64_t at), \
    TYPES(int, const void *, size_t, off64_t), size, real(file, data, size, at), \
    real(file, data, size / 2, at))
#define SENDFILE(name) DATA(name, (int file, int from, off64_t *at, size_t size), \
    TYPES(int, int, off64_t *, size_t), size, real(file, from, at, size), \
    real(file, from, at, 1))

WRITE(write)
PWRITE(pwrite)
PWRITE(pwrite64)
SENDFILE(sendfile)
SENDFILE(sendfile64)

#define PLAIN(name, params, types, inside, grows, call) \
    int name params { \
        REAL(int, name, types); \
        int error = inside ? step(grows, 0) : 0; \
        return error > 0 ? failed(error) : call; \
    }

PLAIN(fsync, (int file), TYPES(int), opened(file), 1, real(file))
PLAIN(fdatasync, (int file), TYPES(int), opened(file), 1, real(file))
PLAIN(ftruncate, (int file, off_t size), TYPES(int, off_t), opened(file), 1, real(file, size))
PLAIN(ftruncate64, (int file, off64_t size), TYPES(int, off64_t), opened(file), 1,
      real(file, size))
PLAIN(rename, (const char *old, const char *path), TYPES(const char *, const char *),
      named(path), 0, real(old, path))
PLAIN(renameat, (int a, const char *old, int b, const char *path),
      TYPES(int, const char *, int, const char *), named(path), 0, real(a, old, b, path))
PLAIN(unlink, (const char *path), TYPES(const char *), named(path), 0, real(path))

#define OPEN(name, params, types, ...) \
    int name params { \
        REAL(int, name, types); \
        va_list rest; \
        va_start(rest, flags); \
        int mode = flags & O_CREAT ? va_arg(rest, int) : 0; \
        va_end(rest); \
        int error = flags & O_CREAT && named(path) ? step(1, 0) : 0; \
        return error > 0 ? failed(error) : real(__VA_ARGS__, mode); \
    }

OPEN(open, (const char *path, int flags, ...), TYPES(const char *, int, ...), path, flags)
OPEN(open64, (const char *path, int flags, ...), TYPES(const char *, int, ...), path, flags)
OPEN(openat, (int at, const char *path, int flags, ...), TYPES(int, const char *, int, ...),
     at, path, flags)
OPEN(openat64, (int at, const char *path, int flags, ...), TYPES(int, const char *, int, ...),
     at, path, flags)
