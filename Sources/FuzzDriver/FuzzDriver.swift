// Two programs from one target. In the ordinary build: feeds named files to one surface, to look at
// a finding. With the trait Fuzzing and the compiler's fuzzer: libFuzzer's main calls the function
// below, which the trait adds (llvm.org/docs/LibFuzzer.html, "Fuzz Target").

internal import Foundation
internal import ParserFuzzer

#if Fuzzing

/// The surface of this run, from `--surface=NAME`; libFuzzer leaves such arguments to us.
private let surface: FuzzSurface = {
    let prefix = "--surface="
    for argument in CommandLine.arguments where argument.hasPrefix(prefix) {
        if let surface = FuzzSurface(rawValue: String(argument.dropFirst(prefix.count))) {
            return surface
        }
    }
    let names = FuzzSurface.allCases.map(\.rawValue).joined(separator: " ")
    FileHandle.standardError.write(Data("name one with --surface=NAME: \(names)\n".utf8))
    exit(2)
}()

/// libFuzzer's entry: one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // Safety: libFuzzer owns `count` readable bytes at `start` for the length of this call.
    unsafe surface.feed(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

#else

/// Replays inputs: `invigilator-fuzz SURFACE FILE…`.
@main
enum FuzzDriver {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first, let surface = FuzzSurface(rawValue: name) else {
            let names = FuzzSurface.allCases.map(\.rawValue).joined(separator: " ")
            FileHandle.standardError.write(
                Data("usage: invigilator-fuzz SURFACE FILE…; surfaces: \(names)\n".utf8)
            )
            exit(2)
        }
        for path in arguments.dropFirst() {
            surface.feed(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        }
        print("\(arguments.count - 1) inputs fed to \(name)")
    }
}

#endif
