package lint

import (
	"os/exec"
	"strings"
	"testing"
)

// root is the checkout, as seen from this package.
const root = "../.."

func TestImports(t *testing.T) {
	fail(t, checkImports(parsed(t)))
}

func TestDataPathStandsAlone(t *testing.T) {
	cmd := exec.Command("go", append([]string{"list", "-deps"}, dataPath...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 50 {
		t.Fatalf("%v lists %d packages: it did not see them all", cmd, len(deps))
	}
	fail(t, checkDataPath(deps))
}

func TestFileLength(t *testing.T) {
	fail(t, checkLength(parsed(t)))
}

func TestTestHabits(t *testing.T) {
	fail(t, checkHabits(parsed(t)))
}

func TestLinks(t *testing.T) {
	bad, err := checkLinks(opened(t))
	if err != nil {
		t.Fatal(err)
	}
	fail(t, bad)
}

func opened(t *testing.T) *tree {
	t.Helper()
	tr, err := openTree(root)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func parsed(t *testing.T) []goFile {
	t.Helper()
	files, err := opened(t).goFiles()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func fail(t *testing.T, bad []string) {
	t.Helper()
	for _, b := range bad {
		t.Error(b)
	}
}
