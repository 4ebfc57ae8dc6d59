module github.com/oncewall/oncewall/plugin

go 1.26.0

require (
	github.com/oncewall/oncewall v0.0.0
	github.com/tetratelabs/proxy-wasm-go-sdk v0.24.0
	github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1 v0.0.0
)

require google.golang.org/protobuf v1.36.12 // indirect

replace github.com/oncewall/oncewall => ../

replace github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1 => ./wasip1
