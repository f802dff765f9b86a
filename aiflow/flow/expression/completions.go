package expression

import "slices"

// Catalog is what an editor proposes while an author writes an expression.
type Catalog struct {
	Names     []Name     `json:"names"`
	Functions []Function `json:"functions"`
	Operators []Operator `json:"operators"`
}

// Name is a name of the scope or a member.
type Name struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Members []Name `json:"members,omitempty"`
}

// Operator describes an operator for people.
type Operator struct {
	Operator string `json:"operator"`
	Text     string `json:"text"`
}

// Completions returns what may be written in a scope: its names and their members,
// all functions and operators, each list sorted.
func Completions(scope *Scope) Catalog {
	c := Catalog{Names: []Name{}, Functions: slices.Clone(predicateDocs), Operators: slices.Clone(operatorDocs)}
	if scope != nil {
		c.Names = namesOf(scope.names)
	}
	for _, f := range functions() {
		c.Functions = append(c.Functions, f.Function)
	}
	slices.SortFunc(c.Functions, func(a, b Function) int { return sign(a.Name < b.Name, a.Name > b.Name) })
	return c
}

func namesOf(types map[string]Type) []Name {
	names := []Name{}
	for _, name := range sortedTypes(types) {
		t := types[name]
		n := Name{Name: name, Type: t.kind().String()}
		if t.Fields != nil {
			n.Members = namesOf(t.Fields)
		}
		names = append(names, n)
	}
	return names
}

var predicateDocs = []Function{
	{"all", "all(list: list, predicate): boolean", "True when the predicate is true for every element: all(vars.items, #.price > 0).", "list"},
	{"any", "any(list: list, predicate): boolean", "True when the predicate is true for an element.", "list"},
	{"none", "none(list: list, predicate): boolean", "True when the predicate is true for no element.", "list"},
	{"one", "one(list: list, predicate): boolean", "True when the predicate is true for exactly one element.", "list"},
	{"count", "count(list: list, predicate?): number", "How many elements the predicate is true for.", "list"},
	{"filter", "filter(list: list, predicate): list", "The elements for which the predicate is true: filter(vars.items, #.stock > 0).", "list"},
	{"find", "find(list: list, predicate): any", "The first element for which the predicate is true; nothing when there is none.", "list"},
	{"findIndex", "findIndex(list: list, predicate): number", "The position of that element, counted from 0.", "list"},
	{"findLast", "findLast(list: list, predicate): any", "The last element for which the predicate is true; nothing when there is none.", "list"},
	{"findLastIndex", "findLastIndex(list: list, predicate): number", "The position of that element, counted from 0.", "list"},
	{"groupBy", "groupBy(list: list, value): object", "The elements in lists, by what the value is for each: groupBy(vars.items, #.colour).", "list"},
	{"map", "map(list: list, value): list", "What the value is for each element: map(vars.items, #.name).", "list"},
	{"reduce", "reduce(list: list, value, first?: any): any", "One value made step by step: reduce(vars.items, #acc + #.price, 0).", "list"},
	{"sortBy", "sortBy(list: list, value, order?: text): list", "The elements in the order of the value, \"asc\" or \"desc\".", "list"},
	{"sum", "sum(list: list, value?): number", "The sum of the elements, or of the value for each: sum(vars.items, #.price).", "list"},
}

var operatorDocs = []Operator{
	{"==", "Equal; values of different kinds are not. Also of lists and objects."},
	{"!=", "Not equal."},
	{"<", "Less, between numbers, texts or dates; false when one is nothing. Also a < b < c."},
	{"<=", "Less or equal."},
	{">", "More."},
	{">=", "More or equal."},
	{"and", "Both are true; also &&. Nothing counts as false."},
	{"or", "One is true; also ||."},
	{"not", "Not true; also !."},
	{"??", "The left value, or the right one when it is nothing."},
	{"? :", "One of two values: vars.age >= 18 ? \"adult\" : \"minor\"."},
	{"+", "The sum of two numbers, or two texts joined."},
	{"-", "The difference."},
	{"*", "The product."},
	{"/", "The quotient; whole when it is without rest."},
	{"%", "The rest of a division."},
	{"**", "The power; also ^."},
	{"..", "The list of whole numbers from one to another."},
	{"in", "An element of a list or a member of an object; also not in."},
	{"contains", "A part of a text or an element of a list; also not contains."},
	{"startsWith", "The beginning of a text."},
	{"endsWith", "The end of a text."},
	{"matches", "A regular expression (RE2), written in quotes, finds something in the text."},
	{"|", "The left value as the first argument of a function: vars.name | trim() | title()."},
}
