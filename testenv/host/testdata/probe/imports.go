//go:build wasip1

package main

import "unsafe"

type ptr = unsafe.Pointer

//go:wasmimport env proxy_log
func proxyLog(level uint32, p ptr, n uint32) uint32

//go:wasmimport env proxy_get_log_level
func proxyGetLogLevel(out ptr) uint32

//go:wasmimport env proxy_get_current_time_nanoseconds
func proxyGetCurrentTime(out ptr) uint32

//go:wasmimport env proxy_set_tick_period_milliseconds
func proxySetTick(ms uint32) uint32

//go:wasmimport env proxy_get_status
func proxyGetStatus(code, p, n ptr) uint32

//go:wasmimport env proxy_get_property
func proxyGetProperty(path ptr, pathN uint32, p, n ptr) uint32

//go:wasmimport env proxy_set_property
func proxySetProperty(path ptr, pathN uint32, v ptr, vN uint32) uint32

//go:wasmimport env proxy_get_header_map_value
func proxyGetHeader(m uint32, k ptr, kN uint32, p, n ptr) uint32

//go:wasmimport env proxy_add_header_map_value
func proxyAddHeader(m uint32, k ptr, kN uint32, v ptr, vN uint32) uint32

//go:wasmimport env proxy_replace_header_map_value
func proxyReplaceHeader(m uint32, k ptr, kN uint32, v ptr, vN uint32) uint32

//go:wasmimport env proxy_remove_header_map_value
func proxyRemoveHeader(m uint32, k ptr, kN uint32) uint32

//go:wasmimport env proxy_get_header_map_pairs
func proxyGetPairs(m uint32, p, n ptr) uint32

//go:wasmimport env proxy_set_header_map_pairs
func proxySetPairs(m uint32, p ptr, n uint32) uint32

//go:wasmimport env proxy_get_header_map_size
func proxyGetHeadersSize(m uint32, out ptr) uint32

//go:wasmimport env proxy_get_buffer_bytes
func proxyGetBuffer(b, start, length uint32, p, n ptr) uint32

//go:wasmimport env proxy_get_buffer_status
func proxyGetBufferStatus(b uint32, length, flags ptr) uint32

//go:wasmimport env proxy_set_buffer_bytes
func proxySetBuffer(b, start, length uint32, p ptr, n uint32) uint32

//go:wasmimport env proxy_continue_stream
func proxyContinue(t uint32) uint32

//go:wasmimport env proxy_close_stream
func proxyClose(t uint32) uint32

//go:wasmimport env proxy_send_local_response
func proxyReply(status uint32, details ptr, detailsN uint32, body ptr, bodyN uint32, headers ptr, headersN uint32, grpc int32) uint32

//go:wasmimport env proxy_set_effective_context
func proxyEffective(id uint32) uint32

//go:wasmimport env proxy_done
func proxyDone() uint32

//go:wasmimport env proxy_http_call
func proxyCall(cluster ptr, clusterN uint32, headers ptr, headersN uint32, body ptr, bodyN uint32, trailers ptr, trailersN uint32, timeout uint32, token ptr) uint32

//go:wasmimport env proxy_grpc_call
func proxyGRPCCall(svc ptr, svcN uint32, name ptr, nameN uint32, method ptr, methodN uint32, meta ptr, metaN uint32, msg ptr, msgN uint32, timeout uint32, token ptr) uint32

//go:wasmimport env proxy_grpc_stream
func proxyGRPCStream(svc ptr, svcN uint32, name ptr, nameN uint32, method ptr, methodN uint32, meta ptr, metaN uint32, token ptr) uint32

//go:wasmimport env proxy_grpc_send
func proxyGRPCSend(token uint32, p ptr, n uint32, end uint32) uint32

//go:wasmimport env proxy_grpc_close
func proxyGRPCClose(token uint32) uint32

//go:wasmimport env proxy_grpc_cancel
func proxyGRPCCancel(token uint32) uint32

//go:wasmimport env proxy_get_shared_data
func proxyGetShared(k ptr, kN uint32, p, n, cas ptr) uint32

//go:wasmimport env proxy_set_shared_data
func proxySetShared(k ptr, kN uint32, v ptr, vN uint32, cas uint32) uint32

//go:wasmimport env proxy_register_shared_queue
func proxyRegisterQueue(p ptr, n uint32, token ptr) uint32

//go:wasmimport env proxy_resolve_shared_queue
func proxyResolveQueue(vm ptr, vmN uint32, p ptr, n uint32, token ptr) uint32

//go:wasmimport env proxy_enqueue_shared_queue
func proxyEnqueue(token uint32, p ptr, n uint32) uint32

//go:wasmimport env proxy_dequeue_shared_queue
func proxyDequeue(token uint32, p, n ptr) uint32

//go:wasmimport env proxy_define_metric
func proxyDefineMetric(kind uint32, p ptr, n uint32, id ptr) uint32

//go:wasmimport env proxy_increment_metric
func proxyIncrement(id uint32, offset int64) uint32

//go:wasmimport env proxy_record_metric
func proxyRecord(id uint32, value uint64) uint32

//go:wasmimport env proxy_get_metric
func proxyGetMetric(id uint32, out ptr) uint32

//go:wasmimport env proxy_call_foreign_function
func proxyForeign(name ptr, nameN uint32, args ptr, argsN uint32, p, n ptr) uint32
