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
	{"all", "all(list: list, predicate): boolean", "True if the predicate is true for every element: all(vars.items, #.price > 0).", "list"},
	{"any", "any(list: list, predicate): boolean", "True if the predicate is true for at least one element.", "list"},
	{"none", "none(list: list, predicate): boolean", "True if the predicate is true for no element.", "list"},
	{"one", "one(list: list, predicate): boolean", "True if the predicate is true for exactly one element.", "list"},
	{"count", "count(list: list, predicate?): number", "Number of elements for which the predicate is true.", "list"},
	{"filter", "filter(list: list, predicate): list", "The elements for which the predicate is true: filter(vars.items, #.stock > 0).", "list"},
	{"find", "find(list: list, predicate): any", "The first element for which the predicate is true; nil if there is none.", "list"},
	{"findIndex", "findIndex(list: list, predicate): number", "The index of that element, from 0.", "list"},
	{"findLast", "findLast(list: list, predicate): any", "The last element for which the predicate is true; nil if there is none.", "list"},
	{"findLastIndex", "findLastIndex(list: list, predicate): number", "The index of that element, from 0.", "list"},
	{"groupBy", "groupBy(list: list, value): object", "Lists of elements, grouped by the value of each: groupBy(vars.items, #.colour).", "list"},
	{"map", "map(list: list, value): list", "The value of each element: map(vars.items, #.name).", "list"},
	{"reduce", "reduce(list: list, value, first?: any): any", "One value, computed element by element: reduce(vars.items, #acc + #.price, 0).", "list"},
	{"sortBy", "sortBy(list: list, value, order?: text): list", "The elements, sorted by the value, in the order \"asc\" or \"desc\".", "list"},
	{"sum", "sum(list: list, value?): number", "The sum of the elements, or of the value of each: sum(vars.items, #.price).", "list"},
}

var operatorDocs = []Operator{
	{"==", "Equal. Values of different types are not equal. Works for lists and objects, too."},
	{"!=", "Not equal."},
	{"<", "Less, for numbers, texts or dates; false if one of them is nil. You can write a < b < c."},
	{"<=", "Less or equal."},
	{">", "More."},
	{">=", "Greater or equal."},
	{"and", "True if both are true; also &&. nil counts as false."},
	{"or", "True if at least one is true; also ||."},
	{"not", "Not true; also !."},
	{"??", "The left value, or the right one if the left one is nil."},
	{"? :", "One of two values: vars.age >= 18 ? \"adult\" : \"minor\"."},
	{"+", "The sum of two numbers, or the concatenation of two texts."},
	{"-", "The difference."},
	{"*", "The product."},
	{"/", "The quotient; a whole number if there is no remainder."},
	{"%", "The remainder of a division."},
	{"**", "The power; also ^."},
	{"..", "The list of whole numbers from one to another."},
	{"in", "True if the right value has the left one as an element or a member; also not in."},
	{"contains", "True if the left value has the right one as a part or an element; also not contains."},
	{"startsWith", "True if the text starts with the right value."},
	{"endsWith", "True if the text ends with the right value."},
	{"matches", "True if a regular expression (RE2), written in quotes, matches a part of the text."},
	{"|", "Passes the left value as the first argument of a function: vars.name | trim() | title()."},
}
