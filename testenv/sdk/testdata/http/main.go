// http is a filter written as the SDK's documentation shows. The path of a
// request says which of the SDK's HTTP calls it makes; their results go to
// upstream and back as headers.
package main

import (
	"strconv"
	"strings"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
	_ "github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"
)

func main() { proxywasm.SetVMContext(&vm{}) }

type vm struct{ types.DefaultVMContext }

func (*vm) NewPluginContext(uint32) types.PluginContext { return &plugin{} }

type plugin struct{ types.DefaultPluginContext }

func (*plugin) NewHttpContext(uint32) types.HttpContext { return &stream{} }

type stream struct {
	types.DefaultHttpContext
	path string
}

// must ends the callback where a call fails: the adapter answers with 500.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func get[T any](v T, err error) T {
	must(err)
	return v
}

func (s *stream) OnHttpRequestHeaders(int, bool) types.Action {
	s.path = get(proxywasm.GetHttpRequestHeader(":path"))
	switch s.path {
	case "/headers":
		must(proxywasm.AddHttpRequestHeader("x-lines", strconv.Itoa(len(get(proxywasm.GetHttpRequestHeaders())))))
		must(proxywasm.AddHttpRequestHeader("x-twice", "2"))
		must(proxywasm.ReplaceHttpRequestHeader("x-replaced", "new"))
		must(proxywasm.RemoveHttpRequestHeader("x-removed"))
		must(proxywasm.AddHttpRequestHeader("x-empty-is", "["+get(proxywasm.GetHttpRequestHeader("x-empty"))+"]"))
		if _, err := proxywasm.GetHttpRequestHeader("x-absent"); err == types.ErrorStatusNotFound {
			must(proxywasm.AddHttpRequestHeader("x-absent-is", "not found"))
		}
	case "/headers/all":
		h := get(proxywasm.GetHttpRequestHeaders())
		must(proxywasm.ReplaceHttpRequestHeaders(append(h, [2]string{"x-all", "yes"})))
	case "/body/append", "/body/prepend", "/body/replace":
		must(proxywasm.RemoveHttpRequestHeader("content-length"))
	case "/property":
		must(proxywasm.AddHttpRequestHeader("x-path", string(get(proxywasm.GetProperty([]string{"request", "path"})))))
		must(proxywasm.SetProperty([]string{"mark"}, []byte("seen")))
		must(proxywasm.AddHttpRequestHeader("x-mark", string(get(proxywasm.GetProperty([]string{"mark"})))))
		for _, p := range get(proxywasm.GetPropertyMap([]string{"route_metadata", "filter_metadata", "sdk"})) {
			must(proxywasm.AddHttpRequestHeader("x-meta-"+p[0], p[1]))
		}
	case "/foreign":
		text := strings.Repeat("proxy-wasm ", 100)
		small := get(proxywasm.CallForeignFunction("compress", []byte(text)))
		back := get(proxywasm.CallForeignFunction("uncompress", small))
		must(proxywasm.AddHttpRequestHeader("x-foreign", strconv.FormatBool(len(small) < len(text)/2 && string(back) == text)))
	case "/reply":
		must(proxywasm.SendHttpResponse(418, [][2]string{{"x-reply", "local"}}, []byte("short and stout"), -1))
		return types.ActionPause
	case "/pause":
		_, err := proxywasm.DispatchHttpCall("upstream", [][2]string{
			{":method", "POST"}, {":path", "/callout"}, {":authority", "callout"},
		}, []byte("asked"), [][2]string{{"x-asked", "trailer"}}, 5000, s.onAnswer)
		must(err)
		return types.ActionPause
	}
	return types.ActionContinue
}

func (s *stream) onAnswer(headers, size, trailers int) {
	h := get(proxywasm.GetHttpCallResponseHeaders())
	body := string(get(proxywasm.GetHttpCallResponseBody(0, size)))
	t := get(proxywasm.GetHttpCallResponseTrailers())
	must(proxywasm.AddHttpRequestHeader("x-answer", h[0][1]+" "+body+" "+t[0][0]+"="+t[0][1]))
	must(proxywasm.AddHttpRequestHeader("x-counts", strconv.FormatBool(headers == len(h) && trailers == len(t))))
	must(proxywasm.ResumeHttpRequest())
}

