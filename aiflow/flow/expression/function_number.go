package expression

import (
	"math"
	"strconv"
	"strings"
)

var numberFunctions = []declared{
	{"abs(value: number): number", "The number without its sign.", abs},
	{"round(value: number, decimals?: number): number", "The rounded number, with halves rounded away from zero. decimals is 0 by default.", round},
	{"floor(value: number): number", "The number, rounded down to a whole number.", rounding(math.Floor)},
	{"ceil(value: number): number", "The number, rounded up to a whole number.", rounding(math.Ceil)},
	{"min(...values: any): any", "The minimum of the values, or of the elements of one list. nil is ignored.", least},
	{"max(...values: any): any", "The maximum of the values, or of the elements of one list. nil is ignored.", greatest},
	{"avg(...values: any): number", "The mean of the numbers, or of the elements of one list; nil if there are none.", avg},
	{"formatNumber(value: number, decimals?: number, separators?: text): text", "The number with separators for thousands and decimals: \",.\" writes 1,234.5, \".,\" writes 1.234,5, \" ,\" writes 1 234,5.", formatNumber},
	{"formatMoney(amount: number, currency: text, separators?: text): text", "The amount with its currency and the currency's number of decimals: EUR 1,234.50.", formatMoney},
}

func abs(m *machine, at int, args []any) (any, error) {
	if i, ok := args[0].(int); ok {
		if i >= 0 {
			return i, nil
		}
		return arithmetic(m, "-", 0, i, at)
	}
	return math.Abs(float(args[0])), nil
}

// maxDecimals is the number of decimals of a float64.
const maxDecimals = 15

func round(_ *machine, at int, args []any) (any, error) {
	decimals, err := wholeArg(args, 0, at, "the number of decimals")
	if err != nil {
		return nil, err
	}
	if _, ok := args[0].(int); ok {
		return args[0], nil
	}
	return integral(roundTo(float(args[0]), min(max(decimals, 0), maxDecimals))), nil
}

// roundTo rounds the number as people see it: 1.005 counts as 1.005, though its
// binary value is slightly less.
func roundTo(f float64, decimals int) float64 {
	if math.Abs(f) >= 1e15 {
		return f
	}
	s := strconv.FormatFloat(math.Abs(f), 'f', -1, 64)
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) <= decimals {
		return f
	}
	up := fraction[decimals] >= '5'
	scaled, _ := strconv.ParseFloat(whole+fraction[:decimals], 64)
	if up {
		scaled++
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(scaled, 'f', 0, 64)+"e-"+strconv.Itoa(decimals), 64)
	return math.Copysign(rounded, f)
}

// integral returns a number without fraction as an integer.
func integral(f float64) any {
	if i, ok := whole(f); ok {
		return i
	}
	return f
}

func rounding(f func(float64) float64) func(m *machine, at int, args []any) (any, error) {
	return func(_ *machine, _ int, args []any) (any, error) {
		if _, ok := args[0].(int); ok {
			return args[0], nil
		}
		return integral(f(float(args[0]))), nil
	}
}

// several returns the arguments, or the elements of the only one.
func several(args []any) []any {
	if len(args) == 1 {
		if list, ok := args[0].([]any); ok {
			return list
		}
	}
	return args
}

func least(m *machine, at int, args []any) (any, error) { return extreme(m, at, args, -1) }

func greatest(m *machine, at int, args []any) (any, error) { return extreme(m, at, args, 1) }

func extreme(m *machine, at int, args []any, want int) (any, error) {
	var found any
	for _, v := range several(args) {
		v, err := normal(v, at)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if err := m.step(1, at); err != nil {
			return nil, err
		}
		if kindOf(v)&(Number|Text|Date) == 0 {
			return nil, fail(CodeType, at, "compares values of which one is a %s", kindOf(v))
		}
		if found == nil {
			found = v
			continue
		}
		order, err := m.sortOrder(v, found, at)
		if err != nil {
			return nil, err
		}
		if order == want {
			found = v
		}
	}
	return found, nil
}

func avg(m *machine, at int, args []any) (any, error) {
	var total any = 0
	n := 0
	for _, v := range several(args) {
		v, err := normal(v, at)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if total, err = arithmetic(m, "+", total, v, at); err != nil {
			return nil, err
		}
		n++
	}
	if n == 0 {
		return nil, nil
	}
	return arithmetic(m, "/", total, n, at)
}

// maxFormatted is the largest number that is written with separators.
const maxFormatted = 1e15

func formatNumber(m *machine, at int, args []any) (any, error) {
	decimals, err := wholeArg(args, -1, at, "the number of decimals")
	if err != nil {
		return nil, err
	}
	return m.separated(args[0], min(decimals, maxDecimals), textArg(args, 2, ",."), at)
}

// separated formats a number with decimals; a negative count keeps all decimals.
func (m *machine) separated(v any, decimals int, separators string, at int) (any, error) {
	marks := []rune(separators)
	if len(marks) != 2 {
		return nil, fail(CodeValue, at, "has separators that are not two characters").hint(`write ",." for 1,234.5`)
	}
	if math.Abs(float(v)) > maxFormatted {
		return nil, fail(CodeOverflow, at, "has a number beyond 10^15")
	}
	if err := m.grow(2*maxDateText, at); err != nil {
		return nil, err
	}
	if f, ok := v.(float64); ok && decimals >= 0 {
		v = roundTo(f, decimals)
	}
	s := strconv.FormatFloat(math.Abs(float(v)), 'f', decimals, 64)
	number, fraction, _ := strings.Cut(s, ".")
	var b strings.Builder
	if float(v) < 0 && strings.Trim(s, "0.") != "" {
		b.WriteByte('-')
	}
	for i, c := range number {
		if i > 0 && (len(number)-i)%3 == 0 {
			b.WriteRune(marks[0])
		}
		b.WriteRune(c)
	}
	if fraction != "" {
		b.WriteRune(marks[1])
		b.WriteString(fraction)
	}
	return b.String(), nil
}

// currencyDecimals are the currencies of ISO 4217 that do not have two decimals.
var currencyDecimals = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0,
	"UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
}

func formatMoney(m *machine, at int, args []any) (any, error) {
	currency := textArg(args, 1, "")
	if len(currency) > 8 || currency == "" {
		return nil, fail(CodeValue, at, "has a currency that is not a code such as EUR")
	}
	decimals, ok := currencyDecimals[strings.ToUpper(currency)]
	if !ok {
		decimals = 2
	}
	amount, err := m.separated(args[0], decimals, textArg(args, 2, ",."), at)
	if err != nil {
		return nil, err
	}
	s, _ := amount.(string)
	return currency + " " + s, nil
}
