package expression_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

type calls map[string]any

// functionCases has cases of every function, by its name.
var functionCases = map[string]calls{
	"upper":     {`upper("niño é1")`: "NIÑO É1", `upper("")`: ""},
	"lower":     {`lower("ÀB Ñ")`: "àb ñ", `lower("Ⱥ")`: "ⱥ"},
	"title":     {`title("ana maría o'neil")`: "Ana María O'neil", `title("HELLO world-wide 2nd")`: "Hello World-Wide 2nd"},
	"trim":      {`trim(" \n a b ")`: "a b"},
	"digits":    {`digits("+34 (600) 12-34")`: "346001234"},
	"urlEncode": {`urlEncode("a b&c=é/")`: "a%20b%26c%3D%C3%A9%2F"},
	"truncate":  {`truncate("María José", 5)`: "María", `truncate("María José", 6, "…")`: "María…", `truncate("abc", 3, "…")`: "abc", `truncate("abc", 0)`: "", `truncate("abcdef", 2, "...")`: "..", `truncate("abc", -1)`: ""},
	"padStart":  {`padStart("7", 3, "0")`: "007", `padStart("é", 4, "ab")`: "abaé", `padStart("abc", 2)`: "abc", `padStart("a", 3)`: "  a", `padStart("a", 3, "")`: "a"},
	"repeat":    {`repeat("ab", 3)`: "ababab", `repeat("a", 0)`: "", `repeat("a", -1)`: "", `repeat("", 999999999)`: ""},
	"replace":   {`replace("a-b-c", "-", "")`: "abc", `replace("aaa", "a", "bb")`: "bbbbbb", `replace("abc", "", "x")`: "abc", `replace("abc", "x", "y")`: "abc"},
	"split":     {`split("a,b,,c", ",")`: []any{"a", "b", "", "c"}, `split("né", "")`: []any{"n", "é"}, `split("", ",")`: []any{}, `split("abc", "-")`: []any{"abc"}},
	"indexOf":   {`indexOf("María José", "José")`: 6, `indexOf("abc", "x")`: nil, `indexOf("abc", "")`: 0},
	"capture":   {`capture("order 123 now", "[0-9]+")`: "123", `capture("a=1", "(?P<k>\\w)=(\\d)", "k")`: "a", `capture("a=1", "(\\w)=(\\d)", 2)`: "1", `capture("a", "b")`: nil, `capture("a", "a(b)?", 1)`: nil},

	"len":     {`len("né")`: 2, `len([1, 2])`: 2, `len({a: 1})`: 1, `len(nil)`: 0, `len(vars.x)`: 0},
	"first":   {`first([1, 2])`: 1, `first([])`: nil, `first(nil)`: nil},
	"last":    {`last([1, 2])`: 2, `last(vars.x)`: nil},
	"join":    {`join([1, 2.0, nil, true, "a"], ", ")`: "1, 2, , true, a", `join(["a", "b"])`: "ab", `join(nil)`: "", `join([[1], {a: 2}], " ")`: `[1] {"a":2}`},
	"concat":  {`concat([1], [2, 3])`: []any{1, 2, 3}, `concat(vars.x, [1])`: []any{1}, `concat()`: []any{}},
	"reverse": {`reverse([1, 2, 3])`: []any{3, 2, 1}},
	"unique":  {`unique([1, 1.0, "1", nil, nil, [1], [1]])`: []any{1, "1", nil, []any{1}}},
	"sort":    {`sort([3, 1.5, 2])`: []any{1.5, 2, 3}, `sort(["b", "B", "a"], "desc")`: []any{"b", "a", "B"}, `sort([true, nil, false])`: []any{nil, false, true}, `sort(nil)`: []any{}, `sort([3, 1], "asc")`: []any{1, 3}},
	"keys":    {`keys({b: 1, a: 2, c: 3})`: []any{"a", "b", "c"}, `keys(nil)`: nil, `keys({})`: []any{}},
	"values":  {`values({b: 1, a: 2, c: 3})`: []any{2, 1, 3}},
	"get":     {`get({a: [{b: 5}]}, "a.0.b")`: 5, `get({a: 1}, "a.b.c", "none")`: "none", `get({a: [1, 2]}, "a.-1")`: 2, `get(nil, "a", 1)`: 1, `get({a: 1}, "")`: map[string]any{"a": 1}, `get([1], "x")`: nil, `get({a: 1}, nil)`: nil},
	"merge":   {`merge({a: 1, b: 1}, {b: 2}, nil)`: map[string]any{"a": 1, "b": 2}},

	"abs":          {`abs(-2)`: 2, `abs(2)`: 2, `abs(-2.5)`: 2.5},
	"round":        {`round(2.5)`: 3, `round(-2.5)`: -3, `round(1.005, 2)`: 1.01, `round(2.345, 1)`: 2.3, `round(7)`: 7, `round(1e20)`: 1e20, `round(0.1 + 0.2, 2)`: 0.3, `round(9.99, 1)`: 10, `round(0.5)`: 1, `round(0.4)`: 0, `round(1.5, 99)`: 1.5, `round(nil)`: nil},
	"floor":        {`floor(-1.5)`: -2, `floor(3)`: 3},
	"ceil":         {`ceil(1.2)`: 2, `ceil(-0.5)`: 0},
	"min":          {`min(3, 1.5, 2)`: 1.5, `min([3, nil, 1])`: 1, `min("b", "a")`: "a", `min([])`: nil, `min(now, date("2026-01-01"))`: "2026-01-01T00:00:00Z"},
	"max":          {`max(3, 1, 2)`: 3, `max([1, 9007199254740993, 9007199254740992.0])`: 9007199254740993},
	"avg":          {`avg(1, 2)`: 1.5, `avg([1, 3, nil])`: 2, `avg([])`: nil},
	"formatNumber": {`formatNumber(1234567.891, 2)`: "1,234,567.89", `formatNumber(1234.5, 1, ".,")`: "1.234,5", `formatNumber(1234)`: "1,234", `formatNumber(-0.001, 2)`: "0.00", `formatNumber(-1000, 0, " ,")`: "-1 000", `formatNumber(999.995, 2)`: "1,000.00", `formatNumber(12.5)`: "12.5"},
	"formatMoney":  {`formatMoney(1234.5, "EUR")`: "EUR 1,234.50", `formatMoney(1234.5, "JPY")`: "JPY 1,235", `formatMoney(0.1, "KWD", ".,")`: "KWD 0,100", `formatMoney(nil, "EUR")`: nil},

	"date": {
		`date("2026-03-01")`: "2026-03-01T00:00:00Z", `date("2026-03-01 14:30", "Europe/Madrid")`: "2026-03-01T14:30:00+01:00", `date("2026-07-01T08:00:00.5Z")`: "2026-07-01T08:00:00.5Z", `date(1.5)`: "1970-01-01T00:00:01.5Z",
		`date("1 March")`: nil, `date("2026-02-30")`: nil, `date(1e300)`: nil, `date(nil)`: nil, `date(now)`: "2026-03-15T10:30:00Z", `date("0000-01-01")`: nil,
	},
	"formatDate": {
		`formatDate(now, "DD/MM/YYYY HH:mm:ss")`: "15/03/2026 10:30:00", `formatDate(now, "dddd D MMMM YY, h:mm A")`: "Sunday 15 March 26, 10:30 AM", `formatDate("2026-07-01T23:30:00Z", "D.M. H [h] Z", "Europe/Madrid")`: "2.7. 1 h +02:00",
		`formatDate(now, "[MM] ddd MMM hh [")`: "MM Sun Mar 10 [", `formatDate(nil, "DD")`: nil, `formatDate(now, "año")`: "año",
	},
	"addDuration": {
		`addDuration("2026-01-31", "P1M")`: "2026-02-28T00:00:00Z", `addDuration("2024-02-29", "P1Y")`: "2025-02-28T00:00:00Z", `addDuration(now, "PT1H30M0.5S")`: "2026-03-15T12:00:00.5Z", `addDuration(now, "-P1W2DT12H")`: "2026-03-05T22:30:00Z",
		`addDuration(date("2026-03-28 12:00", "Europe/Madrid"), "P1D")`: "2026-03-29T12:00:00+02:00", `addDuration("2026-03-31", "-P1M")`: "2026-02-28T00:00:00Z", `addDuration(nil, "P1D")`: nil,
	},
	"diff": {
		`diff("2026-03-01", now)`: 14.4375, `diff("2026-03-01", "2026-03-03")`: 2, `diff(now, "2026-03-15T09:30:00Z", "minutes")`: -60, `diff("2026-01-31", "2026-02-28", "months")`: 1, `diff("2026-01-31", "2026-03-30", "months")`: 1, `diff("2008-03-16", now, "years")`: 17, `diff("2008-03-15", now, "years")`: 18,
		`diff(now, "2008-03-15", "years")`: -18, `diff("0001-01-01", "9998-01-01", "weeks")`: 521618.4285714286, `diff(now, now, "seconds")`: 0,
	},
	"datePart": {`datePart(now, "weekday")`: 7, `datePart("2026-03-16", "weekday")`: 1, `datePart(now, "hour", "Asia/Tokyo")`: 19, `datePart(now, "year")`: 2026, `datePart(now, "month")`: 3, `datePart(now, "day")`: 15, `datePart(now, "minute")`: 30, `datePart(now, "second")`: 0, `datePart(now, "yearday")`: 74},

	"default":   {`default(nil, 1)`: 1, `default("", 1)`: 1, `default(0, 1)`: 0, `default(false, 1)`: false},
	"coalesce":  {`coalesce(nil, vars.x, 2, 3)`: 2, `coalesce(nil)`: nil, `coalesce()`: nil},
	"number":    {`number("12")`: 12, `number(" 1.50 ")`: 1.5, `number("9007199254740993")`: 9007199254740993, `number("1e3")`: 1000.0, `number("0x10")`: nil, `number("inf")`: nil, `number("1_000")`: nil, `number("")`: nil, `number("12a")`: nil, `number(true)`: 1, `number(false)`: 0, `number(1.5)`: 1.5, `number(nil)`: nil, `number([1])`: nil, `number(date("1970-01-02"))`: 86400, `number("1e999")`: nil},
	"string":    {`string(2.0)`: "2", `string(nil)`: "", `string([1, "a"])`: `[1,"a"]`, `string(now)`: "2026-03-15T10:30:00Z", `string(true)`: "true"},
	"bool":      {`bool("Yes")`: true, `bool("no")`: false, `bool("maybe")`: nil, `bool(0)`: false, `bool(2.5)`: true, `bool(nil)`: false, `bool("")`: false, `bool([1])`: nil, `bool(true)`: true, `bool(repeat("yes", 20))`: nil},
	"json":      {`json({b: [1, nil], a: "\"é\n"})`: `{"a":"\"é\n","b":[1,null]}`, `json(nil)`: "null", `json(now)`: `"2026-03-15T10:30:00Z"`, `json(1.0)`: "1"},
	"parseJSON": {`parseJSON("{\"a\": [1, 2.5, 9007199254740993, null, true]}")`: map[string]any{"a": []any{1, 2.5, 9007199254740993, nil, true}}, `parseJSON("1 2")`: nil, `parseJSON("1]")`: nil, `parseJSON("")`: nil, `parseJSON("\"\\\"[\"")`: `"[`, `parseJSON("null")`: nil},
	"type":      {`type(nil)`: "nothing", `type(1)`: "number", `type("a")`: "text", `type(now)`: "date", `type([])`: "list", `type({})`: "object", `type(true)`: "boolean"},
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for name, cases := range functionCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for src, want := range cases {
				require.Equal(t, want, eval(t, src, nil), src)
			}
		})
	}
}

