package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tree is a checkout, or a part of one in a test.
type tree struct {
	root string
	// files are the paths of all files, relative to root, with slashes.
	files []string
}

// openTree lists the files below root. Folders that make writes to, and version
// control's own, are left out.
func openTree(root string) (*tree, error) {
	t := &tree{root: root}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() && (rel == ".git" || rel == "build/out") {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			t.files = append(t.files, rel)
		}
		return nil
	})
	return t, err
}

func (t *tree) read(file string) (string, error) {
	b, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(file)))
	return string(b), err
}

// exists reports whether path, relative to root, is a file or folder.
func (t *tree) exists(path string) bool {
	_, err := os.Stat(filepath.Join(t.root, filepath.FromSlash(path)))
	return err == nil
}

// goFile is one parsed Go file.
type goFile struct {
	path      string
	ast       *ast.File
	fset      *token.FileSet
	lines     int
	test      bool // _test.go
	generated bool
}

// goFiles parses every Go file.
func (t *tree) goFiles() ([]goFile, error) {
	var list []goFile
	for _, file := range t.files {
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		src, err := t.read(file)
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, src, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		list = append(list, goFile{
			path: file, ast: parsed, fset: fset,
			lines:     strings.Count(src, "\n"),
			test:      strings.HasSuffix(file, "_test.go"),
			generated: ast.IsGenerated(parsed),
		})
	}
	return list, nil
}

func (f goFile) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(pos).Line)
}
