// Package explain tells what became of a message, step by step.
package explain
