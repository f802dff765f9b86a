package main

// Run lets a test binary be the command.
var Run = run
