package expression_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// vars returns what the tables below see.
func vars() map[string]any {
	return map[string]any{
		"age": 21, "half": 0.5, "name": "Ana María", "empty": "", "yes": true, "no": false,
		"list":  []any{3, 1, 2},
		"items": []any{map[string]any{"name": "pen", "price": 3}, map[string]any{"name": "cup", "price": 5.5}, map[string]any{"name": "pin"}},
		"a":     map[string]any{"b": map[string]any{"c": 7}, "in": 1, "2": "two"},
		"big":   int64(math.MaxInt64), "wire": json.Number("9007199254740993"), "wireHalf": json.Number("1.50"),
		"nan": math.NaN(), "due": "2026-03-16",
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]any{
		// constants
		`true`: true, `42`: 42, `0x1F`: 31, `1_000`: 1000, `1.5`: 1.5, `1e3`: 1000.0, `"a\n\u00e9"`: "a\né", "`a\"b`": `a"b`,
		`[1, "a", nil]`: []any{1, "a", nil}, `[]`: []any{}, `{a: 1, "b c": 2, ("d" + "e"): 3}`: map[string]any{"a": 1, "b c": 2, "de": 3}, `{}`: map[string]any{},
		`{a: 1, a: 2}`: map[string]any{"a": 2},

		// members and elements: nothing has only nothing
		`vars.age`: 21, `vars.a.b.c`: 7, `vars["age"]`: 21, `vars["a"]["b"]`: map[string]any{"c": 7}, `vars.a.in`: 1, `vars.a[2]`: "two",
		`vars.list[0]`: 3, `vars.list[-1]`: 2, `vars.list[1.0]`: 1,
		`vars.list[1:]`: []any{1, 2}, `vars.list[:-1]`: []any{3, 1}, `vars.list[5:9]`: []any{}, `vars.list[2:1]`: []any{}, `vars.list[nil:2]`: []any{3, 1},
		`vars.name[4]`: "M", `vars.name[-1]`: "a", `vars.name[6:8]`: "rí", `vars.name[4:]`: "María", `vars.name[:0]`: "",

		// numbers: whole ones exact, the rest floats
		`1 + 2 * 3`: 7, `(1 + 2) * 3`: 9, `7 / 2`: 3.5, `6 / 2`: 3, `7 % 3`: 1, `-7 % 3`: -1, `7.5 % 2`: 1.5, `2 ** 10`: 1024, `2 ^ 3 ^ 2`: 512, `2 ** -1`: 0.5, `2 ** 0.5`: math.Sqrt2,
		`-vars.age`: -21, `+vars.age`: 21, `1 - -1`: 2, `0.1 + 0.2`: 0.30000000000000004, `1 + 1.0`: 2.0,
		`9223372036854775806 + 1`: math.MaxInt, `-9223372036854775807 - 1`: math.MinInt, `9007199254740993 * 1`: 9007199254740993, `9223372036854775807 / 7`: 1317624576693539401,
		`vars.big`: math.MaxInt, `vars.wire + 0`: 9007199254740993, `vars.wireHalf`: 1.5, `1 ** 999999999`: 1, `(-1) ** 3`: -1,

		// comparisons
		`vars.age >= 18`: true, `vars.age < 21`: false, `vars.age <= 21.0`: true, `1 == 1.0`: true, `1 == "1"`: false, `1 != "1"`: true, `"a" < "b"`: true, `"Z" < "a"`: true, `"é" > "z"`: true,
		`9007199254740993 == 9007199254740992.0`: false, `9007199254740993 > 9007199254740992.0`: true, `9223372036854775807 < 9223372036854775808.0`: true, `-1 < 1e300`: true, `2 < 2.5`: true, `-2 > -2.5`: true,
		`nil == nil`: true, `nil == 0`: false, `nil != ""`: true, `vars.x == nil`: true, `nil == false`: false, `vars.x < 1`: false, `vars.x >= 1`: false, `nil <= nil`: false,
		`true == true`: true, `true != false`: true, `[1, [2.0]] == [1.0, [2]]`: true, `{a: 1} == {a: 1.0}`: true, `{a: 1} == {a: 1, b: nil}`: false, `{a: nil} == {b: nil}`: false, `[1] == [1, 2]`: false, `[1] == "1"`: false,
		`1 < 2 && 2 < 3 && vars.age == 21`: true, `vars.age > 1 && true`: true, `true && 1 < 2`: true,
		`1 < 2 < 3`: true, `1 < 3 < 2`: false, `18 <= vars.age < 65`: true, `3 > 2 > 1 and 1 < 2 <= 2`: true, `1 < (2 < 3 ? 5 : 0) < 9`: true,
		`now > "2026-03-01"`: true, `vars.due > now`: true, `now == "2026-03-15T11:30:00+01:00"`: true, `date("2026-01-01") == date("2026-01-01T00:00:00Z")`: true,

		// logic: nothing is false
		`vars.yes and vars.no`: false, `vars.yes && not vars.no`: true, `vars.x or vars.yes`: true, `!vars.x`: true, `false and vars.x.y`: false, `true || 1 / 0 == 0`: true,
		`vars.yes ? 1 : 2`: 1, `vars.x ? 1 : 2`: 2, `vars.yes ?: 1`: true, `vars.x ?: 1`: 1, `vars.x ?? 5`: 5, `vars.no ?? 5`: false, `vars.x ?? vars.y ?? 3`: 3,
		`if vars.age > 18 { "adult" } else { "minor" }`: "adult", `if false { 1 } else if vars.yes { 2 } else { 3 }`: 2,

		// texts and membership
		`"a" + "b"`: "ab", `"abc" contains "b"`: true, `vars.list contains 2.0`: true, `vars.x contains "a"`: false, `vars.name contains vars.x`: false, `"abc" startsWith "ab"`: true, `"abc" not endsWith "c"`: false, `vars.x startsWith "a"`: false,
		`"blue" in ["red", "blue"]`: true, `4 not in vars.list`: true, `"age" in vars`: true, `1 in vars.x`: false, `1 in vars.a`: false, `nil in [nil]`: true, `[1] in [[1]]`: true,
		`"2026" matches "^[0-9]{4}$"`: true, `vars.name matches "(?i)ANA"`: true, `vars.x matches "a"`: false, `"a" not matches 'b'`: true,

		// let, ranges, pipes, comments
		`let x = vars.age; x * x`: 441, `let x = 1; let y = x + 1; x + y`: 3, `1..4`: []any{1, 2, 3, 4}, `3..1`: []any{}, `vars.name | lower() | split(" ") | first()`: "ana", "1 + /* one */ 1 // and so on": 2,

		// predicates
		`all(vars.list, # > 0)`: true, `all(vars.x, false)`: true, `any(vars.list, # > 2)`: true, `any([], true)`: false, `none(vars.list, # > 3)`: true, `one(vars.list, # == 1)`: true, `one(vars.list, # > 1)`: false,
		`count(vars.list, # > 1)`: 2, `count([true, nil, false])`: 1, `filter(vars.list, # != 1)`: []any{3, 2}, `filter(vars.x, true)`: []any{}, `map(vars.items, .name)`: []any{"pen", "cup", "pin"}, `map(vars.list, #index)`: []any{0, 1, 2},
		`find(vars.items, .price > 4).name`: "cup", `findIndex(vars.list, # == 2)`: 2, `findLast(vars.list, # > 1)`: 2, `findLastIndex(vars.list, # > 2)`: 0,
		`sum(vars.list)`: 6, `sum(vars.items, .price)`: 8.5, `sum([])`: 0, `reduce(vars.list, #acc + #)`: 6, `reduce(vars.list, #acc + string(#), "")`: "312", `reduce([], 1, 5)`: 5, `reduce(vars.list, #acc + #index, 0)`: 3,
		`groupBy(vars.list, # > 1)`: map[string]any{"true": []any{3, 2}, "false": []any{1}}, `sortBy(vars.items, .price) | map(.name)`: []any{"pin", "pen", "cup"}, `sortBy(vars.items, .name, "desc") | map(.name)`: []any{"pin", "pen", "cup"},
		`filter(vars.items, { let p = .price; p != nil and p < 5 }) | len()`:    1,
		`map(1..2, { let o = #; map(1..2, o * 10 + #) })`:                       []any{[]any{11, 12}, []any{21, 22}},
		`any(vars.list, any(vars.list, # == 3) and # == 1)`:                     true,
		`filter(vars.items, .name in map(vars.items, .name)[:2]) | map(len(#))`: []any{2, 2},
		`let t = {a: [1, 2]}; t.a | map(# + len(t.a)) | sum()`:                  7,
	} {
		require.Equal(t, want, eval(t, src, vars()), src)
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		`nil`, `vars.x`, `vars.x.y.z`, `vars?.x?.y`, `vars.x[0]`, `vars.x["a"].b`, `item.a`, `vars[nil]`, `vars.list[3]`, `vars.list[-4]`, `vars.list[nil]`,
		`vars.x[1:2]`, `vars.name[99]`, `vars.nan`, `find(vars.items, .price > 9)`, `findIndex(vars.list, # == 9)`, `reduce([], 1)`,
		`upper(vars.x)`, `number("many")`, `date("soon")`, `parseJSON("{")`, `max([])`, `avg([nil])`, `first(vars.x)`, `vars.x ?? nil`,
	} {
		require.Nil(t, eval(t, src, vars()), src)
	}
}

