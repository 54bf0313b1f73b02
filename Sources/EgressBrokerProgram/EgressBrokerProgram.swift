// invigilator-broker: the process with the network and the keys; started by the launcher, talks to
// the supervisor on descriptor 3. Asked for it, it posts one event to a hook of the operator's instead.

internal import EgressBroker

@main
enum EgressBrokerProgram {
    static func main() async {
        if CommandLine.arguments.dropFirst().first == WebhookPost.word { await WebhookPost.run() }
        await BrokerProcess.run()
    }
}
