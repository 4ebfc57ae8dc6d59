package lint

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
)

var (
	inlineLink    = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	referenceLink = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?`)
	codeSpan      = regexp.MustCompile("`[^`]*`")
	htmlAnchor    = regexp.MustCompile(`<a\s+(?:id|name)="([^"]+)"`)
	linkText      = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// checkLinks returns a line for every link in a Markdown file that leads to a
// file or an anchor that does not exist. Links to other sites are not followed.
func checkLinks(t *tree) ([]string, error) {
	var bad []string
	anchors := make(map[string]map[string]bool)
	for _, file := range t.files {
		if !strings.HasSuffix(file, ".md") {
			continue
		}
		text, err := t.read(file)
		if err != nil {
			return nil, err
		}
		for _, l := range links(text) {
			why, err := follow(t, anchors, file, l.target)
			if err != nil {
				return nil, err
			}
			if why != "" {
				bad = append(bad, fmt.Sprintf("%s:%d: link %s: %s", file, l.line, l.target, why))
			}
		}
	}
	return bad, nil
}

type link struct {
	target string
	line   int
}

// links returns the links of a Markdown text, without those in code.
func links(text string) []link {
	var list []link
	for n, line := range prose(text) {
		line = codeSpan.ReplaceAllString(line, "")
		for _, m := range inlineLink.FindAllStringSubmatch(line, -1) {
			list = append(list, link{m[1], n + 1})
		}
		if m := referenceLink.FindStringSubmatch(line); m != nil {
			list = append(list, link{m[1], n + 1})
		}
	}
	return list
}

// prose returns the lines of a Markdown text, those of code blocks emptied.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	fence := ""
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			lines[i] = ""
		case strings.HasPrefix(trimmed, "```"):
			fence, lines[i] = "```", ""
		case strings.HasPrefix(trimmed, "~~~"):
			fence, lines[i] = "~~~", ""
		}
	}
	return lines
}

// follow says why target, in file, leads nowhere, or "".
func follow(t *tree, anchors map[string]map[string]bool, file, target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "not a URL", nil
	}
	if u.Scheme != "" || u.Host != "" {
		return "", nil
	}
	to := file
	if u.Path != "" {
		to = path.Join(path.Dir(file), u.Path)
		if strings.HasPrefix(u.Path, "/") {
			to = strings.TrimPrefix(path.Clean(u.Path), "/")
		}
		if !t.exists(to) {
			return "no such file", nil
		}
	}
	if u.Fragment == "" || !strings.HasSuffix(to, ".md") {
		return "", nil
	}
	if anchors[to] == nil {
		text, err := t.read(to)
		if err != nil {
			return "", err
		}
		anchors[to] = headings(text)
	}
	if !anchors[to][u.Fragment] {
		return "no such anchor", nil
	}
	return "", nil
}

// headings returns the anchors of a Markdown text as GitHub names them: lower
// case, punctuation dropped, spaces to hyphens, and a number behind repeated ones.
func headings(text string) map[string]bool {
	found := make(map[string]bool)
	for _, line := range prose(text) {
		for _, m := range htmlAnchor.FindAllStringSubmatch(line, -1) {
			found[m[1]] = true
		}
		title := strings.TrimLeft(line, "#")
		if level := len(line) - len(title); level == 0 || level > 6 || !strings.HasPrefix(title, " ") {
			continue
		}
		slug := slugOf(title)
		name := slug
		for n := 1; found[name]; n++ {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
		found[name] = true
	}
	return found
}

func slugOf(title string) string {
	title = strings.TrimRight(strings.TrimSpace(title), "# ")
	title = linkText.ReplaceAllString(title, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}
