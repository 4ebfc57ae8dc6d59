package canon

// Names calls f with the decoded name of every member of body, at any depth and in
// no order, until f returns false. It does nothing and returns why where body is not
// one JSON value that every reader takes alike: the errors are those of [Append].
// The bytes belong to Names and are valid during the call. Cost is that of Append.
func Names(body []byte, f func(name []byte) bool) error {
	var room indexRoom
	x := newIndex(body, &room)
	if err := x.build(false); err != nil {
		return err
	}
	for _, m := range x.members {
		if !f(x.nameOf(m)) {
			break
		}
	}
	return nil
}
