internal import StrictJSON

extension ProviderError {
    /// What a provider said was wrong, on one line for the operator.
    ///
    /// - Parameter body: the body of an answer that is no success.
    /// - Returns: its own sentence, printable and bounded; nil where it said nothing.
    public static func words(of body: [UInt8]) -> String? {
        let text = sentence(of: body) ?? String(decoding: body.prefix(2_000), as: UTF8.self)
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.isEmpty ? nil : ModelEvent.printable(line, limit: ModelEvent.detailLimit)
    }

    private static func sentence(of body: [UInt8]) -> String? {
        do throws(JSONError) {
            let value = try JSONValue(parsing: body, limits: ModelRequest.limits)
            // Gemini's streams have the object in a list.
            let object = value.arrayValue?.first ?? value
            let places = [
                object["error"]?["message"], object["error"], object["message"], object["detail"],
                object["detail"]?.arrayValue?.first?["msg"],
            ]
            return places.lazy.compactMap { $0?.stringValue }.first
        } catch {
            return nil  // no JSON: then the bytes are the words
        }
    }
}
