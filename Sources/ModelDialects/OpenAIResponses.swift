internal import StrictJSON

enum OpenAIResponses {
    static let request = Shape.Members(["model": .text], required: ["model"])
}
extension RequestDraft {
    mutating func pinOpenAIResponses() {}
}