// What fails when it is evaluated, and where.
func TestEvalErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src, code string
		at        int
		hint      string
	}{
		{`1 / 0`, expression.CodeDivisionByZero, 2, ""},
		{`1 % 0`, expression.CodeDivisionByZero, 2, ""},
		{`1.5 / 0.0`, expression.CodeDivisionByZero, 4, ""},
		{`0.0 ** -1`, expression.CodeDivisionByZero, 4, ""},
		{`vars.big + 1`, expression.CodeOverflow, 9, "1.0"},
		{`vars.big * 2`, expression.CodeOverflow, 9, ""},
		{`-vars.big - 2`, expression.CodeOverflow, 10, ""},
		{`(0 - vars.big - 1) / -1`, expression.CodeOverflow, 19, ""},
		{`(0 - vars.big - 1) * -1`, expression.CodeOverflow, 19, ""},
		{`abs(0 - vars.big - 1)`, expression.CodeOverflow, 0, ""},
		{`2 ** 63`, expression.CodeOverflow, 2, ""},
		{`10.0 ** 400`, expression.CodeOverflow, 5, ""},
		{`(0 - 1.5) ** 0.5`, expression.CodeValue, 10, ""},
		{`vars.name.x`, expression.CodeType, 10, ""},
		{`vars.age[0]`, expression.CodeType, 8, ""},
		{`vars.list["a"]`, expression.CodeType, 9, ""},
		{`vars.list[0.5]`, expression.CodeType, 9, ""},
		{`vars.list[0.5:]`, expression.CodeType, 9, ""},
		{`vars.list[1 / 0:]`, expression.CodeDivisionByZero, 12, ""},
		{`vars.list[:1 / 0]`, expression.CodeDivisionByZero, 13, ""},
		{`all(vars.list, # / 0 > 1)`, expression.CodeDivisionByZero, 17, ""},
		{`any(vars.list, # / 0 > 1)`, expression.CodeDivisionByZero, 17, ""},
		{`none(vars.list, # / 0 > 1)`, expression.CodeDivisionByZero, 18, ""},
		{`vars.name >= 18`, expression.CodeType, 10, "number(…)"},
		{`vars.yes < vars.no`, expression.CodeType, 9, ""},
		{`vars.list < 1`, expression.CodeType, 10, ""},
		{`vars.name + vars.age`, expression.CodeType, 10, "string(…)"},
		{`vars.list + vars.list`, expression.CodeType, 10, "concat(…)"},
		{`vars.age + vars.x`, expression.CodeType, 9, "?? 0"},
		{`vars.age - vars.name`, expression.CodeType, 9, "number(…)"},
		{`not vars.name`, expression.CodeType, 0, "compare"},
		{`vars.age and true`, expression.CodeType, 9, ""},
		{`vars.name ? 1 : 2`, expression.CodeType, 5, ""},
		{`"a" in vars.name`, expression.CodeType, 4, "contains"},
		{`vars.age contains 1`, expression.CodeType, 9, ""},
		{`vars.age matches "1"`, expression.CodeType, 9, "string(…)"},
		{`upper(vars.age)`, expression.CodeType, 0, "string(…)"},
		{`map(vars.age, #)`, expression.CodeType, 0, ""},
		{`filter(vars.list, #)`, expression.CodeType, 0, ""},
		{`sort([1, "a"])`, expression.CodeType, 0, ""},
		{`sort([1], "up")`, expression.CodeArguments, 0, ""},
		{`{(vars.age): 1}`, expression.CodeType, 0, "string(…)"},
		{`1..0.5`, expression.CodeType, 1, ""},
		{`"é" + "é" + (1 / 0 == 1 ? "" : "")`, expression.CodeDivisionByZero, 17, ""},
		{`formatDate(now, "HH", "Mars/Olympus")`, expression.CodeValue, 0, "Europe/Madrid"},
		{`formatDate("soon", "HH")`, expression.CodeValue, 0, "RFC 3339"},
		{`addDuration(now, "1 day")`, expression.CodeValue, 0, "P1D"},
		{`addDuration(now, "P999999Y")`, expression.CodeOverflow, 0, ""},
		{`diff(now, now, "moons")`, expression.CodeValue, 0, "months"},
		{`diff("soon", now)`, expression.CodeValue, 0, "RFC 3339"},
		{`addDuration("soon", "P1D")`, expression.CodeValue, 0, "RFC 3339"},
		{`addDuration(now, "PD")`, expression.CodeValue, 0, "PT2H30M"},
		{`addDuration(now, "P1H")`, expression.CodeValue, 0, "PT2H30M"},
		{`addDuration(now, "P0.5D")`, expression.CodeValue, 0, "PT2H30M"},
		{`addDuration(now, "P1DT")`, expression.CodeValue, 0, "PT2H30M"},
		{`addDuration(now, "PT9999999H")`, expression.CodeValue, 0, "PT2H30M"},
		{`datePart("soon", "year")`, expression.CodeValue, 0, "RFC 3339"},
		{`datePart(now, "era")`, expression.CodeValue, 0, "weekday"},
		{`join(vars.list, vars.age)`, expression.CodeType, 0, "string(…)"},
		{`round(vars.name)`, expression.CodeType, 0, "number(…)"},
		{`join(vars.age)`, expression.CodeType, 0, "join(list: list"},
		{`max(1, true)`, expression.CodeType, 0, ""},
		{`max(1, "a")`, expression.CodeType, 0, ""},
		{`round(1.5, 0.5)`, expression.CodeValue, 0, ""},
		{`formatNumber(1.5, 0.5)`, expression.CodeValue, 0, ""},
		{`formatNumber(1, 0, ",")`, expression.CodeValue, 0, ",."},
		{`formatNumber(1e16)`, expression.CodeOverflow, 0, ""},
		{`formatMoney(1e16, "EUR")`, expression.CodeOverflow, 0, ""},
		{`formatMoney(1, "a long name")`, expression.CodeValue, 0, ""},
		{`capture("a", "a", 1)`, expression.CodeValue, 0, ""},
		{`truncate("a", 0.5)`, expression.CodeValue, 0, ""},
		{`now < "tomorrow"`, expression.CodeType, 4, ""},
		{`vars.foreign`, expression.CodeType, 5, ""},
	} {
		v := vars()
		v["foreign"] = struct{ A int }{1}
		_, err := compile(t, c.src).Eval(map[string]any{"vars": v, "now": now}, nil)
		e := wrong(t, err)
		require.Equal(t, c.code, e.Code, "%s: %v", c.src, e)
		require.Equal(t, c.at, e.At, "%s: %v", c.src, e)
		require.Contains(t, e.Hint, c.hint, c.src)
	}
}

