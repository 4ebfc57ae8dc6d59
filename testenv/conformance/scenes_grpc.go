package conformance

import "github.com/oncewall/oncewall/testenv/host"

// ofGRPC is the probe's configuration for gRPC callouts: what its root context
// looks at.
const ofGRPC = "ginit=pairs:4;grecv=buf:5:0:99,bufst:5;gtrail=pairs:5;gclose=status"

// frame frames a gRPC message.
func frame(text string) string { return "\x00\x00\x00\x00" + string(rune(len(text))) + text }

// grpcScenes are gRPC callouts and streams of the root context.
var grpcScenes = []Scenario{
	called("answer", "gcall:@bridge:hello", func(s *Stage) {
		b := s.Bridge()
		b.Begin(200, "content-type", "application/grpc", "x-i", "1")
		b.Send(frame("hi"), false)
		b.Trailers("grpc-status", "0", "x-t", "2")
		s.Saw("grecv", 1)
	}),
	called("refusal", "gcall:@bridge:hello", func(s *Stage) {
		b := s.Bridge()
		b.wire.head(200, host.H("content-type", "application/grpc", "grpc-status", "7", "grpc-message", "no"), true)
		s.Saw("gclose", 1)
	}),
	called("http-error", "gcall:@bridge:hello", func(s *Stage) {
		s.Bridge().Respond(503, "")
		s.Saw("gclose", 1)
	}),
	called("reset", "gcall:@bridge:hello", func(s *Stage) {
		s.Bridge().Reset(host.RemoteReset)
		s.Saw("gclose", 1)
	}),
	called("unknown", "gcall:nowhere:hello", func(*Stage) {}),
	called("stream", "gstream:@bridge,gsend:last:one:0,gsend:last:two:1,gsend:77:x:0,gclose:77,gcancel:77", func(s *Stage) {
		b := s.Bridge()
		b.Begin(200, "content-type", "application/grpc")
		b.Send(frame("1"), false)
		s.Saw("grecv", 1)
		b.Send(frame("2"), false)
		s.Saw("grecv", 2)
		b.Trailers("grpc-status", "0")
		s.Saw("gclose", 1)
	}),
	called("cancel", "gstream:@bridge,gsend:last:one:0,gcancel:last", func(*Stage) {}),
}

func called(name, ops string, play func(*Stage)) Scenario {
	return Scenario{
		Name: "grpc-" + name, Fact: "gRPC callouts of a root context: " + name,
		Setup: Setup{OwnVM: true, Config: ofGRPC, Bridge: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			c := s.Get("rqh=" + ops + ",reply:200:d:")
			c.Await()
			s.Gone(1)
			play(s)
		},
	}
}
