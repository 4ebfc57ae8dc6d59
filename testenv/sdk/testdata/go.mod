module github.com/oncewall/oncewall/testenv/sdk/testdata

go 1.26.0

require (
	github.com/tetratelabs/proxy-wasm-go-sdk v0.24.0
	github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1 v0.0.0
)

replace github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1 => ../../../plugin/wasip1
