internal import SandboxPlan

/// Attacks on the record, by whoever can write its file.
///
/// On the control the changed file is read by a program that believes what parses, or that verifies
/// without what the attack is refused by: the known key, the witness.
enum LedgerProbes {
    private static let chain: Wall = .named("the chain of rows")
    private static let signature: Wall = .named("the signature of each row")
    private static let footer: Wall = .named("the signed footer")
    private static let witness: Wall = .named("a witness kept elsewhere")
    private static let guards: Wall = .named("the guards of the database")
    private static let key: Wall = .named("the known key")

    private static func probe(
        _ name: String,
        _ title: String,
        threat: String = "a score that no exam gave",
        _ wall: Wall,
        _ reason: String,
        severity: Severity = .critical
    ) -> Probe {
        Probe(
            "ledger.\(name)",
            title,
            threat: threat,
            wall,
            severity,
            [],
            .refused(reason),
            launch: .record
        )
    }

    private static let lost = "a submission that was never counted"
    private static let changed = "row 3: the content does not match its hash"

    static let all: [Probe] = [
        probe("flip-byte", "changes one byte of the file", chain, changed),
        probe(
            "edit-row",
            "changes a row with an SQL tool",
            guards,
            "a ledger row is never changed"
        ),
        probe(
            "edit-behind-guards",
            "takes the guards off, changes a row and puts them back",
            chain,
            changed
        ),
        probe(
            "remove-guards",
            "takes the guards off, so that the next run writes without them",
            threat: "a mistake of the program's own goes through",
            guards,
            "the guard 'entry_is_never_changed' is not in place",
            severity: .medium
        ),
        probe(
            "rehash-row",
            "changes a row and computes every hash and link anew",
            signature,
            "row 3: its signature was not made by the ledger's key over this content"
        ),
        probe(
            "drop-row",
            "takes a row out",
            threat: lost,
            chain,
            "row 3: row 4 stands in its place"
        ),
        probe(
            "drop-and-renumber",
            "takes a row out and numbers the others anew",
            threat: lost,
            chain,
            "row 3: the content does not match its hash"
        ),
        probe(
            "swap-rows",
            "swaps two rows",
            threat: "a verdict of another candidate",
            chain,
            changed
        ),
        probe(
            "repeat-row",
            "enters a row a second time",
            threat: "a promotion that was never earned",
            chain,
            "row 7: the content does not match its hash"
        ),
        probe(
            "append-unsigned",
            "appends a row with a right hash and link and no signature",
            signature,
            "row 7: its signature was not made by the ledger's key over this content"
        ),
        probe(
            "sign-with-another-key",
            "writes the whole record anew and signs it with a key of its own",
            key,
            "header: the public key is not the expected one"
        ),
        probe(
            "replace-key",
            "puts a record of its own with its own key in place of ours",
            key,
            "it is not the key that the rows were signed with"
        ),
        probe(
            "cut-tail",
            "takes the last rows out of the database",
            threat: lost,
            witness,
            "row 5: it is missing"
        ),
        probe(
            "roll-back",
            "puts an older copy of the whole database back",
            threat: lost,
            witness,
            "row 4: it is missing"
        ),
        probe(
            "cut-export",
            "cuts the end off an export",
            threat: lost,
            footer,
            "footer: the signed footer is missing: the tail was cut off"
        ),
        probe(
            "shorten-export",
            "takes the last row out of an export and leaves its footer",
            threat: lost,
            footer,
            "row 6: it is missing"
        ),
        probe(
            "recount-export",
            "takes the last row out of an export and lowers the footer's count",
            threat: lost,
            footer,
            "footer: its signature was not made by the ledger's key over this content"
        ),
        probe(
            "extend-export",
            "appends a row to an export",
            footer,
            "footer: bytes follow the footer"
        ),
    ]
}
