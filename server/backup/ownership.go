package backup

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
)

// The rows of an account, whose id is $1, that others refer to.
const (
	itsReferences = `SELECT id FROM messaging_reference WHERE account = $1`
	itsEndpoints  = `SELECT id FROM webhook_endpoint WHERE account = $1`
	itsPhones     = `SELECT jid FROM web_device WHERE reference IN (` + itsReferences + `)`
	itsRuns       = `SELECT inbox FROM flow_run WHERE account = $1`
	itsSubscriber = `(subscriber = $1 OR substr(subscriber, 1, length($1) + 1) = $1 || '/'
		OR subscriber IN (SELECT CAST(id AS TEXT) FROM (` + itsReferences + `)) OR subscriber IN (` + itsEndpoints + `))`
)

// rules are the conditions on the rows of an account, by the names of tables whose
// columns do not tell. "" means that no row belongs to an account.
var rules = map[string]string{
	"auth_account":             `id = $1`,
	"auth_limit":               "",
	"auth_signup":              "",
	"billing_event":            "",
	"clock_mark":               "",
	"usagecounter_mark":        "",
	"flow_document":            `hash IN (SELECT document FROM flow_run WHERE account = $1)`,
	"flow_merge":               `keep IN (` + itsRuns + `)`,
	"keyring_check":            "",
	"messaging_change":         "", // readers of the stream are beyond them
	"messaging_library":        "",
	"messaging_search_backlog": "",
	"queue_job":                `partition_id IN (SELECT id FROM queue_partition WHERE ` + itsSubscriber + `)`,
	"queue_node":               "",
	"queue_partition":          itsSubscriber,
	"queue_redirect":           "", // they are for writers that were late
	"queue_review":             itsSubscriber,
	"queue_subscriber":         itsSubscriber,
	"server_probe":             "",
	"server_proxy":             "",
	"usage_table":              "",
	"webhook_attempt":          `endpoint IN (` + itsEndpoints + `)`,
	"whatsmeow_device":         `jid IN (` + itsPhones + `)`,
	"whatsmeow_lid_map":        `lid IN (SELECT lid FROM web_lid WHERE reference IN (` + itsReferences + `))`,
	"whatsmeow_privacy_tokens": `our_jid IN (` + itsPhones + `)`,
}

// shared are the tables in which rows of several accounts may be the same, or of which
// there is one row.
var shared = []string{"auth_first", "flow_document", "whatsmeow_lid_map"}

// link is a foreign key.
type link struct {
	From  string `db:"from"`
	Table string `db:"table"`
	To    string `db:"to"`
}

// owned returns the conditions on the rows of an account, whose id is $1, by the names
// of tables: those of [rules], else by the column with the account or the reference,
// else by a foreign key. q is a SQLite database, and tables are sorted.
func owned(ctx context.Context, q sqlx.QueryerContext, tables []table) (map[string]string, error) {
	conditions := map[string]string{}
	for _, t := range tables {
		if rule, ok := rules[t.Name]; ok {
			conditions[t.Name] = rule
			continue
		}
		var links []link
		if err := sqlx.SelectContext(ctx, q, &links, `SELECT "from", "table", "to" FROM pragma_foreign_key_list($1) ORDER BY id, seq`, t.Name); err != nil {
			return nil, err
		}
		has := func(name string) bool {
			return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name == name })
		}
		switch {
		case has("account"):
			conditions[t.Name] = `account = $1`
		case has("account_id"):
			conditions[t.Name] = `account_id = $1`
		case has("reference"):
			conditions[t.Name] = `reference IN (` + itsReferences + `)`
		case len(links) > 0 && conditions[links[0].Table] != "":
			l := links[0]
			conditions[t.Name] = fmt.Sprintf(`%s IN (SELECT %s FROM %s WHERE %s)`, quoted(l.From), quoted(l.To), l.Table, conditions[l.Table])
		default:
			return nil, fmt.Errorf("the rows of table %s belong to no account", t.Name)
		}
	}
	return conditions, nil
}
