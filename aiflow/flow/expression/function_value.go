package expression

import (
	"strings"
	"time"
)

var valueFunctions = []declared{
	{"default(value: any, otherwise: any): any", "The value, or the other one if the value is nil or an empty text.", fallback},
	{"coalesce(...values: any): any", "The first value that is not nil.", firstOf},
	{"number(value: any): number", "The number in a text; nil if it is not a number.", toNumber},
	{"string(value: any): text", "The value as a template writes it; an empty text for nil.", toText},
	{"bool(value: any): boolean", "True for true, \"true\", \"yes\", \"1\" and numbers other than 0; false for false, \"false\", \"no\", \"0\", \"\", 0 and nil; otherwise nil.", toBool},
	{"json(value: any): text", "The value as JSON, with sorted names.", toJSON},
	{"parseJSON(text: text): any", "The value of a JSON text; nil if it is not JSON.", fromJSON},
	{"type(value: any): text", "The type: nothing (for nil), boolean, number, text, date, list or object.", typeOf},
}

func fallback(_ *machine, _ int, args []any) (any, error) {
	if args[0] == nil || args[0] == "" {
		return args[1], nil
	}
	return args[0], nil
}

func firstOf(_ *machine, _ int, args []any) (any, error) {
	for _, v := range args {
		if v != nil {
			return v, nil
		}
	}
	return nil, nil
}

func toNumber(m *machine, at int, args []any) (any, error) {
	switch v := args[0].(type) {
	case int, float64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		if err := m.scan(len(v), at); err != nil {
			return nil, err
		}
		return parseNumber(strings.TrimSpace(v)), nil
	case time.Time:
		return int(v.Unix()), nil
	}
	return nil, nil
}

func toText(m *machine, at int, args []any) (any, error) { return m.text(args[0], at) }

func toBool(_ *machine, _ int, args []any) (any, error) {
	switch v := args[0].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case int, float64:
		return float(v) != 0, nil
	case string:
		if len(v) > maxDateText {
			return nil, nil
		}
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "yes", "1":
			return true, nil
		case "false", "no", "0", "":
			return false, nil
		}
	}
	return nil, nil
}

func toJSON(m *machine, at int, args []any) (any, error) {
	w := writer{m: m, at: at}
	err := w.json(args[0], 1)
	return string(w.out), err
}

func fromJSON(m *machine, at int, args []any) (any, error) {
	return m.parseJSON(textArg(args, 0, ""), at)
}

func typeOf(_ *machine, _ int, args []any) (any, error) { return kindOf(args[0]).String(), nil }
