internal import StrictJSON

enum GeminiGenerate {
    static func request(of route: Route) -> Shape.Members { Shape.Members([:]) }
}
extension RequestDraft {
    mutating func pinGemini() {}
}
