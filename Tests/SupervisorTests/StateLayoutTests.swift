import Supervisor
import Testing

@Suite("StateLayout")
struct StateLayoutTests {
    @Test("root's state lies in /var/lib, an ordinary user's in his XDG state directory")
    func usualRoot() {
        func root(_ isRoot: Bool, _ state: String?, _ home: String?) -> String {
            StateLayout.usualRoot(isRoot: isRoot, stateHome: state, home: home)
        }
        #expect(root(true, "/elsewhere", "/root") == "/var/lib/invigilator")
        #expect(root(false, "/elsewhere", "/home/ann") == "/elsewhere/invigilator")
        #expect(root(false, nil, "/home/ann") == "/home/ann/.local/state/invigilator")
        #expect(root(false, "relative", "/home/ann") == "/home/ann/.local/state/invigilator")
        #expect(root(false, nil, nil) == "/var/lib/invigilator")
    }
}
