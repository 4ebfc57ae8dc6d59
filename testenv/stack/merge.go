package stack

// merge lays patch over base and returns the result; base may be changed.
//
//   - Maps merge member by member; a null in the patch removes the member.
//   - Lists whose items carry a name merge by it: items of one name merge, and a
//     new item goes before the next item of the patch that base has, else behind
//     the last one that base has, else to the end (in http_filters to the front,
//     since the router must stay last).
//   - A single item without a name merges into a single item without a name.
//   - Anything else replaces what was there.
func merge(base, patch any) any { return mergeAt("", base, patch) }

func mergeAt(field string, base, patch any) any {
	switch p := patch.(type) {
	case map[string]any:
		b, ok := base.(map[string]any)
		if !ok {
			b = make(map[string]any, len(p))
		}
		for k, v := range p {
			if v == nil {
				delete(b, k)
				continue
			}
			b[k] = mergeAt(k, b[k], v)
		}
		return b
	case []any:
		b, ok := base.([]any)
		if !ok {
			return patch
		}
		if allNamed(b) && allNamed(p) {
			return mergeNamed(field, b, p)
		}
		if len(b) == 1 && len(p) == 1 && unnamed(b[0]) && unnamed(p[0]) {
			return []any{mergeAt("", b[0], p[0])}
		}
		return patch
	default:
		return patch
	}
}

func mergeNamed(field string, base, patch []any) []any {
	list := base
	for i, item := range patch {
		if at := indexOf(list, itemName(item)); at >= 0 {
			list[at] = mergeAt("", list[at], item)
			continue
		}
		at := place(field, list, patch, i)
		list = append(list[:at:at], append([]any{mergeAt("", nil, item)}, list[at:]...)...)
	}
	return list
}

// place returns where in list the new item patch[i] belongs.
func place(field string, list, patch []any, i int) int {
	for _, next := range patch[i+1:] {
		if at := indexOf(list, itemName(next)); at >= 0 {
			return at
		}
	}
	for j := i - 1; j >= 0; j-- {
		if at := indexOf(list, itemName(patch[j])); at >= 0 {
			return at + 1
		}
	}
	if field == "http_filters" {
		return 0
	}
	return len(list)
}

func itemName(item any) string {
	m, _ := item.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

func unnamed(item any) bool {
	m, ok := item.(map[string]any)
	return ok && m["name"] == nil
}

func allNamed(list []any) bool {
	for _, item := range list {
		if itemName(item) == "" {
			return false
		}
	}
	return len(list) > 0
}

func indexOf(list []any, name string) int {
	for i, item := range list {
		if itemName(item) == name {
			return i
		}
	}
	return -1
}
