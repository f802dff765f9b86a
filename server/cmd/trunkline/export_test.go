package main

// Run lets a test binary be the command, and Passes tells faults that pass.
var (
	Run    = run
	Passes = passes
)
