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
// instead of an event, or that lets a test pass without having run. The pause of
// a polling loop, which stands in a for statement, is neither.
func checkHabits(files []goFile) []string {
	var bad []string
	for _, f := range files {
		if !f.test {
			continue
		}
		imported := importNames(f)
		polls := make(map[ast.Node]bool)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if loop, ok := n.(*ast.ForStmt); ok {
				ast.Inspect(loop, func(inner ast.Node) bool {
					polls[inner] = true
					return true
				})
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			pkg, name := callee(call)
			switch {
			case pkg == "time" && name == "Sleep" && imported["time"] && !polls[n]:
				bad = append(bad, f.at(call.Pos())+": time.Sleep in a test: poll with a deadline, or wait for the event")
			case pkg != "" && !imported[pkg] && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, name):
				bad = append(bad, f.at(call.Pos())+": "+pkg+"."+name+": a test that cannot run fails")
			}
			return true
		})
	}
	return bad
}

// callee returns x and f of a call x.f(...).
func callee(call *ast.CallExpr) (x, f string) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	return id.Name, sel.Sel.Name
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
