module github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1

go 1.19

require github.com/tetratelabs/proxy-wasm-go-sdk v0.24.0