// Results have only the Go types of JSON.
func TestResultsAreJSON(t *testing.T) {
	t.Parallel()
	require.Equal(t, "2026-03-15T10:30:00Z", eval(t, "now", nil))
	require.Equal(t, []any{"2026-03-15T10:30:00Z", map[string]any{"t": "2026-03-16T00:00:00Z"}}, eval(t, `[now, {t: date(vars.due)}]`, vars()))
	require.Equal(t, []any{"2026-03-16T10:30:00Z"}, eval(t, `map(1..1, addDuration(now, "P1D"))`, nil))
	require.Equal(t, map[string]any{"now": "2026-03-15T10:30:00Z"}, eval(t, `{now: now}`, nil))
}

// An environment is never changed, and a result's list has no room in which
// an append could reach it.
func TestEnvironmentIsLeftAlone(t *testing.T) {
	t.Parallel()
	list := []any{3, 1, 2}
	env := map[string]any{"list": list}
	for _, src := range []string{`sort(vars.list)`, `reverse(vars.list)`, `sortBy(vars.list, -#)`, `concat(vars.list, [4])`, `vars.list[0:1]`, `unique(vars.list)`} {
		out, ok := eval(t, src, env).([]any)
		require.True(t, ok, src)
		_ = append(out, 99)
		require.Equal(t, []any{3, 1, 2}, list, src)
	}
}

func TestTruth(t *testing.T) {
	t.Parallel()
	for v, want := range map[any]bool{true: true, false: false, nil: false} {
		got, err := expression.Truth(v)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, v := range []any{"false", 0, 1.5} {
		_, err := expression.Truth(v)
		require.Equal(t, expression.CodeType, wrong(t, err).Code)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		"true": true, "3": 3.0, "-3": -3, "0": math.Copysign(0, -1), "2.5": 2.5, "0.1": 0.1, "1e+21": 1e21, "0.0000001": 1e-7, "a": "a", "": nil,
		`[1,"a\"\\\n\u0001",null,{"a":1,"b":[]}]`: []any{1.0, "a\"\\\n\x01", nil, map[string]any{"b": []any{}, "a": 1}},
		"2026-03-15T10:30:00Z":                    now, "9223372036854775807": int64(math.MaxInt64),
	} {
		require.Equal(t, want, expression.Format(v))
	}
}
