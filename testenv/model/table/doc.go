// Package table is the record's table, docs/protocol.md's, as data: every row is a
// Go value with a name, the words that the document shows, a condition and an
// effect. Step finds the row that holds for a record, an operation and a moment,
// and carries it out as a pure function. So the table can be executed, and is the
// oracle that scripts and model are compared with.
//
// Rows stand in order, the first whose condition holds is the one. Times are
// microseconds of the store's clock; lives are whole milliseconds, rounded up.
//
// The document's table is written by
//
//	go test ./testenv/model/table -update
//
// and a test fails while the two differ.
package table
