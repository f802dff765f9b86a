package expression_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src, code string
		at        int
		hint      string
	}{
		{"", expression.CodeSyntax, 0, ""},
		{" \n", expression.CodeSyntax, 0, ""},
		{"1 +", expression.CodeSyntax, 2, ""},
		{`"é" + )`, expression.CodeSyntax, 7, ""},
		{`"abc`, expression.CodeSyntax, 4, ""},
		{"a\xff", expression.CodeSyntax, 1, ""},
		{"vars.age = 3", expression.CodeSyntax, 9, "=="},
		{"vars.a; vars.b", expression.CodeSyntax, 13, ""},
		{`b"abc"`, expression.CodeSyntax, 0, ""},
		{"let vars = 1; vars", expression.CodeSyntax, 4, ""},
		{"# > 1", expression.CodeSyntax, 0, ""},
		{"9223372036854775808", expression.CodeSyntax, 18, ""},
		{"1e999", expression.CodeSyntax, 4, ""},
		{strings.Repeat("é", 2001), expression.CodeTooLong, 0, ""},
		{"1" + strings.Repeat("+1", 400), expression.CodeTooManyNodes, 501, "several variables"},
		{"nwo", expression.CodeUnknownName, 0, "did you mean now?"},
		{`"é" + itme`, expression.CodeUnknownName, 7, "did you mean item?"},
		{"contact.name", expression.CodeUnknownName, 0, "the names are item, now, typed, vars"},
		{"null", expression.CodeUnknownName, 0, "nil"},
		{"upper", expression.CodeUnknownName, 0, "upper(…)"},
		{"$env", expression.CodeUnknownName, 0, ""},
		{"typed.nmae", expression.CodeUnknownMember, 6, "did you mean name?"},
		{`typed["agge"]`, expression.CodeUnknownMember, 5, "did you mean age?"},
		{"uper(vars.name)", expression.CodeUnknownFunction, 0, "did you mean upper?"},
		{"now()", expression.CodeUnknownFunction, 0, "without brackets"},
		{"vars.name.upper()", expression.CodeUnknownFunction, 10, "function(value)"},
		{"print(1)", expression.CodeUnknownFunction, 0, ""},
		{"toBase64(vars.name)", expression.CodeUnknownFunction, 0, ""},
		{"upper()", expression.CodeArguments, 0, "upper(text: text): text"},
		{"upper(1, 2)", expression.CodeArguments, 0, ""},
		{`vars.name matches "("`, expression.CodeRegex, 18, ""},
		{`vars.name matches vars.name`, expression.CodeRegex, 23, "in quotes"},
		{`vars.name matches "(?:a{100}){1000}"`, expression.CodeRegex, 18, ""},
		{`vars.name matches "(a|bc|d){300}"`, expression.CodeRegex, 18, ""},
		{`vars.name matches "(?=a)"`, expression.CodeRegex, 18, ""},
		{`capture(vars.name, "(")`, expression.CodeRegex, 19, ""},
		{`capture(vars.name, "a" + "b")`, expression.CodeRegex, 23, ""},

		{"[nwo]", expression.CodeUnknownName, 1, ""},
		{"{a: nwo}", expression.CodeUnknownName, 4, ""},
		{"{(nwo): 1}", expression.CodeUnknownName, 2, ""},
		{"nwo[1]", expression.CodeUnknownName, 0, ""},
		{"vars[nwo]", expression.CodeUnknownName, 5, ""},
		{"nwo[1:]", expression.CodeUnknownName, 0, ""},
		{"vars.a[:nwo]", expression.CodeUnknownName, 8, ""},
		{"let x = nwo; x", expression.CodeUnknownName, 8, ""},
		{"map(nwo, 1)", expression.CodeUnknownName, 4, ""},
		{"reduce(vars.a, 1, nwo)", expression.CodeUnknownName, 18, ""},
		{"upper(nwo)", expression.CodeUnknownName, 6, ""},
		{"-nwo", expression.CodeUnknownName, 1, ""},
		{"nwo ? 1 : 2", expression.CodeUnknownName, 0, ""},
		{"true ? nwo : 2", expression.CodeUnknownName, 7, ""},
		{"true ? 1 : nwo", expression.CodeUnknownName, 11, ""},
		{"1 < 2 < nwo", expression.CodeUnknownName, 8, ""},
		{"typed.tags + [1]", expression.CodeType, 11, "concat(…)"},
		{"typed.age + true", expression.CodeType, 10, ""},
		{`"a" + 1`, expression.CodeType, 4, "string(…)"},
		{"typed.name + typed.age", expression.CodeType, 11, "string(…)"},
		{"typed.age - typed.name", expression.CodeType, 10, ""},
		{"typed.name * 2", expression.CodeType, 11, ""},
		{"typed.name >= 18", expression.CodeType, 11, ""},
		{"typed.age < typed.due", expression.CodeType, 10, ""},
		{"1 < 2 < typed.name", expression.CodeType, 6, ""},
		{"typed.age and true", expression.CodeType, 10, ""},
		{"not typed.name", expression.CodeType, 0, ""},
		{"-typed.name", expression.CodeType, 0, ""},
		{"typed.age ? 1 : 2", expression.CodeType, 6, ""},
		{"typed.age.x", expression.CodeType, 10, ""},
		{"typed.name.length", expression.CodeType, 11, "len(…)"},
		{"typed.age[0]", expression.CodeType, 9, ""},
		{"typed.tags[true]", expression.CodeType, 10, ""},
		{"typed.age[1:]", expression.CodeType, 9, ""},
		{`typed.tags["a":]`, expression.CodeType, 10, ""},
		{"typed.age contains 1", expression.CodeType, 10, ""},
		{"typed.name contains 1", expression.CodeType, 11, ""},
		{"typed.age matches 'a'", expression.CodeType, 10, ""},
		{"1 in typed.name", expression.CodeType, 2, ""},
		{"typed.name..3", expression.CodeType, 10, ""},
		{"upper(typed.age)", expression.CodeType, 12, "upper(text: text): text"},
		{"len(typed.member)", expression.CodeType, 10, ""},
		{"filter(typed.name, true)", expression.CodeType, 0, ""},
		{"filter(typed.tags, #)", expression.CodeType, 0, ""},
		{"map(typed.tags, # * 2)", expression.CodeType, 18, ""},
		{"map(typed.tags, #.a)", expression.CodeType, 18, ""},
		{"filter(typed.tags, #.a)", expression.CodeType, 21, ""},
		{"map(vars.a, #foo)", expression.CodeUnknownName, 12, "#acc"},
	} {
		_, err := expression.Compile(c.src, scope)
		require.Error(t, err, c.src)
		e := wrong(t, err)
		require.Equal(t, c.code, e.Code, "%s: %v", c.src, e)
		require.Equal(t, c.at, e.At, "%s: %v", c.src, e)
		require.Contains(t, e.Hint, c.hint, c.src)
		require.NotContains(t, e.Message, "\n", c.src)
	}
}

