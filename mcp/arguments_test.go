package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
)

type item struct {
	Name  string `json:"name" minLength:"1"`
	Count uint8  `json:"count,omitempty"`
}

type base struct {
	Reference int64 `json:"reference" doc:"The line." minimum:"1"`
}

// everything has arguments of all kinds.
type everything struct {
	base

	Text    string            `json:"text,omitempty" minLength:"2" maxLength:"5"`
	Color   string            `json:"color,omitempty" enum:"red,green"`
	Limit   int               `json:"limit" default:"20" minimum:"1" maximum:"100"`
	Small   int8              `json:"small,omitempty"`
	Ratio   float64           `json:"ratio,omitempty" maximum:"1"`
	Single  float32           `json:"single,omitempty"`
	Active  *bool             `json:"active"`
	At      time.Time         `json:"at,omitzero"`
	Items   []item            `json:"items,omitempty" maxLength:"3"`
	Tags    map[string]string `json:"tags,omitempty"`
	Input   map[string]any    `json:"input,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Number  json.Number       `json:"number,omitempty"`
	Private string            `json:"private,omitempty" private:"true"`
	Skipped string            `json:"-"`
}

// echo registers a function that answers its arguments.
func echo(t testing.TB, r *mcp.Registry) {
	t.Helper()
	add(t, r, "echo", func(_ context.Context, _ mcp.Call, in everything) (everything, error) { return in, nil })
}

// TestBadArguments names every violation of each kind.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	echo(t, r)
	deep := strings.Repeat(`[`, mcp.MaxDepth) + strings.Repeat(`]`, mcp.MaxDepth)
	for name, c := range map[string]struct {
		arguments string
		want      []string
	}{
		"missing":          {`{}`, []string{"reference is missing"}},
		"nothing at all":   {``, []string{"reference is missing"}},
		"unknown":          {`{"reference":1,"what":2}`, []string{"what is unknown"}},
		"other letters":    {`{"Reference":1}`, []string{"Reference is unknown", "reference is missing"}},
		"not published":    {`{"reference":1,"Skipped":"x","-":"x"}`, []string{"Skipped is unknown", "- is unknown"}},
		"no name":          {`{"reference":1,"":2}`, []string{`"" is unknown`}},
		"unknown twice":    {`{"reference":1,"what":2,"what":2}`, []string{"what is unknown"}},
		"several":          {`{"reference":"1","text":5,"x":1,"limit":0}`, []string{"reference must be a whole number", "text must be a string", "x is unknown", "limit must be at least 1"}},
		"twice":            {`{"reference":1,"reference":2}`, []string{"reference is given twice"}},
		"twice by escape":  {`{"reference":1,"referenc\u0065":2}`, []string{"reference is given twice"}},
		"null":             {`{"reference":null,"text":null}`, []string{"reference must not be null: leave it out", "text must not be null: leave it out"}},
		"text for number":  {`{"reference":"1"}`, []string{"reference must be a whole number"}},
		"bool for number":  {`{"reference":true}`, []string{"reference must be a whole number"}},
		"fraction":         {`{"reference":1.5}`, []string{"reference must be a whole number"}},
		"fraction, exact":  {`{"reference":9007199254740993.5}`, []string{"reference must be a whole number"}},
		"1e30":             {`{"reference":1e30}`, []string{"reference is out of range"}},
		"1e999999999":      {`{"reference":1e999999999}`, []string{"reference is out of range"}},
		"beyond int64":     {`{"reference":9223372036854775808}`, []string{"reference is out of range"}},
		"beyond int8":      {`{"reference":1,"small":128}`, []string{"small is out of range"}},
		"below uint8":      {`{"reference":1,"items":[{"name":"a","count":-1}]}`, []string{"items[0].count is out of range"}},
		"beyond float32":   {`{"reference":1,"single":1e39}`, []string{"single is out of range"}},
		"beyond float64":   {`{"reference":1,"ratio":1e309}`, []string{"ratio is out of range"}},
		"too low":          {`{"reference":0}`, []string{"reference must be at least 1"}},
		"too high":         {`{"reference":1,"limit":101,"ratio":1.01}`, []string{"limit must be at most 100", "ratio must be at most 1"}},
		"number for text":  {`{"reference":1,"text":12}`, []string{"text must be a string"}},
		"too short":        {`{"reference":1,"text":"é"}`, []string{"text must have at least 2 characters"}},
		"too long":         {`{"reference":1,"text":"éééééé"}`, []string{"text must have at most 5 characters"}},
		"enum":             {`{"reference":1,"color":"blue"}`, []string{"color must be one of red, green"}},
		"no bool":          {`{"reference":1,"active":"true"}`, []string{"active must be true or false"}},
		"number for bool":  {`{"reference":1,"active":1}`, []string{"active must be true or false"}},
		"no time":          {`{"reference":1,"at":"yesterday"}`, []string{"at has the wrong form"}},
		"no array":         {`{"reference":1,"items":{}}`, []string{"items must be an array"}},
		"too many":         {`{"reference":1,"items":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}`, []string{"items must have at most 3 elements"}},
		"within an array":  {`{"reference":1,"items":[{"name":"a"},{"name":"","x":1},null,7,{}]}`, []string{"items[1].name must not be empty", "items[1].x is unknown", "items[2] must not be null: leave it out", "items[3] must be an object", "items[4].name is missing", "items must have at most 3 elements"}},
		"within a map":     {`{"reference":1,"tags":{"a":1,"b":"x","b":"y"}}`, []string{"tags.a must be a string", "tags.b is given twice"}},
		"no map":           {`{"reference":1,"input":[]}`, []string{"input must be an object"}},
		"twice, unchecked": {`{"reference":1,"input":{"a":{"b":1,"b":2}}}`, []string{"input.a.b is given twice"}},
		"twice, raw":       {`{"reference":1,"raw":[{"b":1,"b":2}]}`, []string{"raw[0].b is given twice"}},
		"no number":        {`{"reference":1,"number":"5"}`, []string{"number must be a number"}},
		"NUL":              {`{"reference":1,"text":"a\u0000b"}`, []string{"text must not contain U+0000"}},
		"NUL, unchecked":   {`{"reference":1,"input":{"a":["\u0000"],"\u0000":1},"tags":{"\u0000":"x"}}`, []string{"input.a[0] must not contain U+0000", "input.\x00 has a name with U+0000", "tags.\x00 has a name with U+0000"}},
		"half a pair":      {`{"reference":1,"text":"\ud83d!","raw":"\udc00\ud83d"}`, []string{"text contains half of a surrogate pair", "raw contains half of a surrogate pair"}},
		"invalid UTF-8":    {"{\"reference\":1,\"text\":\"\xff\xfe\"}", []string{"arguments are not valid UTF-8"}},
		"array":            {`[1]`, []string{"arguments must be an object"}},
		"all null":         {`null`, []string{"arguments must be an object"}},
		"text":             {`"reference"`, []string{"arguments must be an object"}},
		"no JSON":          {`{"reference":1`, []string{"arguments are not valid JSON"}},
		"two values":       {`{"reference":1}{}`, []string{"arguments are not valid JSON"}},
		"NaN":              {`{"reference":NaN}`, []string{"arguments are not valid JSON"}},
		"spaces":           {"  ", []string{"arguments are not valid JSON"}},
		"too deep":         {`{"reference":1,"raw":` + deep + `}`, []string{"arguments have more than 32 levels"}},
		"far too deep":     {strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000), []string{"arguments are not valid JSON"}},
		"too big":          {`{"reference":1,"private":"` + strings.Repeat("x", mcp.MaxArguments) + `"}`, []string{"arguments are larger than 262144 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := refused(t, call(t, r, ana, "echo", c.arguments), mcp.CodeInvalidArguments)
			var got []string
			for _, d := range e.Details {
				got = append(got, d.Argument+" "+d.Message)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestGoodArguments checks that arguments arrive unchanged, to the last digit.
func TestGoodArguments(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	echo(t, r)
	for name, c := range map[string]struct{ arguments, want string }{
		"least":             {`{"reference":1}`, `{"reference":1}`},
		"beyond 2^53":       {`{"reference":9007199254740993}`, `{"reference":9007199254740993}`},
		"most":              {`{"reference":9223372036854775807}`, `{"reference":9223372036854775807}`},
		"no fraction":       {`{"reference":9007199254740993.000}`, `{"reference":9007199254740993}`},
		"exponent":          {`{"reference":1.5e3}`, `{"reference":1500}`},
		"spaces":            {"\n{ \"reference\" : 1 ,\t\"text\" : \"ab\" } ", `{"reference":1,"text":"ab"}`},
		"escapes":           {`{"reference":1,"text":"\"\\\ud83d\ude00"}`, `{"reference":1,"text":"\"\\😀"}`},
		"replacement":       {`{"reference":1,"text":"\\u\ufffd"}`, `{"reference":1,"text":"\\u�"}`},
		"false":             {`{"reference":1,"active":false}`, `{"reference":1,"active":false}`},
		"numbers unchecked": {`{"reference":1,"input":{"a":9007199254740993},"raw":[1.50,null],"number":1.50}`, `{"reference":1,"input":{"a":9007199254740993},"raw":[1.50,null],"number":1.50}`},
		"maps":              {`{"reference":1,"tags":{"a":"b"},"items":[{"name":"x","count":255}]}`, `{"reference":1,"items":[{"name":"x","count":255}],"tags":{"a":"b"}}`},
		"time":              {`{"reference":1,"at":"2026-05-04T03:02:01Z"}`, `{"reference":1,"at":"2026-05-04T03:02:01Z"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := call(t, r, ana, "echo", c.arguments)
			require.True(t, out.Success, out.Error)
			got := strings.ReplaceAll(strings.Replace(string(out.Result), `"limit":20`, "", 1), `,,`, `,`)
			got = strings.ReplaceAll(got, `,"active":null`, "")
			require.Equal(t, c.want, strings.Replace(got, ",}", "}", 1))
		})
	}
}

