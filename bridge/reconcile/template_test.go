package reconcile

import (
	"net/url"
	"strings"
	"testing"
)

func TestTemplate(t *testing.T) {
	a := &About{Namespace: "n s", Scope: "pay/ments", Key: "a/b?c=d&{fence}%é", Principal: "ann@x", Fence: "17"}
	u, err := ParseURL("http://shop:80/o/{key}?p={principal}&f={fence}&s={scope}&n={namespace}")
	if err != nil {
		t.Fatal(err)
	}
	const want = "http://shop:80/o/a%2Fb%3Fc%3Dd%26%7Bfence%7D%25%C3%A9?p=ann%40x&f=17&s=pay%2Fments&n=n%20s"
	if got := u.Expand(a); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !u.Names("key") || !u.Names("fence") || u.Names("who") {
		t.Error("what it names")
	}
	parsed, err := u.URL(a)
	if err != nil || parsed.Path != "/o/"+a.Key || parsed.Query().Get("p") != a.Principal || parsed.String() != want {
		t.Errorf("%v, %v", parsed, err)
	}
}

func TestTemplateRefuses(t *testing.T) {
	for _, s := range []string{
		"", "shop/{key}", "http://", "http:///x", "http://{key}/", "http://shop{key}/", "http://shop:{fence}/", "{scope}://shop/", "http://{key}", "ftp://shop/",
		"http://shop/{kez}", "http://shop/{key", "http://shop/key}", "http://shop/{}", "http://shop/{{key}}", "http://u@shop/", "http://shop/#f", "http://shop?{key}#{fence}",
		"http://shop/../{key}", "http://shop /x", "HTTP//shop/{key}",
	} {
		if u, err := ParseURL(s); err == nil {
			t.Errorf("%s: %+v", s, u)
		}
	}
	u, err := ParseURL("http://shop/a/{key}/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{".", ".."} {
		if got, err := u.URL(&About{Key: key}); err == nil {
			t.Errorf("%q: %s", key, got)
		}
	}
}

// No value changes what is asked: host, path before the key, or the names of the
// query.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"k", "../..", "a&b=c", "#", "//host/", "\x00\xff", "%2e%2e", "@"} {
		f.Add(s)
	}
	t1, err := ParseURL("https://shop.example/outcome/{key}/end?key={key}&fence={fence}")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, key string) {
		u, err := t1.URL(&About{Key: key, Fence: "7"})
		if err != nil {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil {
			t.Fatal(err)
		}
		q := again.Query()
		if again.Host != "shop.example" || again.Path != "/outcome/"+key+"/end" || len(q) != 2 || q.Get("key") != key || q.Get("fence") != "7" ||
			strings.Count(again.EscapedPath(), "/") != 3 {
			t.Fatalf("%q: %s", key, again)
		}
	})
}
