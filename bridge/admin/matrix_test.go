package admin_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// paths are what the description has, so that a new route is met here at once.
func paths(t testing.TB) (list []string) {
	t.Helper()
	document, err := libopenapi.NewDocument(admin.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	model, err := document.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	for path := range model.Model.Paths.PathItems.FromOldest() {
		list = append(list, path)
	}
	if len(list) < 11 {
		t.Fatalf("%d paths are described: %v", len(list), list)
	}
	return list
}

// TestEveryPathIsDescribed: what the client may call is in the description.
func TestEveryPathIsDescribed(t *testing.T) {
	files, err := filepath.Glob("../../client/api/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	described := paths(t)
	constant := regexp.MustCompile(`Path\w+\s+= "(/v1/[^"]*)"`)
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllStringSubmatch(string(text), -1) {
			n++
			if !slices.Contains(described, m[1]) {
				t.Errorf("%s: %s is not described", filepath.Base(file), m[1])
			}
		}
	}
	if n != len(described) {
		t.Errorf("%d paths in the client, %d described", n, len(described))
	}
}

// TestMatrix is every route, for every role, on both listeners. A caller without
// the route's role learns nothing of it; a listener that does not serve the role
// has no such path for anybody.
func TestMatrix(t *testing.T) {
	b := apitest.Start(t)
	for _, path := range paths(t) {
		home, role := b.Data, "consumer"
		if strings.HasPrefix(path, admin.OperatorPrefix) || path == api.PathReport {
			home, role = b.Admin, "operator"
		}
		method := http.MethodPost
		if path == api.PathReport {
			method = http.MethodGet
		}
		for _, who := range []struct{ role, authorization string }{
			{"nobody", ""},
			{"stranger", "Bearer stranger-secret-0123456789-0123456789"},
			{"consumer in another form", "Basic " + apitest.Consumer},
			{"consumer", "Bearer " + apitest.Consumer},
			{"operator", "Bearer " + apitest.Operator},
		} {
			for listener, base := range map[string]string{"data": b.Data, "admin": b.Admin} {
				want := []int{http.StatusUnauthorized}
				switch {
				case base != home:
					want = []int{http.StatusNotFound}
				case who.role == role:
					// An empty object is enough for some requests, invalid for the others.
					want = []int{http.StatusBadRequest, http.StatusOK, http.StatusForbidden}
				}
				r, err := http.NewRequest(method, base+path, strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				if who.authorization != "" {
					r.Header.Set("Authorization", who.authorization)
				}
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if !slices.Contains(want, resp.StatusCode) {
					t.Errorf("%s as %s on the %s listener: %d, want %v", path, who.role, listener, resp.StatusCode, want)
				}
				if challenge := resp.Header.Get("WWW-Authenticate"); (challenge != "") != (resp.StatusCode == http.StatusUnauthorized) {
					t.Errorf("%s as %s on the %s listener: %d with challenge %q", path, who.role, listener, resp.StatusCode, challenge)
				}
			}
		}
	}
}
