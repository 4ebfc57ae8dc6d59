package host

import "strings"

// Flags are Envoy's response flags as the property response.flags shows them:
// bit 1<<n for the n-th core flag.
type Flags uint64

// Response flags that the model sets.
const (
	FlagNoHealthyUpstream             Flags = 1 << 1  // UH
	FlagUpstreamRequestTimeout        Flags = 1 << 2  // UT
	FlagLocalReset                    Flags = 1 << 3  // LR
	FlagUpstreamRemoteReset           Flags = 1 << 4  // UR
	FlagUpstreamConnectionFailure     Flags = 1 << 5  // UF
	FlagUpstreamConnectionTermination Flags = 1 << 6  // UC
	FlagUpstreamOverflow              Flags = 1 << 7  // UO
	FlagNoRoute                       Flags = 1 << 8  // NR
	FlagRateLimited                   Flags = 1 << 11 // RL
	FlagUnauthorized                  Flags = 1 << 12 // UAEX
	FlagDownstreamDisconnect          Flags = 1 << 14 // DC
	FlagRetryLimitExceeded            Flags = 1 << 15 // URX
	FlagStreamIdleTimeout             Flags = 1 << 16 // SI
	FlagDownstreamProtocolError       Flags = 1 << 18 // DPE
	FlagUpstreamProtocolError         Flags = 1 << 23 // UPE
	FlagNoCluster                     Flags = 1 << 24 // NC
	FlagDownstreamRemoteReset         Flags = 1 << 28 // DR
)

var flagNames = [...]string{"LH", "UH", "UT", "LR", "UR", "UF", "UC", "UO", "NR", "DI", "FI", "RL", "UAEX", "RLSE", "DC",
	"URX", "SI", "IH", "DPE", "UMSDR", "RFCF", "NFCF", "DT", "UPE", "NC", "OM", "DF", "DO", "DR", "UDO"}

// String gives the flags as %RESPONSE_FLAGS% does: short names by comma, "-"
// for none.
func (f Flags) String() string {
	var names []string
	for i, n := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if names == nil {
		return "-"
	}
	return strings.Join(names, ",")
}

// resetKinds give, for each reason, the words of Envoy's body text, of its
// details, and its flag.
var resetKinds = map[ResetReason]struct {
	words, detail string
	flag          Flags
}{
	ConnectFailure: {"remote connection failure", "remote_connection_failure|delayed_connect_error:_Connection_refused",
		FlagUpstreamConnectionFailure},
	ConnectionTermination: {"connection termination", "connection_termination", FlagUpstreamConnectionTermination},
	RemoteReset:           {"remote reset", "remote_reset", FlagUpstreamRemoteReset},
	RemoteRefused:         {"remote refused stream reset", "remote_refused_stream_reset", FlagUpstreamRemoteReset},
	ProtocolError:         {"protocol error", "protocol_error", FlagUpstreamProtocolError},
	overflow:              {"overflow", "overflow", FlagUpstreamOverflow},
}
