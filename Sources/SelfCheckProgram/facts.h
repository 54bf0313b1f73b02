// Each function prints facts of one kind, one a line: a word for the kind, then its values.

#pragma once

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

/// Ids, capabilities, no_new_privs, the filter's mode, securebits, the parent.
void say_identity(void);
/// The inode number of each namespace.
void say_namespaces(void);
/// What procfs shows besides processes: links, and what is the host's.
void say_procfs(void);
/// The network interfaces.
void say_interfaces(void);
/// Each file of `/proc/self/net`, and whether it opens.
void say_network_files(void);
/// Each mount: target, options, kind of file system; and whether Landlock lets procfs be written to.
void say_mounts(void);
/// The descriptors that are open.
void say_descriptors(void);
/// Limits of the process.
void say_limits(void);
/// How calls that must be refused are answered, and calls of foreign tables.
void say_calls(void);
/// Whether a path exists.
void say_path(const char *path);
/// How many pipes can be made, of one more than `most`, and what refused the next. None stays open.
void say_objects(int most);
/// How many threads can be made beside this one, of at most `most`, and what refused the next.
void say_threads(int most);
