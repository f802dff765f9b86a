// Package models shows what flows and bots may be made of: the language models
// and the types of nodes.
package models
