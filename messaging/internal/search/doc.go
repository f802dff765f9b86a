// Package search says which words messages have and which words are looked for. It
// folds both the same way for all databases, whose indexes only narrow the messages
// that [Query.Excerpt] looks at.
package search
