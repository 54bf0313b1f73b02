import Foundation
import NIOSSL

/// An authority made with openssl at test time, and certificates that it gives.
struct TestAuthority {
    /// The authority's certificate, PEM.
    let certificate: String
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("authority-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Self.openssl(
            directory,
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem"
                + " -days 2 -subj /CN=test-authority"
        )
        certificate = try String(
            contentsOf: directory.appendingPathComponent("ca.pem"),
            encoding: .utf8
        )
    }

    /// A server's side for a name.
    ///
    /// - Parameters:
    ///   - name: the name in the certificate.
    ///   - days: how many days it is good for; a negative number has passed.
    /// - Returns: the configuration.
    /// - Throws: where openssl refuses.
    func server(_ name: String, days: Int = 1) throws -> TLSConfiguration {
        try "subjectAltName=DNS:\(name)"
            .write(
                to: directory.appendingPathComponent("ext"),
                atomically: true,
                encoding: .utf8
            )
        try Self.openssl(
            directory,
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout s.key -out s.csr"
                + " -subj /CN=\(name)"
        )
        try Self.openssl(
            directory,
            "x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out s.pem -days \(days)"
                + " -extfile ext"
        )
        let chain = try NIOSSLCertificate.fromPEMFile(
            directory.appendingPathComponent("s.pem").path
        )
        return .makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(
                    file: directory.appendingPathComponent("s.key").path,
                    format: .pem
                )
            )
        )
    }

    /// Deletes the keys.
    func remove() throws {
        try FileManager.default.removeItem(at: directory)
    }

    private static func openssl(_ directory: URL, _ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = directory
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchError.missing }
    }
}
