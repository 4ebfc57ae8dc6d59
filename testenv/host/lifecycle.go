package host

import (
	"fmt"
)

// load makes the worker's VM and starts the current configuration in it.
func (w *Worker) load() error {
	v, err := w.h.newVM(w, w.name)
	if err != nil {
		return err
	}
	w.vm, w.loaded = v, w.h.now
	return v.startPlugin(w.h.plugin)
}

// startPlugin makes the root context of p: proxy_on_context_create,
// proxy_on_vm_start, proxy_on_configure, in this order and for every root
// context, also of a VM that has been running for long.
func (v *vm) startPlugin(p *plugin) error {
	root := v.newContext(p, nil, nil)
	v.roots[p] = root
	if err := v.call(root, "proxy_on_vm_start", len(v.h.o.VMConfig), true); err != nil {
		return err
	}
	root.starting = p
	err := v.call(root, "proxy_on_configure", len(p.config), false)
	root.starting = nil
	return err
}

func (v *vm) call(root *fctx, name string, size int, create bool) error {
	if create {
		root.create()
	}
	if v.failed {
		return fmt.Errorf("vm %s: trap before %s", v.name, name)
	}
	if !v.has(name) {
		return nil
	}
	ok := v.invoke(root, name, fmt.Sprintf("size=%d", size), showBool, uint64(size)) != 0
	v.afterCall()
	if v.failed {
		return fmt.Errorf("vm %s: trap in %s", v.name, name)
	}
	if !ok {
		return fmt.Errorf("vm %s: %s answered false", v.name, name)
	}
	return nil
}

// canary tries the current configuration in a VM that is thrown away.
func (h *Host) canary(p *plugin) error {
	v, err := h.newVM(&Worker{h: h, name: "canary"}, "canary")
	if err != nil {
		return err
	}
	err = v.startPlugin(p)
	v.failed = true // nothing of it is ever called again
	for _, root := range v.roots {
		root.cancelCalls() // before they are on the wire
	}
	h.trapped(v)
	return err
}

// Reconfigure is an update of the listener with another plugin configuration.
// Each VM stays and gets one more root context, with which later streams run;
// streams of the old one go on until [Host.Drain]. A configuration that the
// filter refuses is an error and changes nothing: it is tried in a VM of its own
// first.
func (h *Host) Reconfigure(config []byte) error {
	var err error
	h.event(func() {
		old := h.plugin
		p := &plugin{config: config, number: old.number + 1}
		if err = h.canary(p); err != nil {
			return
		}
		h.plugin = p
		h.draining = append(h.draining, old)
		for _, w := range h.threads() {
			if !w.vm.failed {
				if e := w.vm.startPlugin(p); e != nil && err == nil {
					err = e
				}
			}
		}
	})
	return err
}

// Drain ends the drain time of configurations that were replaced: their streams
// are cut, and their root contexts get proxy_on_done. One that answers false
// lives on until proxy_done.
func (h *Host) Drain() {
	h.event(func() {
		for _, p := range h.draining {
			for _, w := range h.threads() {
				w.drain(p)
			}
		}
		h.draining = nil
	})
}

func (w *Worker) drain(p *plugin) {
	for _, s := range append([]*Stream(nil), w.streams...) {
		if s.f != nil && s.f.plugin == p {
			s.details, s.flags = "downstream_local_disconnect(filter_chain_is_being_removed)", s.flags|FlagDownstreamDisconnect
			s.reset("drained")
		}
	}
	w.endRoot(p)
}

// endRoot tells the root context of p, in the worker's VM, that it is over.
func (w *Worker) endRoot(p *plugin) {
	v := w.vm
	root := v.roots[p]
	if root == nil {
		return
	}
	delete(v.roots, p)
	if root.done() {
		root.delete()
	} else if !v.failed {
		v.pending[p] = root
	}
}

// Shutdown is the end of the process after SIGTERM or /quitquitquit: first the
// workers, then the main thread. Streams that are still under way are reset; then
// each root context gets proxy_on_done and, unless it answers false,
// proxy_on_delete. No request may follow; [Host.Close] frees the VMs.
func (h *Host) Shutdown() {
	h.event(func() {
		live := append(h.draining, h.plugin) // oldest first
		h.draining = nil
		for _, w := range append(h.workers[:len(h.workers):len(h.workers)], h.main) {
			for _, s := range append([]*Stream(nil), w.streams...) {
				s.details, s.flags = "downstream_local_disconnect", s.flags|FlagDownstreamDisconnect
				s.reset("the process ends")
			}
			for _, p := range live {
				w.endRoot(p)
			}
		}
	})
}
