// invigilator-broker: the process with the network and the keys; started by the launcher, talks to
// the supervisor on descriptor 3.

internal import EgressBroker

@main
enum EgressBrokerProgram {
    static func main() async {
        await BrokerProcess.run()
    }
}
