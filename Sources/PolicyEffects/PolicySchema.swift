internal import SandboxPlan
internal import SandboxPolicy
internal import SeccompCompiler
public import StrictJSON

/// JSON Schemas of documents, so that editors can complete keys and mark mistakes.
///
/// What they accept is a superset of what is accepted: the rules that hang on a role, on the host or on
/// several keys at once are checked by `policy check` alone.
public enum PolicySchema: String, CaseIterable, Sendable {
    /// A policy.
    case policy
    /// A group of system calls.
    case group
    /// What a host's administrator bounds policies by.
    case site

    /// The schema, JSON Schema 2020-12.
    public var json: JSONValue {
        switch self {
        case .policy: SchemaForm.document("invigilator policy, version 1", Self.policies)
        case .group: SchemaForm.document("invigilator group of system calls", Self.groups)
        case .site: SchemaForm.document("invigilator site policy, version 1", Self.sites)
        }
    }

    private typealias Form = SchemaForm

    private static let name = Form.pattern("^[a-z0-9-]{1,64}$")
    private static let levels = Form.words(AssuranceLevel.allCases.map(\.name))
    private static let roles = Form.words(SandboxRole.allCases.map { "\($0)" })
    private static let views = Form.words(NetworkView.allCases.map(\.rawValue))
    private static let procs = Form.words(PolicyProc.allCases.map(\.rawValue))
    private static let families = Form.words(SocketFamily.allCases.map(\.rawValue))
    private static let abi = Form.number(1, 99)

    private static let landlock = Form.mapping(
        required: ["minimum-abi": abi],
        optional: ["log": Form.flag.defaulting(to: false)]
    )

    // The reader knows a word by its spelling: null without quotes is the device too.
    private static let devices: JSONValue = [
        "enum": .array(DeviceName.allCases.map { .string($0.rawValue) } + [.null])
    ]

    private static var policies: JSONValue {
        Form.mapping(
            required: [
                "policy": name, "version": ["const": 1], "role": roles, "assurance": levels,
                "root": root, "proc": procs, "working-directory": Form.path,
                "streams": Form.words(["pipes", "terminal"]), "limits": limits,
                "syscalls": syscalls,
                "landlock": landlock,
            ],
            optional: [
                "mounts": Form.list(mount).defaulting(to: []),
                "devices": Form.distinct(devices).defaulting(to: []),
                "environment": Form.map(Form.anyText).defaulting(to: [:]),
                "command": Form.list(Form.text).defaulting(to: []),
                "sockets": Form.distinct(families).defaulting(to: []),
                "descriptors": Form.map(Form.words(["frames", "verdicts", "control"]))
                    .defaulting(to: [:]),
                "save": Form.words(Surface.Save.allCases.map(\.rawValue))
                    .defaulting(to: .string(Surface.standard.save.rawValue)),
                "surface": Form.distinct(Form.text)
                    .defaulting(to: JSONValue(Surface.standard.patterns.map(\.text))),
                "network": views.defaulting(to: .string(NetworkView.loopback.rawValue)),
                "because": Form.map(Form.text.adding(["maxLength": 1000])).defaulting(to: [:]),
            ]
        )
    }

    private static var root: JSONValue {
        let skeleton = Form.mapping(optional: [
            "directories": Form.distinct(Form.path).defaulting(to: []),
            "links": Form.map(Form.text).defaulting(to: [:]),
            "files": Form.map(Form.anyText).defaulting(to: [:]),
        ])
        return [
            "oneOf": [
                Form.mapping(required: ["tree": ["enum": [true, "true"]]]),
                Form.mapping(required: ["skeleton": skeleton]),
            ]
        ]
    }

    private static var mount: JSONValue {
        let access = Form.words(["read-only", "read-write"])
        let flag = Form.flag.defaulting(to: false)
        let text = Form.text
        return [
            "oneOf": [
                Form.mapping(
                    required: ["source": text, "target": text, "access": access],
                    optional: ["exec": flag, "optional": flag]
                ),
                Form.mapping(
                    required: ["tree": Form.number(0, 15), "target": text, "access": access],
                    optional: ["exec": flag]
                ),
                Form.mapping(
                    required: ["tmpfs": Form.size, "target": text],
                    optional: [
                        "inodes": Form.number(16, 1_048_576).defaulting(to: 16_384), "exec": flag,
                    ]
                ),
                Form.mapping(required: ["vault": ["const": "split"], "target": text]),
            ]
        ]
    }

    private static var limits: JSONValue {
        Form.mapping(
            required: [
                "memory": Form.size, "processes": Form.number(1, 32_768),
                "cpu": Form.number(1, 25_600), "wall": Form.time, "output": Form.size,
                "output-action": Form.words(["truncate", "kill"]),
                "files": Form.number(8, 1_048_576), "file-size": Form.size,
            ],
            optional: [
                "cpu-time": Form.time.defaulting(to: .null),
                "idle": Form.time.defaulting(to: .null),
                "objects": Form.number(0, 1_048_576),
            ]
        )
    }

    private static var syscalls: JSONValue {
        Form.mapping(
            required: ["groups": Form.distinct(name)],
            optional: [
                "allow": rules.defaulting(to: []),
                "refuse": Form.list(Form.text).defaulting(to: []),
            ]
        )
    }

    private static var rules: JSONValue {
        let values = Form.distinct(Form.number(0, .max)).adding(["minItems": 1])
        let condition = Form.mapping(
            required: ["argument": Form.number(0, 5), "in": values],
            optional: ["mask": Form.number(1, .max).defaulting(to: 0xffff_ffff)]
        )
        let conditions = Form.list(condition).adding(["minItems": 1])
        let rule = Form.mapping(required: ["call": Form.text, "when": conditions])
        return Form.list(["oneOf": [Form.text, rule]])
    }

    private static var groups: JSONValue {
        Form.mapping(required: ["group": name, "reason": Form.text, "calls": rules])
    }

    private static var sites: JSONValue {
        let calls = Form.distinct(Form.text)
        let pieces = Form.number(1, 1_048_576)
        return Form.mapping(
            required: ["version": ["const": 1], "reason": Form.text],
            optional: [
                "roles": Form.distinct(roles)
                    .defaulting(to: JSONValue(SandboxRole.allCases.map { "\($0)" })),
                "assurance": levels, "minimum-abi": abi, "network": Form.distinct(views),
                "proc": Form.distinct(procs), "sockets": Form.distinct(families),
                "devices": Form.distinct(devices), "sources": Form.distinct(Form.path),
                "limits": Form.mapping(optional: [
                    "memory": Form.size, "processes": pieces, "cpu": pieces, "wall": Form.time,
                    "cpu-time": Form.time, "idle": Form.time, "output": Form.size,
                    "files": pieces, "file-size": Form.size,
                ]),
                "calls": Form.mapping(optional: ["only": calls, "never": calls]),
                "keys": calls, "upstreams": calls,
            ]
        )
    }
}
