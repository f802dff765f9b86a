package shop

import (
	"errors"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	if !errors.Is(check(&order{}), errEmpty) || check(&order{count: 1}) != nil || check(&order{paid: true}) != nil {
		t.Fatal("check")
	}
}

func TestPay(t *testing.T) {
	events := make(chan string, 1)
	o := order{count: 1}
	if !pay(&o, events) || !o.paid || len(o.history) != 1 || o.count != 2 || len(events) != 1 {
		t.Fatal("first")
	}
	if pay(&o, events) || pay(&order{count: limit}, events) {
		t.Fatal("second")
	}
}

func TestSum(t *testing.T) {
	if sum([]int{1, 2}, func(n int) int { return n }) != 3 {
		t.Fatal("sum")
	}
}

func TestWait(t *testing.T) {
	if wait(2) != 2005*time.Millisecond {
		t.Fatal("wait")
	}
}

func TestShare(t *testing.T) {
	if n, err := share(4, 2); n != 4 || err != nil {
		t.Fatal("share")
	}
}

func TestBroken(t *testing.T) { t.Fatal("it fails without a mutant") }
