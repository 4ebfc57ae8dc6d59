package shop

import (
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver "sqlite", in pure Go
)

const (
	// keptRows bounds each table that grows with requests; the oldest rows
	// go, and with them the guards' memory of those keys. A sale's rows stay
	// until the next sale.
	keptRows = 200_000
	// pruneEvery is how many effects pass between two looks at that bound.
	pruneEvery = 5_000
)

const schema = `
CREATE TABLE effects (
	id       INTEGER PRIMARY KEY,          -- the execution's serial
	route    TEXT NOT NULL,
	state    TEXT NOT NULL DEFAULT 'UNPAID',
	payments INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE done (                        -- guard unique
	route TEXT NOT NULL, principal TEXT NOT NULL, key TEXT NOT NULL,
	execution INTEGER NOT NULL,
	UNIQUE (route, principal, key)
);
CREATE TABLE fences (                      -- guard fence
	route TEXT NOT NULL, principal TEXT NOT NULL, key TEXT NOT NULL,
	fence INTEGER NOT NULL,
	UNIQUE (route, principal, key)
);
CREATE TABLE sale (items INTEGER NOT NULL, free INTEGER NOT NULL);
INSERT INTO sale VALUES (0, 0);
CREATE TABLE reservations (
	buyer TEXT PRIMARY KEY,
	state TEXT NOT NULL DEFAULT 'RESERVED'
) WITHOUT ROWID;
CREATE TRIGGER take_stock AFTER INSERT ON reservations BEGIN
	UPDATE sale SET free = free - 1;
END;
CREATE TABLE sale_orders (id INTEGER PRIMARY KEY, buyer TEXT NOT NULL);
CREATE TABLE sale_buyers (buyer TEXT PRIMARY KEY) WITHOUT ROWID; -- guard unique, of a sale
`

// database is the shop's, in memory. It has one connection, so a transaction
// has it alone, while statements outside one interleave.
type database struct {
	*sql.DB
	statements
	effects atomic.Int64
}

// statements are prepared once.
type statements struct {
	raiseFence, insertKey, selectKey        *sql.Stmt
	insertEffect, payUnpaid, payAny         *sql.Stmt
	selectOrder                             *sql.Stmt
	reserve, selectReservation              *sql.Stmt
	moveReservation, insertBuyer            *sql.Stmt
	insertSaleOrder, firstSaleOrder, report *sql.Stmt
}

func openDatabase() (*database, error) {
	db, err := sql.Open("sqlite", "file::memory:?_pragma=journal_mode(memory)&_pragma=synchronous(off)")
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	// Closing the only connection would lose the database with it.
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	db.SetConnMaxIdleTime(0)
	db.SetConnMaxLifetime(0)
	d := &database{DB: db}
	if err := d.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("database: %w", err), db.Close())
	}
	return d, nil
}

func (d *database) prepare() error {
	if _, err := d.Exec(schema); err != nil {
		return err
	}
	for _, q := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&d.raiseFence, `INSERT INTO fences (route, principal, key, fence) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET fence = excluded.fence WHERE excluded.fence >= fences.fence`},
		{&d.insertKey, `INSERT INTO done (route, principal, key, execution) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&d.selectKey, `SELECT execution FROM done WHERE route = ? AND principal = ? AND key = ?`},
		{&d.insertEffect, `INSERT INTO effects (id, route) VALUES (?, ?)`},
		{&d.payUnpaid, `UPDATE effects SET state = 'PAID', payments = payments + 1 WHERE id = ? AND state = 'UNPAID'`},
		{&d.payAny, `UPDATE effects SET state = 'PAID', payments = payments + 1 WHERE id = ?`},
		{&d.selectOrder, `SELECT state, payments FROM effects WHERE id = ?`},
		{&d.reserve, `INSERT INTO reservations (buyer) SELECT ? WHERE (SELECT free FROM sale) > 0 ON CONFLICT DO NOTHING`},
		{&d.selectReservation, `SELECT count(*) FROM reservations WHERE buyer = ?`},
		{&d.moveReservation, `UPDATE reservations SET state = 'ORDERED' WHERE buyer = ? AND state = 'RESERVED'`},
		{&d.insertBuyer, `INSERT INTO sale_buyers (buyer) VALUES (?) ON CONFLICT DO NOTHING`},
		{&d.insertSaleOrder, `INSERT INTO sale_orders (id, buyer) VALUES (?, ?)`},
		{&d.firstSaleOrder, `SELECT coalesce(min(id), 0) FROM sale_orders WHERE buyer = ?`},
		{&d.report, `SELECT (SELECT items FROM sale), (SELECT count(*) FROM reservations),
			count(*), count(DISTINCT buyer),
			(SELECT count(*) FROM (SELECT 1 FROM sale_orders GROUP BY buyer HAVING count(*) > 1))
			FROM sale_orders`},
	} {
		var err error
		if *q.to, err = d.Prepare(q.text); err != nil {
			return err
		}
	}
	return nil
}

// session runs statements in a transaction, or each alone if tx is nil. The
// caller's context is not passed on: it would undo an execution because its
// caller left.
type session struct {
	*database
	tx *sql.Tx
}

func (s session) bind(st *sql.Stmt) *sql.Stmt {
	if s.tx == nil {
		return st
	}
	return s.tx.Stmt(st)
}

// exec returns the number of rows that the statement changed.
func (s session) exec(st *sql.Stmt, args ...any) (int64, error) {
	r, err := s.bind(st).Exec(args...)
	if err != nil {
		return 0, fmt.Errorf("database: %w", err)
	}
	return r.RowsAffected()
}

// number reads one integer from one row.
func (s session) number(st *sql.Stmt, args ...any) (n int64, err error) {
	if err := s.bind(st).QueryRow(args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("database: %w", err)
	}
	return n, nil
}

// order returns the state of an order, or zero values for one it has not.
func (d *database) order(id int64) (int64, string, int) {
	var state string
	var payments int
	if id == 0 || d.selectOrder.QueryRow(id).Scan(&state, &payments) != nil {
		return 0, "", 0
	}
	return id, state, payments
}

// prune is called after each effect; now and then it deletes the rows beyond
// keptRows.
func (d *database) prune() error {
	if d.effects.Add(1)%pruneEvery != 0 {
		return nil
	}
	var faults []error
	for _, table := range []string{"effects", "done", "fences"} {
		_, err := d.Exec("DELETE FROM "+table+" WHERE rowid <= (SELECT rowid FROM "+table+
			" ORDER BY rowid DESC LIMIT 1 OFFSET ?)", keptRows)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
