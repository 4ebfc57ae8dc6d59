package shop

import (
	"errors"
	"net/http"
	"strings"
)

// maxItems bounds a sale's stock, and so the table of reservations.
const maxItems = 1_000_000

// SaleReport is the answer to GET /sale. A sale went well when Orders, Buyers
// and the lesser of Items and the buyers who asked are one number, and Doubled
// is 0.
type SaleReport struct {
	Items    int `json:"items"`
	Reserved int `json:"reserved"` // buyers who hold a reservation
	Orders   int `json:"orders"`
	Buyers   int `json:"buyers"`  // distinct buyers among the orders
	Doubled  int `json:"doubled"` // buyers with more than one order
}

func isSale(path string) bool { return strings.HasSuffix(path, "/sale") }

// buy reserves, then orders; see the package documentation for why stock is
// safe without a guard and orders are not.
func buy(db session, g Guards, q *request) (outcome, error) {
	if q.principal == "" {
		return outcome{effect: effectNoBuyer}, nil
	}
	if _, err := db.exec(db.reserve, q.principal); err != nil {
		return outcome{}, err
	}
	held, err := db.number(db.selectReservation, q.principal)
	if err != nil {
		return outcome{}, err
	}
	if held == 0 {
		return outcome{effect: effectSoldOut}, nil
	}
	moved, inserted := int64(1), int64(1)
	var stateErr, uniqueErr error
	if g.has(GuardState) {
		moved, stateErr = db.exec(db.moveReservation, q.principal)
	}
	if g.has(GuardUnique) {
		inserted, uniqueErr = db.exec(db.insertBuyer, q.principal)
	}
	if err := errors.Join(stateErr, uniqueErr); err != nil {
		return outcome{}, err
	}
	if moved == 0 || inserted == 0 {
		first, err := db.number(db.firstSaleOrder, q.principal)
		return outcome{effect: effectAlready, order: first}, err
	}
	if _, err := db.exec(db.insertSaleOrder, q.serial, q.principal); err != nil {
		return outcome{}, err
	}
	_, err = db.exec(db.insertEffect, q.serial, q.route) // it can be paid for like any other
	return outcome{effect: effectDone, order: q.serial, state: "UNPAID"}, err
}

// OpenSale forgets any earlier sale and puts items in stock, at most
// 1,000,000.
func (s *Shop) OpenSale(items int) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for _, text := range []string{
		"DELETE FROM reservations", "DELETE FROM sale_orders", "DELETE FROM sale_buyers",
	} {
		if _, err := tx.Exec(text); err != nil {
			return err
		}
	}
	if _, err := tx.Exec("UPDATE sale SET items = ?, free = ?", items, items); err != nil {
		return err
	}
	return tx.Commit()
}

// Sale reports the sale so far.
func (s *Shop) Sale() (r SaleReport, err error) {
	err = s.db.report.QueryRow().Scan(&r.Items, &r.Reserved, &r.Orders, &r.Buyers, &r.Doubled)
	return r, err
}

func (s *Shop) serveSale(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPut:
		items, err := number(r.URL.Query().Get("items"), 0, maxItems)
		if err != nil {
			http.Error(w, "items: "+err.Error(), http.StatusBadRequest)
			return
		}
		if err := s.OpenSale(items); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	case http.MethodGet:
	default:
		notAllowed(w, "GET, PUT")
		return
	}
	report, err := s.Sale()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, report)
}
