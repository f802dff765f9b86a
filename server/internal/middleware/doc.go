// Package middleware is made of what every request passes before its operation:
// who sends it, at what pace its body comes, how many requests a token has, what
// is logged and traced of it.
package middleware
