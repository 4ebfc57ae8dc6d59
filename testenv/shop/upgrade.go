package shop

import (
	"context"
	"io"
	"net/http"
)

// upgrade answers 101 with the protocol that was asked for and then sends back
// every byte it gets. Over HTTP/2, or when nothing was asked for, it is 426.
func (s *Shop) upgrade(w http.ResponseWriter, r *http.Request, q *request) {
	proto := r.Header.Get("Upgrade")
	w.Header().Set("X-Shop-Execution", q.id)
	if proto == "" || r.ProtoMajor != 1 {
		w.Header().Set("Upgrade", "shop-echo")
		http.Error(w, "ask for an upgrade over HTTP/1.1", http.StatusUpgradeRequired)
		return
	}
	h := w.Header()
	h.Set("Connection", "Upgrade")
	h.Set("Upgrade", proto)
	s.setLines(h, &q.knobs)
	w.WriteHeader(http.StatusSwitchingProtocols)
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	unhook := context.AfterFunc(s.stopped, func() { conn.Close() })
	defer unhook()
	io.Copy(conn, rw) // ends when either side closes
}
