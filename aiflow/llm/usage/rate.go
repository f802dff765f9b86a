package usage

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Rate is a price in nano-USD per million tokens. In JSON it is an exact number of
// USD per million tokens.
type Rate int64

const (
	nano    = 1_000_000_000
	maxRate = 100_000 * nano
)

// MarshalJSON encodes USD per million tokens: 0.075.
func (r Rate) MarshalJSON() ([]byte, error) { return []byte(decimal(int64(r), 9)), nil }

// decimal returns n · 10^−places without trailing zeros.
func decimal(n int64, places int) string {
	sign := ""
	if n < 0 {
		sign = "-"
	}
	digits := strings.TrimPrefix(strconv.FormatInt(n, 10), "-")
	if short := places + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	whole, part := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if part == "" {
		return sign + whole
	}
	return sign + whole + "." + part
}

// Nano is an amount in nano-USD. In JSON it is an exact number of micro-USD with at
// most three decimals.
type Nano int64

// MarshalJSON encodes micro-USD: 1234.5.
func (n Nano) MarshalJSON() ([]byte, error) { return []byte(decimal(int64(n), 3)), nil }

// UnmarshalJSON decodes micro-USD.
func (n *Nano) UnmarshalJSON(b []byte) error {
	v, err := parseDecimal(string(b), 1000, maxAmount)
	if err != nil {
		return errors.New("an amount must be a number of micro-USD from 0 to 1000000000000000 with at most three decimals")
	}
	*n = Nano(v)
	return nil
}

var rateNumber = regexp.MustCompile(`^[0-9]{1,16}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?$`)

var errRate = errors.New("must be a number of USD from 0 to 100000 with at most nine decimals")

// UnmarshalJSON decodes USD per million tokens.
func (r *Rate) UnmarshalJSON(b []byte) error {
	n, err := parseDecimal(string(b), nano, maxRate)
	if err != nil {
		return fmt.Errorf("a price %w", errRate)
	}
	*r = Rate(n)
	return nil
}

// parseDecimal returns a number times unit, which must be whole and at most limit.
func parseDecimal(s string, unit, limit int64) (int64, error) {
	v, ok := times(s, unit)
	if !ok || !v.IsInt() || !v.Num().IsInt64() || v.Num().Int64() > limit {
		return 0, errRate
	}
	return v.Num().Int64(), nil
}

// times returns the decimal number s times unit.
func times(s string, unit int64) (*big.Rat, bool) {
	if !rateNumber.MatchString(s) {
		return nil, false
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, false
	}
	return v.Mul(v, new(big.Rat).SetInt64(unit)), true
}
