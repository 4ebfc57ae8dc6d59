package host

func init() {
	define("env", "proxy_get_shared_data", "iiiii", getSharedData)
	define("env", "proxy_set_shared_data", "iiiii", setSharedData)
	define("env", "proxy_register_shared_queue", "iii", registerSharedQueue)
	define("env", "proxy_resolve_shared_queue", "iiiii", resolveSharedQueue)
	define("env", "proxy_enqueue_shared_queue", "iii", enqueueSharedQueue)
	define("env", "proxy_dequeue_shared_queue", "iii", dequeueSharedQueue)
	define("env", "proxy_define_metric", "iiii", defineMetric)
	define("env", "proxy_increment_metric", "iI", incrementMetric)
	define("env", "proxy_record_metric", "iI", recordMetric)
	define("env", "proxy_get_metric", "ii", getMetric)
}

// getSharedData is proxy_get_shared_data: a value that all VMs of this vm_id
// share.
//
//	in   address and size of the key
//	out  address and size of the value; its cas, 32 bits, never 0
//
// OK; not found.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_shared_data
func getSharedData(c *call) Status {
	key := c.str(0)
	c.show("%q", key)
	d, ok := c.vm.h.shared[key]
	if !ok {
		return StatusNotFound
	}
	c.give(2, 3, d.value)
	c.setU32(4, d.cas)
	return c.got("%s cas %d", quote(string(d.value)), d.cas)
}

// setSharedData is proxy_set_shared_data.
//
//	in   key and value, each by address and size; the cas that the value must
//	     still have, 0 for any
//
// OK; cas mismatch: it has changed. A key that does not exist takes any cas.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_set_shared_data
func setSharedData(c *call) Status {
	key, value, cas := c.str(0), c.str(2), c.u32(4)
	c.show("%q, %s, %d", key, quote(value), cas)
	h := c.vm.h
	if d, ok := h.shared[key]; ok && cas != 0 && cas != d.cas {
		return StatusCasMismatch
	}
	h.nextCas++
	h.shared[key] = sharedData{[]byte(value), h.nextCas}
	return StatusOK
}

// registerSharedQueue is proxy_register_shared_queue: the queue of that name in
// this vm_id. The root context of the last one to register is told of entries.
//
//	in   address and size of the name
//	out  token, 32 bits
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_register_shared_queue
func registerSharedQueue(c *call) Status {
	name := c.str(0)
	c.show("%q", name)
	h := c.vm.h
	q := h.queues[name]
	if q == nil {
		q = &queue{token: uint32(len(h.queues) + 1)}
		h.queues[name] = q
	}
	q.w, q.context = c.vm.w, c.ctx().root.id
	c.setU32(2, q.token)
	return c.got("%d", q.token)
}

// resolveSharedQueue is proxy_resolve_shared_queue: a queue that was registered.
//
//	in   vm_id ("" for one's own) and name, each by address and size
//	out  token, 32 bits
//
// OK; not found.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_resolve_shared_queue
func resolveSharedQueue(c *call) Status {
	id, name := c.str(0), c.str(2)
	c.show("%q, %q", id, name)
	q := c.vm.h.queues[name]
	if q == nil || id != "" && id != c.vm.h.o.VMID {
		return StatusNotFound
	}
	c.setU32(4, q.token)
	return c.got("%d", q.token)
}

func (h *Host) queueOf(token uint32) *queue {
	for _, q := range h.queues {
		if q.token == token {
			return q
		}
	}
	return nil
}

// enqueueSharedQueue is proxy_enqueue_shared_queue. The registered root context
// gets proxy_on_queue_ready in an event of its own, once per entry.
//
//	in   token; address and size of the entry
//
// OK; not found.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_enqueue_shared_queue
func enqueueSharedQueue(c *call) Status {
	data := c.str(1)
	c.show("%d, %s", c.u32(0), quote(data))
	h := c.vm.h
	q := h.queueOf(c.u32(0))
	if q == nil {
		return StatusNotFound
	}
	q.entries = append(q.entries, []byte(data))
	h.event(func() {
		if v := q.w.vm; v != nil && !v.failed {
			if root := v.contexts[q.context]; root != nil {
				root.onQueueReady(q.token)
			}
		}
	})
	return StatusOK
}

// dequeueSharedQueue is proxy_dequeue_shared_queue: the oldest entry.
//
//	in   token
//	out  address and size of the entry
//
// OK; empty; not found.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_dequeue_shared_queue
func dequeueSharedQueue(c *call) Status {
	c.show("%d", c.u32(0))
	q := c.vm.h.queueOf(c.u32(0))
	if q == nil {
		return StatusNotFound
	}
	if len(q.entries) == 0 {
		return StatusEmpty
	}
	data := q.entries[0]
	q.entries = q.entries[1:]
	c.give(1, 2, data)
	return c.got("%s", quote(string(data)))
}

var metricTypes = [...]string{"counter", "gauge", "histogram"}

// defineMetric is proxy_define_metric: the metric wasmcustom.<name>, shared by
// all VMs; a name that exists gives the same metric by another id.
//
//	in   0 counter, 1 gauge, 2 histogram; address and size of the name
//	out  id, 32 bits
//
// OK; bad argument: no such type.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_define_metric
func defineMetric(c *call) Status {
	t, name := c.u32(0), c.str(1)
	if t >= uint32(len(metricTypes)) {
		c.show("%d, %q", t, name)
		c.misuse("no such metric type")
		return StatusBadArgument
	}
	c.show("%s, %q", metricTypes[t], name)
	c.vm.nextMetric[t] += 4
	id := c.vm.nextMetric[t]
	c.vm.metrics[id] = c.vm.h.metric(t, name)
	c.setU32(3, id)
	return c.got("%d", id)
}

// incrementMetric is proxy_increment_metric.
//
//	in   id; offset, 64 bits signed
//
// OK; bad argument: a histogram, or a counter by 0 or less; not found.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_increment_metric
func incrementMetric(c *call) Status {
	id, offset := c.u32(0), int64(c.a[1])
	c.show("%d, %d", id, offset)
	if id&3 > 1 {
		return StatusBadArgument
	}
	m := c.vm.metrics[id]
	if m == nil {
		return StatusNotFound
	}
	if id&3 == 0 && offset <= 0 {
		return StatusBadArgument
	}
	m.value += uint64(offset)
	return StatusOK
}

// recordMetric is proxy_record_metric: adds to a counter, sets a gauge, records
// in a histogram.
//
//	in   id; value, 64 bits unsigned
//
// OK; not found.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_record_metric
func recordMetric(c *call) Status {
	id, value := c.u32(0), c.a[1]
	c.show("%d, %d", id, value)
	m := c.vm.metrics[id]
	if m == nil {
		return StatusNotFound
	}
	switch id & 3 {
	case 0:
		m.value += value
	case 1:
		m.value = value
	default:
		m.samples = append(m.samples, value)
	}
	return StatusOK
}

// getMetric is proxy_get_metric.
//
//	in   id
//	out  value, 64 bits
//
// OK; bad argument: a histogram; not found.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_metric
func getMetric(c *call) Status {
	c.show("%d", c.u32(0))
	if c.u32(0)&3 > 1 {
		return StatusBadArgument
	}
	m := c.vm.metrics[c.u32(0)]
	if m == nil {
		return StatusNotFound
	}
	c.setU64(1, m.value)
	return c.got("%d", m.value)
}
