// Package modelusage answers what the REST API is asked about the use of
// language models: what it cost, their prices, and the budgets for them.
package modelusage
