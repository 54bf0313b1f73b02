internal import StrictJSON

enum AnthropicMessages {
    static func request(of route: Route) -> Shape.Members {
        Shape.Members(["model": .text], required: ["model"])
    }
    static func fitThinking(in members: inout [String: JSONValue]) {}
}
extension RequestDraft {
    mutating func pinAnthropicMessages() throws(RequestRefusal) {}
}
