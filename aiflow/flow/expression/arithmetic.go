package expression

import (
	"math"
)

// add implements +: it adds numbers and joins texts.
func add(m *machine, operator string, a, b any, at int) (any, error) {
	left, ok := a.(string)
	right, ok2 := b.(string)
	if !ok || !ok2 {
		return arithmetic(m, operator, a, b, at)
	}
	if err := m.step(1, at); err != nil {
		return nil, err
	}
	if err := m.grow(len(left)+len(right), at); err != nil {
		return nil, err
	}
	return left + right, nil
}

// arithmetic implements the operators on numbers. The result is exact when both are
// integers.
func arithmetic(m *machine, operator string, a, b any, at int) (any, error) {
	if err := m.step(1, at); err != nil {
		return nil, err
	}
	if kindOf(a) != Number || kindOf(b) != Number {
		return nil, notNumbers(operator, a, b, at)
	}
	x, ok := a.(int)
	y, ok2 := b.(int)
	if ok && ok2 {
		return integers(operator, x, y, at)
	}
	return floats(operator, float(a), float(b), at)
}

func notNumbers(operator string, a, b any, at int) *Error {
	err := fail(CodeType, at, "uses %s on a %s and a %s", operator, kindOf(a), kindOf(b))
	switch kinds := kindOf(a) | kindOf(b); {
	case kinds&Nothing != 0:
		return err.hint("give nil a value, for example (x ?? 0)")
	case operator == "+" && kinds&Text != 0:
		return err.hint("write string(…) to join texts, or number(…) to add numbers")
	case operator == "+" && kinds == List:
		return err.hint("write concat(…) to join lists")
	case kinds&Text != 0:
		return err.hint("write number(…) around the text")
	}
	return err
}

func integers(operator string, x, y, at int) (any, error) {
	var z int
	var ok bool
	switch operator {
	case "+":
		z = x + y
		ok = (z > x) == (y > 0)
	case "-":
		z = x - y
		ok = (z < x) == (y > 0)
	case "*":
		z, ok = multiply(x, y)
	case "/":
		return divide(x, y, at)
	case "%":
		if y == 0 {
			return nil, fail(CodeDivisionByZero, at, "divides by zero")
		}
		if y == -1 {
			return 0, nil // also for the smallest integer, where Go's result overflows
		}
		return x % y, nil
	default:
		return power(x, y, at)
	}
	if !ok {
		return nil, overflow(operator, at)
	}
	return z, nil
}

func overflow(operator string, at int) *Error {
	return fail(CodeOverflow, at, "%s exceeds the whole numbers of 64 bits", operator).hint("use a number with a fraction, for example 1.0 * x")
}

func multiply(x, y int) (int, bool) {
	if x == 0 || y == 0 {
		return 0, true
	}
	z := x * y
	return z, z/y == x && !(x == -1 && y == math.MinInt) && !(y == -1 && x == math.MinInt)
}

func divide(x, y, at int) (any, error) {
	switch {
	case y == 0:
		return nil, fail(CodeDivisionByZero, at, "divides by zero")
	case y == -1 && x == math.MinInt:
		return nil, overflow("/", at)
	case x%y == 0:
		return x / y, nil
	}
	return float64(x) / float64(y), nil
}

func power(x, y, at int) (any, error) {
	if y < 0 {
		return floats("**", float64(x), float64(y), at)
	}
	z, ok := 1, true
	for ; y > 0 && ok; y >>= 1 {
		if y&1 == 1 {
			z, ok = multiply(z, x)
		}
		if y > 1 && ok {
			x, ok = multiply(x, x)
		}
	}
	if !ok {
		return nil, overflow("**", at)
	}
	return z, nil
}

func floats(operator string, x, y float64, at int) (any, error) {
	var z float64
	switch operator {
	case "+":
		z = x + y
	case "-":
		z = x - y
	case "*":
		z = x * y
	case "/", "%":
		if y == 0 {
			return nil, fail(CodeDivisionByZero, at, "divides by zero")
		}
		if z = x / y; operator == "%" {
			z = math.Mod(x, y)
		}
	default:
		if x == 0 && y < 0 {
			return nil, fail(CodeDivisionByZero, at, "divides by zero")
		}
		z = math.Pow(x, y)
	}
	return finite(operator, z, at)
}

// finite refuses results that JSON cannot represent.
func finite(what string, z float64, at int) (any, error) {
	switch {
	case math.IsNaN(z):
		return nil, fail(CodeValue, at, "%s has no number as its result", what)
	case math.IsInf(z, 0):
		return nil, fail(CodeOverflow, at, "%s exceeds the numbers of 64 bits", what)
	}
	return z, nil
}
