package functions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/functions"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A program that has chats lets an agent act in them, by what it may do.
func ExampleRegister() {
	dir, err := os.MkdirTemp("", "functions")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "chats.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, migrate := range []func() error{
		func() error { return messaging.Migrate(ctx, db) }, func() error { return mcp.Migrate(ctx, db) },
	} {
		if err := migrate(); err != nil {
			log.Fatal(err)
		}
	}
	svc, err := messaging.New(ctx, db, &messaging.Options{Providers: []provider.Provider{sandbox.New()}})
	if err != nil {
		log.Fatal(err)
	}
	registry, err := mcp.New(ctx, db, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := functions.Register(registry, svc, nil); err != nil {
		log.Fatal(err)
	}
	ref, err := svc.For(messaging.OneAccount).References().Create(ctx, messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
	if err != nil {
		log.Fatal(err)
	}

	reader := mcp.Caller{Account: messaging.OneAccount, User: "agent", May: func(permission string) bool {
		return permission == mcp.PermissionExecute || permission == "references.read"
	}}
	about := json.RawMessage(fmt.Sprintf(`{"reference":%d}`, ref.ID))
	out := registry.Execute(ctx, reader, mcp.Request{Function: "get_reference_status", Arguments: about})
	var status struct{ Name, State string }
	if err := json.Unmarshal(out.Result, &status); err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Name, status.State)
	out = registry.Execute(ctx, reader, mcp.Request{Function: "list_chats", Arguments: about})
	fmt.Println(out.Success, out.Error.Code)
	// Output:
	// Shop CONNECTED
	// false forbidden
}
