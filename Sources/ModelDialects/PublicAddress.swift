extension UpstreamName {
    /// Whether an address that a name resolved to lies in the public internet, so that a name
    /// cannot lead the broker into the host or its network (IANA special-purpose registries for
    /// IPv4 and IPv6).
    ///
    /// - Parameter address: four or sixteen bytes, in network order.
    /// - Returns: whether it does; any other length does not.
    public static func isPublic(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: isPublicIPv4(address)
        case 16: isPublicIPv6(address)
        default: false
        }
    }

    private struct Block {
        let prefix: [UInt8]
        let bits: Int

        init(_ prefix: [UInt8], _ bits: Int) {
            self.prefix = prefix
            self.bits = bits
        }

        func holds(_ address: [UInt8]) -> Bool {
            for bit in 0..<bits {
                let mask: UInt8 = 0x80 >> UInt8(bit % 8)
                let mine = bit / 8 < prefix.count ? prefix[bit / 8] : 0
                if mine & mask != address[bit / 8] & mask { return false }
            }
            return true
        }
    }

    private static func isPublicIPv4(_ address: [UInt8]) -> Bool {
        let special = [
            Block([0], 8), Block([10], 8), Block([100, 64], 10), Block([127], 8),
            Block([169, 254], 16), Block([172, 16], 12), Block([192, 0, 0], 24),
            Block([192, 0, 2], 24), Block([192, 31, 196], 24), Block([192, 52, 193], 24),
            Block([192, 88, 99], 24), Block([192, 168], 16), Block([192, 175, 48], 24),
            Block([198, 18], 15), Block([198, 51, 100], 24), Block([203, 0, 113], 24),
            Block([224], 4), Block([240], 4),
        ]
        return !special.contains { $0.holds(address) }
    }

    /// Only what is given out as global unicast (2000::/3), without what stands in it for tunnels,
    /// documentation and translation: an IPv4 address inside an IPv6 address is never public.
    private static func isPublicIPv6(_ address: [UInt8]) -> Bool {
        let special = [
            Block([0x20, 0x01], 23), Block([0x20, 0x01, 0x0D, 0xB8], 32), Block([0x20, 0x02], 16),
            Block([0x26, 0x20, 0x00, 0x4F, 0x80], 48), Block([0x3F, 0xFF], 20),
        ]
        return Block([0x20], 3).holds(address) && !special.contains { $0.holds(address) }
    }
}