func (s *stream) OnHttpRequestBody(size int, end bool) types.Action {
	if !end {
		return types.ActionPause // until the body is whole
	}
	switch s.path {
	case "/body/append":
		must(proxywasm.AppendHttpRequestBody([]byte("]")))
	case "/body/prepend":
		must(proxywasm.PrependHttpRequestBody([]byte("[")))
	case "/body/replace":
		b := get(proxywasm.GetHttpRequestBody(0, size))
		must(proxywasm.ReplaceHttpRequestBody([]byte(strings.ToUpper(string(b)))))
	}
	return types.ActionContinue
}

func (s *stream) OnHttpRequestTrailers(int) types.Action {
	switch s.path {
	case "/trailers":
		must(proxywasm.AddHttpRequestTrailer("x-was", get(proxywasm.GetHttpRequestTrailer("x-sent"))))
		must(proxywasm.ReplaceHttpRequestTrailer("x-sent", "replaced"))
		must(proxywasm.RemoveHttpRequestTrailer("x-removed"))
	case "/trailers/all":
		t := get(proxywasm.GetHttpRequestTrailers())
		must(proxywasm.ReplaceHttpRequestTrailers(append(t, [2]string{"x-all", "yes"})))
	}
	return types.ActionContinue
}

func (s *stream) OnHttpResponseHeaders(int, bool) types.Action {
	switch s.path {
	case "/headers":
		must(proxywasm.AddHttpResponseHeader("x-status", get(proxywasm.GetHttpResponseHeader(":status"))))
		must(proxywasm.ReplaceHttpResponseHeader("x-up-replaced", "new"))
		must(proxywasm.RemoveHttpResponseHeader("x-up-removed"))
	case "/headers/all":
		h := get(proxywasm.GetHttpResponseHeaders())
		must(proxywasm.ReplaceHttpResponseHeaders(append(h, [2]string{"x-all", "yes"})))
	case "/body/append", "/body/prepend", "/body/replace":
		must(proxywasm.RemoveHttpResponseHeader("content-length"))
	case "/hold":
		_, err := proxywasm.DispatchHttpCall("upstream", [][2]string{
			{":method", "GET"}, {":path", "/callout"}, {":authority", "callout"},
		}, nil, nil, 5000, func(int, int, int) {
			must(proxywasm.AddHttpResponseHeader("x-held", "released"))
			must(proxywasm.ResumeHttpResponse())
		})
		must(err)
		return types.ActionPause
	}
	return types.ActionContinue
}

func (s *stream) OnHttpResponseBody(size int, end bool) types.Action {
	if !end {
		return types.ActionPause
	}
	switch s.path {
	case "/body/append":
		must(proxywasm.AppendHttpResponseBody([]byte(">")))
	case "/body/prepend":
		must(proxywasm.PrependHttpResponseBody([]byte("<")))
	case "/body/replace":
		b := get(proxywasm.GetHttpResponseBody(0, size))
		must(proxywasm.ReplaceHttpResponseBody([]byte("(" + string(b) + ")")))
	}
	return types.ActionContinue
}

func (s *stream) OnHttpResponseTrailers(int) types.Action {
	switch s.path {
	case "/trailers":
		must(proxywasm.AddHttpResponseTrailer("x-was", get(proxywasm.GetHttpResponseTrailer("x-up"))))
		must(proxywasm.ReplaceHttpResponseTrailer("x-up", "replaced"))
		must(proxywasm.RemoveHttpResponseTrailer("x-up-removed"))
	case "/trailers/all":
		t := get(proxywasm.GetHttpResponseTrailers())
		must(proxywasm.ReplaceHttpResponseTrailers(append(t, [2]string{"x-all", "yes"})))
	}
	return types.ActionContinue
}

func (s *stream) OnHttpStreamDone() {
	proxywasm.LogTrace("end of " + s.path)
	proxywasm.LogDebug("end of " + s.path)
	proxywasm.LogInfof("end of %s", s.path)
	if s.path == "/headers" {
		proxywasm.LogWarn("end of " + s.path)
		proxywasm.LogError("end of " + s.path)
		proxywasm.LogCriticalf("end of %s", s.path)
	}
}
