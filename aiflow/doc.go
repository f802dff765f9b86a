// Package aiflow is the engine of flows that belong to projects: they have
// loops, functions, named events and runs without a chat beside all that bots
// of package botengine have, and answer the chats of the lines that they are
// bound to.
//
// It keeps projects, flows as drafts with revisions and as numbered versions,
// each pinned to the versions of the functions that it calls; package runtime
// runs them. Without a runtime in its Options it has one of its own, for flows
// without chats.
//
//	err := aiflow.Migrate(ctx, db)
//	flows, err := aiflow.New(ctx, db, nil)
//	go flows.Run(ctx)
//	acc := flows.For(aiflow.OneAccount)
//	project, err := acc.CreateProject(ctx, aiflow.NewProject{Name: "Shop"})
//	f, err := acc.Create(ctx, aiflow.NewFlow{Project: project.ID, Name: "Invoice", Draft: draft})
//	f, err = acc.Publish(ctx, f.ID, aiflow.Publisher{})
//	run, err := acc.Start(ctx, aiflow.Start{Flow: f.ID, Input: map[string]any{"order": 17}})
package aiflow
