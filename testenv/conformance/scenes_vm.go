package conformance

import (
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// vmScenes are section 5: the life of VMs and configurations.
var vmScenes = []Scenario{
	{
		Name: "start-order", Short: true, Startup: true, Fact: "5: create, vm_start, configure for the root context in every VM; context ids are consecutive",
		Setup: Setup{OwnVM: true, Config: "configure=buf:7:0:99,bufst:7,buf:6:0:9,prop:plugin_name,prop:request|method,setprop:a:b,get:0:a,reply:500:d:,cont:0,call:@bridge:/:0,1"},
		Play: func(s *Stage) {
			s.Get("rqh=reply:200:d:").Await()
			s.Get("rqh=reply:200:d:").Await()
			s.Gone(2)
		},
	},
	policy("unspecified", host.Unspecified), policy("closed", host.FailClosed), policy("open", host.FailOpen), policy("reload", host.FailReload),
	{
		Name: "reload-backoff", Fact: "5: within the backoff requests get 503", Setup: Setup{OwnVM: true, Failure: host.FailReload, ReloadBackoff: time.Minute},
		Play: func(s *Stage) {
			s.Get("rqh=panic").Await()
			s.Get("rqh=reply:200:d:").Await()
		},
	},
	trapInCallout("closed", host.FailClosed), trapInCallout("open", host.FailOpen), trapInCallout("reload", host.FailReload),
	{
		Name: "trap-in-flight", Short: true, Fact: "5: a stream whose upstream is in flight when the VM dies gets 503 when the response comes", Setup: Setup{OwnVM: true},
		Play: func(s *Stage) {
			c := s.Get("")
			up := s.Up()
			s.Get("rqh=panic").Await()
			up.Respond(200, "ok")
			c.Await()
		},
	},
	trapped("request-body", "rqb=panic"), trapped("response-headers", "rsh=panic"), trapped("response-body", "rsb2=panic"),
	trapped("log", "log=panic"), trapped("done", "done=panic"),
	{
		Name: "reconfigure", Startup: true, Fact: "5: a new configuration is a new root context in the live VM; the old one ends after the drain, and what waits in it is cut",
		Setup: Setup{OwnVM: true, Watched: true, Config: "configure=1"},
		Play: func(s *Stage) {
			old := s.Get("rqh=call:@bridge:/:0,1")
			b := s.Bridge()
			s.Reconfigure("configure=buf:7:0:99,1")
			c := s.Get("rqh=reply:200:d:")
			c.Await()
			s.Drained()
			old.Await()
			b.AwaitAborted()
			s.Gone(3)
		},
	}, {
		Name: "reconfigure-refused", Fact: "5: a configuration that the filter refuses changes nothing",
		Setup: Setup{OwnVM: true, Watched: true},
		Play: func(s *Stage) {
			s.Reconfigure("configure=0")
			s.Get("rqh=reply:200:d:").Await()
			s.Gone(1)
		},
	}, {
		Name: "done-later", Startup: true, Fact: "a root context that answers done with false lives on until proxy_done",
		Setup: Setup{OwnVM: true, Watched: true, Config: "configure=1;done=tick:300,0;tick2=done"},
		Play: func(s *Stage) {
			s.Get("rqh=reply:200:d:").Await()
			s.Reconfigure("configure=1")
			s.Drained()
			s.Saw("tick", 4)
		},
	},
}

func policy(name string, p host.FailurePolicy) Scenario {
	return Scenario{
		Name: "policy-" + name, Short: name == "reload", Fact: "fact 10, 5: what requests get after a trap in the request headers",
		Setup: Setup{OwnVM: true, Failure: p, ReloadBackoff: reloadBackoff(p)},
		Play: func(s *Stage) {
			s.Pass(300 * time.Millisecond)
			s.Get("rqh=panic").Await()
			if p != host.FailReload {
				c := s.Get("rqh=reply:299:d:")
				if p == host.FailOpen {
					s.Up().Respond(200, "past the filter")
				}
				c.Await()
			}
			s.Pass(300 * time.Millisecond)
			c := s.Get("rqh=reply:299:d:")
			if p == host.FailOpen {
				s.Up().Respond(200, "past the filter")
			}
			c.Await()
		},
	}
}

func reloadBackoff(p host.FailurePolicy) time.Duration {
	if p == host.FailReload {
		return 200 * time.Millisecond
	}
	return 0
}

func trapInCallout(name string, p host.FailurePolicy) Scenario {
	return Scenario{
		Name: "trap-in-callout-" + name, Fact: "fact 2: a trap in a callout's callback answers nobody; the idle timeout's reply becomes 503",
		Setup: Setup{OwnVM: true, Failure: p, StreamIdle: 1500 * time.Millisecond},
		Play: func(s *Stage) {
			other := s.Get("rqh=1")
			s.Saw("rqh", 1)
			c := s.Get("rqh=call:@bridge:/:0,1;cb=panic")
			s.Bridge().Respond(200, "")
			s.Saw("cb", 1)
			s.Quiet(300 * time.Millisecond)
			other.Await()
			c.Await()
		},
	}
}

// trapped is a trap in one callback of a request that is answered.
func trapped(name, script string) Scenario {
	return Scenario{
		Name: "trap-" + name, Fact: "5: a trap in the response's headers is 503 though upstream executed; in its body it truncates",
		Setup: Setup{OwnVM: true},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: script, Open: true})
			up := s.Head("upstream")
			c.Send("body", true)
			if name != "request-body" {
				up.AwaitEnd()
				up.Begin(200)
				up.Send("half", false)
				if name != "response-headers" {
					s.Saw("rsb", 1)
					up.Send("rest", true)
				}
			}
			c.Await()
		},
	}
}
