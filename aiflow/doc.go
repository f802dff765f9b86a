// Package aiflow is the engine of flows that belong to projects: they have
// loops, functions, named events and runs without a chat beside all that bots
// of package botengine have, and answer the chats of the references that they are
// bound to.
//
// It keeps projects, flows as drafts with revisions and as numbered versions,
// each pinned to the versions of the functions that it calls; package runtime
// runs them. Without a runtime in its Options it has one of its own, for flows
// without chats.
//
//	ctx := context.Background()
//	db := sqlx.MustConnect("sqlite", "file:flows.db?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
//	flows, err := aiflow.New(ctx, db, nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	go func() { log.Fatal(flows.Run(ctx)) }() // takes the steps, also those that an earlier run of the program left
//
//	shop := flows.For(aiflow.OneAccount)
//	price, err := shop.Deploy(ctx, aiflow.Deployment{Project: "Shop", Flow: document})
//	if err != nil {
//		log.Fatal(err)
//	}
//	run, err := shop.Runs().Start(ctx, aiflow.Start{Flow: price.ID, Input: map[string]any{"cups": 3}})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(string(run.Output))
//
// An [Account] groups what it can do by resource: [Account.Projects],
// [Account.Flows], [Account.Versions], [Account.Bindings], [Account.Tests] and
// [Account.Runs]. [Account.Deploy] publishes documents that a program brings
// along. Users create drafts with [Flows.Create] and change them with
// [Flows.Update]; a flow runs once [Versions.Publish] has published it.
//
// # Following a run
//
// [Runs.Start] returns after the first turn of a run: by then it has ended, or it
// waits. [Runs.Watch] reports what follows, and [Runs.Get] shows every step.
// [Runs.Event], [Runs.Approve], [Runs.Retry] and [Runs.Cancel] make a run continue
// or end.
//
// # What is kept, and errors
//
// Tables begin with aiflow_, those of runs with flow_. A value that breaks a rule
// is an [*Invalid] that names its field, a draft that cannot be published a
// [*Refused] with all that is wrong with it, and what is another account's is
// [ErrNotFound].
package aiflow
