package api

// Erase asks to forget one record.
type Erase struct {
	Subject
	// Reason is why, for the audit: 1 to 500 bytes, and no key in it.
	Reason string `json:"reason"`
	// Forget leaves nothing: a repeat of the request runs as a first one. Else it is
	// told key-expired for the rest of the record's life.
	Forget bool `json:"forget,omitempty"`
	// Force erases an unresolved record too.
	Force bool `json:"force,omitempty"`
}

// Memories is when no worker of a gateway answers any more from its own memory what
// has been erased. Only then is an erasure done.
type Memories struct {
	MemoriesEndAt string `json:"memories_end_at"` // RFC 3339
	MemoriesEndMS int64  `json:"memories_end_ms"` // from now
}

// Erased is what became of an Erase. Code is erased, or nothing: there was no record.
type Erased struct {
	Code   string `json:"code"`
	Before Record `json:"before"`
	Memories
}

// EraseBy asks to forget the records of a principal in a namespace, of every scope.
// One request looks at a part of the store; Cursor is the Next of the one before.
type EraseBy struct {
	Namespace string    `json:"namespace"`
	Principal Principal `json:"principal"`
	Reason    string    `json:"reason"`
	Forget    bool      `json:"forget,omitempty"`
	Force     bool      `json:"force,omitempty"`
	DryRun    bool      `json:"dry_run,omitempty"` // only count
	Cursor    string    `json:"cursor,omitempty"`
	// Rate is how many records are looked at in a second, 200 to 1000000; default
	// 20000.
	Rate int `json:"rate,omitempty"`
}

// ErasedBy counts what one EraseBy met.
type ErasedBy struct {
	Examined        int      `json:"examined"`
	Found           int      `json:"found"`
	Erased          int      `json:"erased"`
	Unresolved      int      `json:"unresolved"` // left alone
	UnresolvedNames []string `json:"unresolved_names,omitempty"`
	// Restarted says that the store's nodes had changed, and that the search began
	// anew.
	Restarted bool   `json:"restarted,omitempty"`
	Next      string `json:"next,omitempty"` // empty: the search is over
	Memories
}