// TestManyViolations checks that an answer with many violations is bounded.
func TestManyViolations(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	echo(t, r)
	var b strings.Builder
	b.WriteString(`{"` + strings.Repeat("n", 3000) + `":1`)
	for i := range 9000 {
		fmt.Fprintf(&b, `,"%d":1`, i)
	}
	b.WriteString(`}`)
	e := refused(t, call(t, r, ana, "echo", b.String()), mcp.CodeInvalidArguments)
	require.Len(t, e.Details, 50)
	for _, d := range e.Details {
		require.LessOrEqual(t, len(d.Argument), 110)
	}
	e = refused(t, call(t, r, ana, "echo", `{"reference":1,"items":[`+strings.Repeat(`0,`, 100_000)+`0]}`), mcp.CodeInvalidArguments)
	require.LessOrEqual(t, len(e.Details), 50)
}

// TestRandomArguments checks that random arguments never cause an internal error.
func TestRandomArguments(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	echo(t, r)
	g := &generator{rand.New(rand.NewPCG(1, 2))}
	passed, n := 0, 10_000
	for range n {
		arguments := g.arguments()
		out := call(t, r, ana, "echo", arguments)
		switch {
		case out.Success:
			require.True(t, json.Valid(out.Result), arguments)
			passed++
		default:
			require.Equal(t, mcp.CodeInvalidArguments, out.Error.Code, arguments)
			require.NotEmpty(t, out.Error.Details, arguments)
		}
	}
	require.Greater(t, passed, n/100, "some are right")
	require.Less(t, passed, n-n/100, "some are wrong")
}