// What the declared types allow, and what is known of the result.
func TestTypes(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"1": "number", "typed.age": "number", "typed.age >= 18": "boolean", "typed.open.anything.at.all": "anything", "vars.x": "anything",
		"typed.tags": "list", "typed.tags[0]": "text", "typed.tags[0:1]": "list", "typed.name[0]": "text", `typed["age"]`: "number", `typed["a" + "ge"]`: "anything",
		"typed.due": "text or date", "typed.due < now": "boolean", `typed.due < "2026"`: "boolean", "now": "date", "typed": "object",
		"typed.name + typed.tags[0]": "text", "vars.a + typed.age": "number", "vars.a + vars.b": "number or text",
		"typed.age ?? 0": "number", `typed.member ? 1 : "a"`: "number or text", "typed.member ?: 5": "boolean or number", "true ? typed.tags : typed.tags": "list",
		"map(typed.tags, len(#))": "list", "map(typed.tags, len(#))[0]": "number", "find(typed.tags, true)": "nothing or text", "filter(typed.tags, # != nil)[0]": "text",
		"sum(typed.tags, len(#))": "number", "1..3": "list", "(1..3)[0]": "number", "nil": "nothing", "upper(typed.name)": "text", "{a: 1}": "object", "[1]": "list",
		"let x = typed.age; x": "number", "if typed.member {1} else {2}": "number", "-typed.age": "number", "-1": "number", "+1": "number",
	} {
		require.Equal(t, want, compile(t, src).Type().Kind.String(), src)
	}
}

func TestScopeWith(t *testing.T) {
	t.Parallel()
	inner := scope.With("answer", expression.Type{Kind: expression.Text}).With("item", expression.Type{Kind: expression.Number})
	p, err := expression.Compile("item + 1 > len(answer)", inner)
	require.NoError(t, err)
	v, err := p.Eval(map[string]any{"item": 4, "answer": "abc"}, nil)
	require.NoError(t, err)
	require.Equal(t, true, v)
	_, err = expression.Compile("answer", scope)
	require.Error(t, err, "the outer scope is as it was")

	_, err = expression.Compile("a", nil)
	require.Equal(t, expression.CodeUnknownName, wrong(t, err).Code)
	var none *expression.Scope
	_, err = expression.Compile("a", none.With("a", expression.Type{}))
	require.NoError(t, err)
}

func TestTypeNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"string": "text", "number": "number", "integer": "number", "boolean": "boolean", "date": "text or date", "datetime": "text or date", "list": "list", "object": "object", "any": "anything",
	} {
		got, ok := expression.TypeNamed(name)
		require.True(t, ok)
		require.Equal(t, want, got.Kind.String())
	}
	_, ok := expression.TypeNamed("text")
	require.False(t, ok)
}

// What is compiled once is not compiled again, in its scope; and no more is
// kept than was asked for.
func TestCache(t *testing.T) {
	t.Parallel()
	c := expression.NewCache(4)
	p, err := c.Compile("vars.a", scope)
	require.NoError(t, err)
	again, err := c.Compile("vars.a", expression.NewScope(map[string]expression.Type{"vars": {Kind: expression.Map}}))
	require.NoError(t, err)
	require.NotSame(t, p, again, "another scope")
	tpl, err := c.ParseTemplate("vars.a", scope)
	require.NoError(t, err)
	require.True(t, tpl.Constant(), "a template is no expression")

	for i := range 20 {
		_, err := c.Compile(strings.Repeat("1+", i)+"1", scope)
		require.NoError(t, err)
		kept, err := c.Compile("vars.a", scope)
		require.NoError(t, err)
		require.Same(t, p, kept, "what is used stays")
	}
	twice, err := c.ParseTemplate("vars.a", scope)
	require.NoError(t, err)
	require.NotSame(t, tpl, twice, "what is not used goes")

	_, err = c.Compile("vars.", scope)
	require.Error(t, err)
	_, err = c.ParseTemplate("{{ vars. }}", scope)
	require.Error(t, err)
	var none *expression.Cache
	_, err = none.Compile("1", nil)
	require.NoError(t, err)
	_, err = none.ParseTemplate("1", nil)
	require.NoError(t, err)
}
