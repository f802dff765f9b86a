package httpapi

// MatcherOf is for tests.
var MatcherOf = matcherOf
