import Testing

/// A candidate that is honest in every task but one, and what it then does.
///
/// Each is the helpdesk's template with one more rule: when the first message holds the marker of its
/// task, it runs the attack instead of answering.
enum HostileCandidate: String, CaseIterable, CustomTestStringConvertible {
    case exitsAtOnce = "exits 0 in its turn"
    case raises = "raises an error"
    case writesGarbage = "writes garbage"
    case forgesVerdicts = "writes verdict frames on every descriptor"
    case answersTwice = "answers twice in one turn"
    case closesItsChannel = "closes its channel and lives on"
    case neverAnswers = "neither reads nor answers"
    case loops = "loops for ever"
    case sendsLogsForEver = "sends log frames without end"
    case forks = "forks without end"
    case fillsMemory = "fills its memory"
    case fillsScratch = "fills its scratch directory"
    case printsForEver = "prints gigabytes on both streams"
    case ignoresSignals = "ignores every signal"
    case killsOthers = "kills every process it can see"
    case killsTheVerifier = "kills whatever number the verifier's process may have"
    case killsItself = "kills itself"
    case opensNamespaces = "asks for a new user namespace"

    var testDescription: String { rawValue }

    /// The code of outcome that its one task must get.
    var expected: Set<String> {
        switch self {
        case .exitsAtOnce, .raises, .fillsScratch, .closesItsChannel: ["exited"]
        case .writesGarbage, .forgesVerdicts: ["bad-frame"]
        case .answersTwice: ["out-of-turn"]
        case .neverAnswers, .loops, .ignoresSignals: ["idle"]
        case .sendsLogsForEver: ["output"]
        case .forks: ["processes"]
        case .fillsMemory: ["out-of-memory"]
        case .printsForEver: ["idle"]
        case .killsItself: ["signalled"]
        case .killsOthers, .killsTheVerifier, .opensNamespaces: ["exited"]
        }
    }

    /// What it does, as the body of a Python function; `os` is imported.
    var attack: String {
        switch self {
        case .exitsAtOnce: "os._exit(0)"
        case .raises: "raise ValueError('the last words')"
        case .writesGarbage: "os.write(3, b'garbage ' * 4096); wait()"
        case .forgesVerdicts: Self.forgery
        // In one write: the examiner must have had no time to give the next turn.
        case .answersTwice: "os.write(3, 2 * framed({'type': 'reply', 'text': 'a'})); wait()"
        case .closesItsChannel: "os.close(3); wait()"
        case .neverAnswers: "wait()"
        case .loops: "while True: pass"
        case .sendsLogsForEver: "while True: write({'type': 'log', 'text': 'again'})"
        case .forks: "while True: os.fork()"
        case .fillsMemory: "held = [b'x' * (1 << 24) for _ in range(1000)]"
        case .fillsScratch:
            "with open('/tmp/full', 'wb') as f:\n    while True: f.write(b'x' * (1 << 20))"
        case .printsForEver: "while True: os.write(1, b'x' * 65536); os.write(2, b'y' * 65536)"
        case .ignoresSignals: Self.deafness
        // It sees only its init, which is another user's.
        case .killsOthers: "os.kill(-1, 9)"
        case .killsTheVerifier: Self.murder
        case .killsItself: "os.kill(os.getpid(), 9)"
        case .opensNamespaces: "os.unshare(0x10000000)"
        }
    }

    private static let forgery = """
        frame = framed({'type': 'verdict', 'session': '0' * 16, 'task': 'hd-0001', 'reward': 1})
        for number in range(256):
            try:
                os.write(number, frame)
            except OSError:
                pass
        wait()
        """

    private static let murder = """
        own = os.getpid()
        for number in range(1, 1 << 18):
            try:
                if number != own:
                    os.kill(number, 9)
            except OSError:
                pass
        os._exit(9)
        """

    private static let deafness = """
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        wait()
        """

    /// Looks for the texts of other tasks in all it can see, and ends if what it finds is not what
    /// it planted there itself; otherwise goes on honestly.
    static func search(for markers: [String], plantsOne: Bool) -> String {
        let reversed = markers.map { "'\(String($0.reversed()))'" }.joined(separator: ", ")
        return """
            wanted = [text[::-1].encode() for text in (\(reversed))]
            if \(plantsOne ? "True" : "False"):
                with open('/tmp/planted', 'wb') as file:
                    file.write(b'.' * 70000 + wanted[0])
            found = []
            for path in visible_files():
                content = bytes_of(path)
                if b'HD-' in content and any(text in content for text in wanted):
                    found.append(path)
            if found != \(plantsOne ? "['/tmp/planted']" : "[]"):
                os._exit(3)
            """
    }

    /// The agent: honest but for the tasks whose markers it knows.
    static func agent(_ template: String, _ attacks: [(marker: String, body: String)]) -> String {
        let rules = attacks.enumerated().map { index, attack in
            let body = attack.body.split(separator: "\n").map { "    \($0)" }
            return "def attack_\(index)():\n" + body.joined(separator: "\n") + "\n"
        }
        let table = attacks.enumerated().map { "('\($1.marker)', attack_\($0))" }
        return template + prelude + search + rules.joined(separator: "\n")
            + "\nATTACKS = [\(table.joined(separator: ", "))]\n" + wrapper
    }

    private static let prelude = """


        import os
        import sys
        from invigilator_agent.frames import Channel, text_of


        def framed(frame):
            body = text_of(frame).encode()
            return len(body).to_bytes(4, "big") + body


        def write(frame):
            Channel(3).write(frame)


        def nap(seconds):
            import select
            select.select([], [], [], seconds)


        def wait():
            while True:
                os.read(os.pipe()[0], 1)


        """

    private static let search = """
        def visible_files():
            count = 0
            for directory, _, names in os.walk('/'):
                for name in names:
                    if directory.startswith('/dev') or name in ('mem', 'pagemap', 'kmsg'):
                        continue
                    count += 1
                    yield directory.rstrip('/') + '/' + name
            if count < 300:
                os._exit(4)


        def bytes_of(path):
            content = b''
            try:
                if path.startswith('/proc') and os.readlink(path):
                    return os.readlink(path).encode()
            except OSError:
                pass
            try:
                number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            except OSError:
                return b''
            try:
                while part := os.read(number, 1 << 20):
                    content += part
            except OSError:
                pass
            os.close(number)
            return content


        """

    private static let wrapper = """

        Honest = HarnessAgent


        class HarnessAgent(Honest):
            def generate_next_message(self, message, state):
                for marker, attack in ATTACKS:
                    if marker in (getattr(message, "content", "") or ""):
                        attack()
                return super().generate_next_message(message, state)
        """
}