// Dates are read and written in the zone that now is in.
func TestDatesInTheZoneOfNow(t *testing.T) {
	t.Parallel()
	madrid, err := time.LoadLocation("Europe/Madrid")
	require.NoError(t, err)
	env := map[string]any{"now": now.In(madrid), "vars": map[string]any{"due": "2026-03-15 11:30", "at": "2026-03-15T10:30:00Z"}}
	for src, want := range map[string]any{
		`formatDate(now, "HH:mm")`: "11:30", `formatDate(vars.at, "HH:mm Z")`: "11:30 +01:00", `formatDate(vars.at, "HH:mm", "UTC")`: "10:30", `vars.due == now`: true, `now == vars.due`: true,
		`date(vars.due)`: "2026-03-15T11:30:00+01:00", `diff(vars.due, now, "seconds")`: 0, `datePart(vars.at, "hour")`: 11, `addDuration("2026-03-28 12:00", "P1D")`: "2026-03-29T12:00:00+02:00", `date(0)`: "1970-01-01T01:00:00+01:00",
	} {
		v, err := compile(t, src).Eval(env, nil)
		require.NoError(t, err, src)
		require.Equal(t, want, v, src)
	}
}

// Every function has cases here and says what it does; every predicate has
// some in TestLanguage.
func TestFunctionsAreDescribed(t *testing.T) {
	t.Parallel()
	c := expression.Completions(scope)
	seen := map[string]bool{}
	for _, f := range c.Functions {
		require.False(t, seen[f.Name], f.Name)
		seen[f.Name] = true
		require.True(t, strings.HasPrefix(f.Signature, f.Name+"("), f.Signature)
		require.NotEmpty(t, f.Text)
		require.NotEmpty(t, f.Group)
		if !strings.Contains(f.Signature, "predicate") && !strings.Contains(f.Signature, "value)") && !strings.Contains(f.Signature, "value,") && !strings.Contains(f.Signature, "value?") {
			require.NotEmpty(t, functionCases[f.Name], f.Name)
		}
	}
	for name := range functionCases {
		require.True(t, seen[name], name)
	}
	require.Len(t, c.Functions, len(functionCases)+15)
	require.NotEmpty(t, c.Operators)
	require.Equal(t, expression.Name{Name: "now", Type: "date"}, c.Names[1])
	require.Equal(t, "tags", c.Names[2].Members[5].Name)
	require.Equal(t, "list", c.Names[2].Members[5].Type)
	require.Empty(t, expression.Completions(nil).Names)
}
