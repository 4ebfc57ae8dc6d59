package host_test

import "testing"

const (
	newconn   = "proxy_on_new_connection(ctx=2)"
	down      = "proxy_on_downstream_data(ctx=2"
	up        = "proxy_on_upstream_data(ctx=2"
	downclose = "proxy_on_downstream_connection_close(ctx=2"
	upclose   = "proxy_on_upstream_connection_close(ctx=2"
)

// A connection: its data both ways, the half-closes, and its end, whose order
// differs from that of HTTP streams.
func TestConnection(t *testing.T) {
	s := start(t, config("down1=buf:2:0:9,setbuf:2:0:0:>;up1=buf:3:0:9,setbuf:3:9:0:<"))
	k := s.Worker(0).Connect()
	k.Send([]byte("ask"), false)
	k.Answer([]byte("tell"), false)
	k.Send([]byte("!"), true)
	k.Answer(nil, true)
	s.saw("proxy_get_buffer_bytes(downstream_data, 0, 9) = ok 3 bytes")
	s.saw("proxy_get_buffer_bytes(upstream_data, 0, 9) = ok 4 bytes")
	s.callbacks(create, newconn, down+", n=3, end=0", up+", n=4, end=0", down+", n=1, end=1", up+", n=0, end=1",
		upclose+", by=unknown", downclose+", by=local", "proxy_on_done(ctx=2", "proxy_on_log(ctx=2", "proxy_on_delete(ctx=2")
	if string(k.Received()) != ">ask!" || string(k.Sent()) != "tell<" || !k.Closed() {
		t.Fatalf("%q %q", k.Received(), k.Sent())
	}
}

// A pause holds what was read; it comes again with what follows, until the
// filter continues.
func TestConnectionPause(t *testing.T) {
	s := start(t, config("down1=call:bridge:/:0,1;down2=1;down=0"))
	k := s.Worker(0).Connect()
	k.Send([]byte("ab"), false)
	k.Send([]byte("cd"), false)
	s.callbacks(create, newconn, down+", n=2", down+", n=4")
	if len(k.Received()) != 0 {
		t.Fatalf("%q", k.Received())
	}
	k.Send([]byte("e"), false)
	s.callbacks(down + ", n=5")
	if string(k.Received()) != "abcde" {
		t.Fatalf("%q", k.Received())
	}
	k.Close()
	s.callbacks(downclose+", by=remote", "proxy_on_done(ctx=2", "proxy_on_log(ctx=2", "proxy_on_delete(ctx=2")
}

// A pause in the upstream's data holds it until the next data.
func TestConnectionPausesAnswer(t *testing.T) {
	s := start(t, config("up1=1;up=0"))
	k := s.Worker(0).Connect()
	k.Answer([]byte("tell:ab"), false)
	if len(k.Sent()) != 0 {
		t.Fatalf("%q", k.Sent())
	}
	k.Answer([]byte("tell:cd"), false)
	s.callbacks(create, newconn, up+", n=7", up+", n=14")
	if string(k.Sent()) != "tell:abtell:cd" {
		t.Fatalf("%q", k.Sent())
	}
}

// A pause of the new connection keeps its data unread until the filter
// continues.
func TestConnectionPausedAtOnce(t *testing.T) {
	s := start(t, config("newconn=call:bridge:/:0,1;cb=eff:0,cont:2"))
	k := s.Worker(0).Connect()
	k.Send([]byte("ab"), false)
	s.callbacks(create, newconn)
	s.Pending("bridge")[0].Respond(200, nil, nil)
	k.Send([]byte("cd"), false)
	s.callbacks(cb, down+", n=2", down+", n=2")
	if string(k.Received()) != "abcd" {
		t.Fatalf("%q", k.Received())
	}
}

// A callout's callback continues a connection, or closes it.
func TestConnectionCallout(t *testing.T) {
	for op, received := range map[string]string{"cont:2": "ab", "close:2": ""} {
		s := start(t, config("down1=call:bridge:/:0,1;cb=eff:0,"+op))
		k := s.Worker(0).Connect()
		k.Send([]byte("ab"), false)
		s.Pending("bridge")[0].Respond(200, nil, nil)
		if string(k.Received()) != received || k.Closed() != (op == "close:2") {
			t.Errorf("%s: %q, closed %t", op, k.Received(), k.Closed())
		}
	}
}

// A trap closes the connection; nothing is called then.
func TestConnectionTrap(t *testing.T) {
	s := start(t, config("down=panic"))
	k := s.Worker(0).Connect()
	k.Send([]byte("ab"), false)
	s.callbacks(create, newconn, down)
	if !k.Closed() || !s.Worker(0).Connect().Closed() {
		t.Fatal("open")
	}
	s.callbacks()
}