// generator makes arguments, right ones and wrong ones.
type generator struct{ *rand.Rand }

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *generator) arguments() string {
	members := []string{}
	if g.IntN(10) > 0 {
		members = append(members, `"reference":`+g.pick("1", "7", "9007199254740993"))
	}
	for range g.IntN(4) {
		name := g.pick("reference", "text", "color", "limit", "small", "ratio", "single", "active", "at", "items", "tags", "input", "raw", "number", "private", "what", "")
		members = append(members, `"`+name+`":`+g.value(3))
	}
	text := "{" + strings.Join(members, ",") + "}"
	if g.IntN(20) == 0 { // broken
		b := []byte(text)
		b[g.IntN(len(b))] = byte(g.IntN(256))
		text = string(b)
	}
	return text
}

func (g *generator) value(depth int) string {
	kind := g.IntN(8)
	if depth == 0 {
		kind = g.IntN(5)
	}
	switch kind {
	case 0:
		return g.pick("null", "true", "false")
	case 1:
		return fmt.Sprint(g.Int64() >> g.IntN(64))
	case 2:
		return g.pick("1e30", "-0", "0.5", "1.0", "1e400", "-1e-400", "5e0", fmt.Sprint(g.NormFloat64()*math.Pow(10, float64(g.IntN(30)))))
	case 3:
		return `"` + g.pick("", "ab", "red", "😀", `\u0000`, `\ud800`, `\"`, "x\u2028y", "2026-05-04T03:02:01Z") + `"`
	case 4:
		return `"` + strings.Repeat(g.pick("x", "é", "5"), g.IntN(12)) + `"`
	case 5:
		return "[" + g.value(depth-1) + "," + g.value(depth-1) + "]"
	default:
		return `{"` + g.pick("name", "count", "a", "token") + `":` + g.value(depth-1) + `,"` + g.pick("name", "b") + `":` + g.value(depth-1) + "}"
	}
}

// FuzzArguments is [TestRandomArguments] with bytes of any kind, over the
// audit log.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"reference":1}`, `{"reference":1e30,"text":"\ud800","items":[{"name":"x"}]}`, `{"reference":1,"input":{"a":{"b":[1,2,{"token":"x"}]}}}`,
		`{"reference":1,"raw":"+55 (11) 99999-0000"}`, "\xff", `null`, `{"reference":-0.0,"tags":{"":""}}`, `[[[[`,
	} {
		f.Add(seed)
	}
	r := setup(f, testkit.Open(f, testkit.SQLiteURL(f)), mcp.Options{Limit: -1, AccountLimit: -1})
	add(f, r, "echo", func(_ context.Context, _ mcp.Call, in everything) (everything, error) { return in, nil })
	f.Fuzz(func(t *testing.T, arguments string) {
		out := call(t, r, ana, "echo", arguments)
		if !out.Success {
			require.Equal(t, mcp.CodeInvalidArguments, out.Error.Code)
		}
	})
}
