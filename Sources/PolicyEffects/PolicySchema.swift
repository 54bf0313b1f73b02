internal import SandboxPlan
internal import SandboxPolicy
internal import SeccompCompiler
public import StrictJSON

/// A JSON Schema of policy documents, so that editors can complete keys and mark mistakes.
///
/// What it accepts is a superset of what is accepted: the rules that hang on a role or on the host
/// are checked by `policy check` alone.
public enum PolicySchema {
    /// The schema, JSON Schema 2020-12.
    public static var json: JSONValue {
        mapping(
            required: [
                "policy": pattern("^[a-z0-9-]{1,64}$"), "version": ["const": 1],
                "role": words(["coding", "candidate", "examiner", "broker"]),
                "assurance": words(AssuranceLevel.allCases.map(\.name)), "root": root,
                "proc": words(PolicyProc.allCases.map(\.rawValue)), "working-directory": path,
                "streams": words(["pipes", "terminal"]), "limits": limits, "syscalls": syscalls,
                "landlock": landlock,
            ],
            optional: [
                "mounts": list(mount), "devices": list(words(DeviceName.allCases.map(\.rawValue))),
                "environment": map(text), "command": list(text),
                "sockets": list(words(SocketFamily.allCases.map(\.rawValue))),
                "descriptors": map(words(["frames", "verdicts", "control"])),
                "save": words(Surface.Save.allCases.map(\.rawValue)), "surface": list(text),
                "network": words(NetworkView.allCases.map(\.rawValue)),
            ]
        ).adding([
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "invigilator policy, version 1",
        ])
    }

    private static let text: JSONValue = ["type": ["string", "number", "boolean"]]
    private static let path = pattern("^/[^\\u0000-\\u001f]*$")
    private static let size = pattern("^[0-9]+(B|KiB|MiB|GiB)$")
    private static let time = pattern("^[0-9]+(ms|s|m|h)$")
    private static let number: JSONValue = ["type": ["integer", "string"]]

    private static var root: JSONValue {
        [
            "oneOf": [
                mapping(required: ["tree": ["const": true]]),
                mapping(required: [
                    "skeleton": mapping(optional: [
                        "directories": list(path), "links": map(text), "files": map(text),
                    ])
                ]),
            ]
        ]
    }

    private static var mount: JSONValue {
        let flag: JSONValue = ["type": "boolean"]
        let access = words(["read-only", "read-write"])
        return [
            "oneOf": [
                mapping(
                    required: ["source": text, "target": text, "access": access],
                    optional: ["exec": flag, "optional": flag]
                ),
                mapping(
                    required: ["tree": number, "target": text, "access": access],
                    optional: ["exec": flag]
                ),
                mapping(
                    required: ["tmpfs": size, "target": text],
                    optional: ["inodes": number, "exec": flag]
                ),
                mapping(required: ["vault": ["const": "split"], "target": text]),
            ]
        ]
    }

    private static var limits: JSONValue {
        mapping(
            required: [
                "memory": size, "processes": number, "cpu": number, "wall": time, "output": size,
                "output-action": words(["truncate", "kill"]), "files": number, "file-size": size,
            ],
            optional: ["cpu-time": time, "idle": time]
        )
    }

    private static var syscalls: JSONValue {
        let condition = mapping(
            required: ["argument": number, "in": list(number)],
            optional: ["mask": number]
        )
        let rule: JSONValue = [
            "oneOf": [
                ["type": "string"], mapping(required: ["call": text, "when": list(condition)]),
            ]
        ]
        return mapping(
            required: ["groups": list(["type": "string"])],
            optional: ["allow": list(rule), "refuse": list(["type": "string"])]
        )
    }

    private static var landlock: JSONValue { mapping(required: ["minimum-abi": number]) }

    private static func mapping(
        required: [String: JSONValue] = [:],
        optional: [String: JSONValue] = [:]
    ) -> JSONValue {
        [
            "type": "object", "additionalProperties": false,
            "required": JSONValue(required.keys.sorted()),
            "properties": .object(required.merging(optional) { first, _ in first }),
        ]
    }

    private static func words(_ words: [String]) -> JSONValue {
        ["enum": JSONValue(words)]
    }

    private static func pattern(_ pattern: String) -> JSONValue {
        ["type": "string", "pattern": .string(pattern)]
    }

    private static func list(_ items: JSONValue) -> JSONValue {
        ["type": "array", "items": items]
    }

    private static func map(_ values: JSONValue) -> JSONValue {
        ["type": "object", "additionalProperties": values]
    }
}

extension JSONValue {
    /// An object with more members.
    fileprivate func adding(_ members: [String: JSONValue]) -> JSONValue {
        guard case .object(let own) = self else { return self }
        return .object(own.merging(members) { first, _ in first })
    }
}
