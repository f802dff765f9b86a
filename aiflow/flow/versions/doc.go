// Package versions keeps flows for an engine: drafts, the numbered versions
// that were published of them, and the tests beside them. It is what the engines
// of packages aiflow and botengine have in common.
//
// An engine has two tables. One has a row for each flow, with the columns of
// [Row] and those of the engine, among them removed; tests is a column of it,
// too. The other has a row for each version: the id of its flow in a column that
// the engine names, version, document, hash and created_us. [Options] names
// them:
//
//	store, err := versions.New(ctx, db, versions.Options{
//		Engine: "survey", Noun: "survey", Scope: "account",
//		Flows: "survey_flow", Versions: "survey_version", Key: "flow",
//		Runs: runs, Source: source, Environment: environment, TestsTx: testsTx,
//		NotFound: ErrNotFound, Refused: refused,
//	})
//
// The methods that change something work in a transaction of the engine, which
// has locked the row of the flow, for example with [Find]: the engine decides who
// may do what, and records it.
package versions
