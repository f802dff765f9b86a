// Package shop has a place for each operator.
package shop

import (
	"errors"
	"log/slog"
	"time"
)

const limit = 2 + 3 // stays

type order struct {
	count   int
	paid    bool
	history []string
}

var errEmpty = errors.New("empty")

// check has a comparison, and logic.
func check(o *order) error {
	slog.Info("checking") // stays
	if o.count < 1 && !o.paid {
		return errEmpty
	}
	return nil
}

func pay(o *order, events chan<- string) bool {
	if o.paid || (o.count) >= limit {
		return false
	}
	o.paid = true
	o.note("paid")
	o.count++
	events <- "paid"
	return true
}

func (o *order) note(s string) { o.history = append(o.history, s) }

// sum has a loop that does not end when its step is gone.
func sum[T any](list []T, of func(T) int) (total int) {
	for i := 0; i < len(list); {
		total = total + of(list[i])
		i++
	}
	return total
}

func wait(n int) time.Duration { return time.Duration(n)*time.Second + 5*time.Millisecond }

func share(n, of int) (int, error) {
	if of == 0 {
		return 0, errors.New("of nothing")
	}
	buffer := make([]int, 0, 8)
	return len(append(buffer, n/of, n%of)) * (n / of), nil
}

// untested is not called.
func untested(a int8, b, c bool) (bool, bool) {
	switch a {
	case 1:
		return b && (a > 2 || c) && !c, a<<1 > 2
	}
	return [...]bool{1: true}[a], a-1 < 0
}
