package lint

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
)

// maxLines is the longest a Go file may be. Generated ones may be longer.
const maxLines = 500

// checkLength returns a line for every file that is too long.
func checkLength(files []goFile) []string {
	var bad []string
	for _, f := range files {
		if f.lines > maxLines && !f.generated {
			bad = append(bad, fmt.Sprintf("%s: %d lines, at most %d: one idea a file", f.path, f.lines, maxLines))
		}
	}
	return bad
}

// checkHabits returns a line for every call in a test that waits for a time
// instead of an event, or that lets a test pass without having run.
func checkHabits(files []goFile) []string {
	var bad []string
	for _, f := range files {
		if !f.test {
			continue
		}
		imported := importNames(f)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch {
			case x.Name == "time" && sel.Sel.Name == "Sleep" && imported["time"]:
				bad = append(bad, f.at(call.Pos())+": time.Sleep in a test: poll with a deadline, or wait for the event")
			case !imported[x.Name] && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name):
				bad = append(bad, f.at(call.Pos())+": "+x.Name+"."+sel.Sel.Name+": a test that cannot run fails")
			}
			return true
		})
	}
	return bad
}

// importNames are the names by which f refers to packages.
func importNames(f goFile) map[string]bool {
	names := make(map[string]bool)
	for _, spec := range f.ast.Imports {
		if spec.Name != nil {
			names[spec.Name.Name] = true
			continue
		}
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			names[path[lastSlash(path)+1:]] = true
		}
	}
	return names
}

func lastSlash(path string) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return i
		}
	}
	return -1
}
