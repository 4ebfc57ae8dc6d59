// Command probe does what its first argument says and tells what it met. It is
// compiled for wasip1 by wasmtest's own tests.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	switch os.Args[1] {
	case "say":
		fmt.Printf("%q %s %s\n", os.Args[2:], os.Getenv("PROBE"), os.Getenv("TMPDIR"))
		fmt.Fprintln(os.Stderr, "on stderr")
	case "echo":
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Print(line, err)
	case "files":
		text, err := os.ReadFile("file.txt")
		fmt.Printf("read %q %v\n", text, err)
		fmt.Println("write refused:", os.WriteFile("other.txt", nil, 0o600) != nil)
		fmt.Println("change refused:", os.WriteFile("file.txt", nil, 0o600) != nil)
		_, err = os.ReadFile("../go.mod")
		fmt.Println("module read:", err)
		_, err = os.ReadDir("../..")
		fmt.Println("above it hidden:", err != nil)
		f, err := os.CreateTemp("", "probe-")
		fmt.Println("temp:", err)
		fmt.Println("temp write:", os.WriteFile(f.Name(), []byte("x"), 0o600))
	case "clock":
		start := time.Now()
		time.Sleep(10 * time.Millisecond)
		fmt.Println("slept:", time.Since(start) >= 10*time.Millisecond, "year ok:", start.Year() >= 2024)
	case "exit":
		code, _ := strconv.Atoi(os.Args[2])
		os.Exit(code)
	case "panic":
		panic("on purpose")
	case "memory":
		mib, _ := strconv.Atoi(os.Args[2])
		b := make([]byte, mib<<20)
		fmt.Println("got", len(b)>>20)
	}
}
