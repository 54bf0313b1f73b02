/// The words that `WordAudit` looks for, by what they are a way to.
///
/// Sources: the library reference of Python 3.13 and the attributes of its data model (section 3.2);
/// the network's modules are those of the library and the clients that PyPI's agents use most.
enum WordLists {
    /// Names of attributes and functions, whatever they are taken from.
    static let names: [String: AuditFinding.Kind] = table([
        .frameWalking: [
            "_getframe", "_current_frames", "currentframe", "f_back", "f_locals", "f_globals",
            "f_builtins", "tb_frame", "tb_next", "gi_frame", "cr_frame", "ag_frame", "walk_stack",
            "walk_tb", "get_objects", "get_referrers", "get_referents", "settrace", "setprofile",
            "__subclasses__", "__globals__", "__closure__", "_getframemodulename",
        ],
        .dynamicCode: [
            "__import__", "__builtins__", "__loader__", "__code__", "import_module",
            "exec_module", "load_module", "spec_from_file_location", "run_path", "CodeType",
            "FunctionType", "meta_path", "path_hooks",
        ],
        .network: [
            "urlopen", "urlretrieve", "create_connection", "open_connection", "getaddrinfo",
            "gethostbyname", "socketpair", "AF_UNIX", "AF_INET",
        ],
        .process: ["Popen", "check_output", "create_subprocess_exec", "create_subprocess_shell"],
        .decoding: [
            "b64decode", "b85decode", "a85decode", "b32decode", "b16decode", "unhexlify",
            "fromhex", "decompress", "a2b_base64",
        ],
    ])

    /// Modules, by their first name.
    static let modules: [String: AuditFinding.Kind] = table([
        .frameWalking: ["inspect", "gc", "ctypes", "_ctypes", "cffi", "tracemalloc"],
        .dynamicCode: [
            "importlib", "_imp", "imp", "runpy", "pkgutil", "code", "codeop", "zipimport",
            "builtins", "marshal", "pickle", "_pickle", "shelve", "dill", "cloudpickle",
        ],
        .network: [
            "socket", "_socket", "ssl", "urllib", "urllib3", "http", "ftplib", "smtplib",
            "poplib", "imaplib", "telnetlib", "xmlrpc", "socketserver", "requests", "httpx",
            "aiohttp", "websockets", "websocket", "pycurl", "grpc", "paramiko",
        ],
        .process: ["subprocess", "_posixsubprocess", "multiprocessing", "pty"],
        .decoding: [
            "base64", "binascii", "zlib", "gzip", "bz2", "lzma", "codecs", "zipfile", "tarfile",
            "quopri",
        ],
    ])

    /// Functions that run text.
    static let calls: Set<String> = ["exec", "eval", "compile"]

    /// Where a path leads away from the candidate's own files.
    static let paths = ["/proc", "/sys/", "/dev/", "/vault", "/examiner", "/var/lib/invigilator"]

    /// Whether a function of `os` starts or becomes another program.
    static func isProcessCall(_ name: String) -> Bool {
        ["system", "popen", "fork", "forkpty"].contains(name)
            || ["exec", "spawn", "posix_spawn"].contains { name.hasPrefix($0) }
    }

    private static func table(
        _ lists: [AuditFinding.Kind: [String]]
    ) -> [String: AuditFinding.Kind] {
        var table: [String: AuditFinding.Kind] = [:]
        for (kind, words) in lists {
            for word in words { table[word] = kind }
        }
        return table
    }
}
