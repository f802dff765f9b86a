package messaging_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// costed counts what is done with bodies.
type costed struct {
	*cloud.Provider
	verified      int // times
	bytes         int // that were signed for it
	routed, taken int // bodies, parts
}

func (c *costed) Verify(secret string, header http.Header, body []byte) bool {
	c.verified++
	c.bytes += len(body)
	return c.Provider.Verify(secret, header, body)
}

func (c *costed) Route(body []byte) ([]provider.Part, error) {
	c.routed++
	return c.Provider.Route(body)
}

func (c *costed) Parse(part provider.Part) ([]provider.Event, []provider.Bad) {
	c.taken++
	return c.Provider.Parse(part)
}

// lookUp is in the statement that finds who claims ids.
const lookUp = "AS claimed"

// costSetup is a service that counts, on a network that knows the owner's
// token only.
func costSetup(t *testing.T, db *sqlx.DB) (*fixture, *costed, *testkit.Asked) {
	t.Helper()
	net := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{
		{PhoneNumberID: "1001", BusinessAccountID: "2001", AccessToken: ownerToken, AppSecret: ownerSecret},
	}})
	t.Cleanup(net.Close)
	p := &costed{Provider: cloud.New(&cloud.Options{GraphURL: net.URL})}
	counted, asked := testkit.Counting(t, db)
	return setup(t, counted, config{options: func(o *messaging.Options) { o.Providers = append(o.Providers, p) }}), p, asked
}

// squat has n strangers claim the owner's number, each with a secret of its
// own.
func (f *fixture) squat(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		f.cloudReference(t, fmt.Sprint("stranger ", i), map[string]string{"appSecret": strange(i), "accessToken": "none"})
	}
}

func strange(i int) string { return fmt.Sprint("a secret of a stranger's, number ", i) }

// TestForgedCallbacksCostLittle posts what nobody here signed.
func TestForgedCallbacksCostLittle(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, cost, asked := costSetup(t, db)
		f.squat(t, 100)
		changes := func(n int, phone func(int) int) string {
			all := make([]string, n)
			for i := range all {
				all[i] = change(fmt.Sprint(phone(i)))
			}
			return callback(all...)
		}
		same := func(int) int { return 1001 }
		unknown := func(i int) int { return 700_000 + i }
		pad := func(body string, n int) string {
			return strings.TrimSuffix(body, "}") + `,"pad":"` + strings.Repeat("x", n-len(body)-9) + `"}`
		}
		for name, c := range map[string]struct {
			body          string
			secrets, asks int
		}{
			"4 MiB to a squatted number":       {pad(changes(1, same), 4<<20), 3, 1},
			"1 MiB to a squatted number":       {pad(changes(1, same), 1<<20), 12, 1},
			"a squatted number 6000 times":     {changes(6000, same), 12, 1},
			"10000 unknown numbers":            {changes(10_000, unknown), 12, 1}, // the account is squatted, too
			"10000 unknown numbers of nobody":  {strings.ReplaceAll(changes(10_000, unknown), "2001", "9"), 0, 1},
			"a small one to a squatted number": {changes(1, same), 64, 1},
			"no id at all":                     {pad(`{"object":"whatsapp_business_account"}`, 4<<20), 0, 0},
			"brackets":                         {`{"object":"whatsapp_business_account","entry":[` + strings.Repeat(`[],`, 1<<20) + `0]}`, 0, 0},
		} {
			f.svc.ForgetReferences() // as on a node that has just begun
			for range 2 {
				*cost = costed{Provider: cost.Provider}
				before := asked.Of(lookUp)
				require.ErrorIs(t, f.post(t, "nobody's secret", c.body), messaging.ErrUnverified, name)
				require.Equal(t, c.asks, asked.Of(lookUp)-before, name)
				require.LessOrEqual(t, cost.verified, c.secrets, name)
				require.LessOrEqual(t, cost.bytes, max(3*len(c.body), 12<<20), name)
				require.Zero(t, cost.routed+cost.taken, "%s: it is not taken apart", name)
			}
		}
		// Without a signature no id is looked for.
		before := asked.Of(lookUp)
		body := changes(1, same)
		for _, header := range []http.Header{{}, {graph.SignatureHeader: {"sha256=0"}}, {graph.SignatureHeader: {"", ""}}} {
			require.ErrorIs(t, f.svc.Callback(t.Context(), header, []byte(body)), messaging.ErrUnverified)
		}
		require.Equal(t, before, asked.Of(lookUp))
	})
}

// TestSquattersCannotShutOutTheOwner has more of them than secrets are tried.
func TestSquattersCannotShutOutTheOwner(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, cost, _ := costSetup(t, db)
		f.squat(t, 40)
		ref := f.cloudReference(t, "owner", nil)
		hello := func(id string) string { return callback(change("1001", item(id, "x"))) }
		require.NoError(t, f.post(t, ownerSecret, hello("w1")), "the newest is tried")
		// Its secret has signed: none that comes later goes before it, also of a
		// body for which few are tried.
		f.squat(t, 80)
		large := hello("w2") + strings.Repeat(" ", 3<<20)
		cost.verified = 0
		require.NoError(t, f.post(t, ownerSecret, large))
		require.Equal(t, 1, cost.verified)
		require.Equal(t, []string{"w1", "w2"}, f.received(t, ref))

		// A new secret has signed nothing, and strangers deceive themselves. The
		// token shows that the owner may read the number.
		for i := 70; i < 80; i++ {
			f.clock.Advance(time.Second)
			require.NoError(t, f.post(t, strange(i), hello(fmt.Sprint("forged", i))))
		}
		_, err := f.svc.For("owner").References().Update(t.Context(), ref, messaging.ReferenceChange{Settings: map[string]string{"appSecret": "rotated secret"}})
		require.NoError(t, err)
		f.squat(t, 80)
		require.ErrorIs(t, f.post(t, "rotated secret", hello("w3")), messaging.ErrUnverified)
		_, err = f.svc.For("owner").Sessions().Start(t.Context(), ref)
		require.NoError(t, err)
		cost.verified = 0
		require.NoError(t, f.post(t, "rotated secret", strings.Replace(large, "w2", "w3", 1)))
		require.Equal(t, 1, cost.verified)
		require.Equal(t, []string{"w1", "w2", "w3"}, f.received(t, ref))
	})
}

// TestAccountCannotClaimANumberAtWill: it would take the places of others.
func TestAccountCannotClaimANumberAtWill(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _, _ := costSetup(t, db)
		made := make(chan provider.ReferenceID, 20)
		var group errgroup.Group
		for i := range cap(made) { // at once
			group.Go(func() error {
				r, err := f.svc.For("stranger").References().Create(t.Context(), messaging.NewReference{
					Name: "Squat", Type: cloud.Kind, Settings: cloudSettings(map[string]string{"appSecret": strange(i), "accessToken": "none"}),
				})
				if bad, ok := errors.AsType[*messaging.Invalid](err); ok && bad.Field == "settings" {
					return nil
				}
				made <- r.ID
				return err
			})
		}
		require.NoError(t, group.Wait())
		require.Len(t, made, 10)
		rename := func(account string, id provider.ReferenceID, settings map[string]string) error {
			_, err := f.svc.For(account).References().Update(t.Context(), id, messaging.ReferenceChange{Settings: settings})
			return err
		}
		first := <-made
		require.NoError(t, rename("stranger", first, map[string]string{"appSecret": "another"}), "what is there can be changed")
		other := f.cloudReference(t, "stranger", map[string]string{"phoneNumberId": "1002"})
		require.ErrorContains(t, rename("stranger", other, map[string]string{"phoneNumberId": "1001"}), "10 references")
		require.NoError(t, rename("stranger", first, map[string]string{"phoneNumberId": "1003"}))
		require.NoError(t, rename("stranger", other, map[string]string{"phoneNumberId": "1001"}), "a place is free")
		f.cloudReference(t, "owner", nil)
	})
}

// TestGroupCannotShutOutTheOwner has a stranger claim the owner's business
// account with many numbers of which the owner has none.
func TestGroupCannotShutOutTheOwner(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _, _ := costSetup(t, db)
		ref := f.cloudReference(t, "owner", nil)
		for i := range 80 {
			f.cloudReference(t, "stranger", map[string]string{"phoneNumberId": fmt.Sprint(5000 + i), "appSecret": strange(i), "accessToken": "none"})
		}
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", item("w1", "x")))))
		require.Equal(t, []string{"w1"}, f.received(t, ref))
	})
}

// TestClaimsAreReadInOrder: how many claim an id does not matter to who reads
// the first of them.
func TestClaimsAreReadInOrder(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _, _ := costSetup(t, db)
		f.squat(t, 1)
		_, err := db.ExecContext(t.Context(), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			INSERT INTO messaging_reference (account, name, kind, settings, callback_url, line_key, group_key, verify_hash, revision, state, proved,
				remote_id, remote_name, remote_biz, connected_us, inbound_us, ack_us, probe_us, error_code, error_message, error_us, error_retry_us, created_us, updated_us)
			SELECT account, name, kind, settings, callback_url, line_key, group_key, verify_hash, revision, state, proved,
				remote_id, remote_name, remote_biz, connected_us, inbound_us, ack_us, probe_us, error_code, error_message, error_us, error_retry_us, created_us, updated_us
			FROM messaging_reference CROSS JOIN n`)
		require.NoError(t, err)
		db.MustExec(`ANALYZE`)
		for _, ids := range [][]string{{"1001"}, {"1001", "1002", "1003", "1004", "1005", "1006"}} {
			query, args := f.svc.ClaimQuery(cloud.Kind, ids, []string{"2001", "2002"}, 65)
			explain := `EXPLAIN `
			if db.DriverName() == "sqlite" {
				explain += `QUERY PLAN `
			}
			rows, err := db.QueryContext(t.Context(), explain+query, args...)
			require.NoError(t, err)
			defer rows.Close() //nolint:errcheck // Err reports it
			var plan []string
			for rows.Next() {
				row, err := sqlx.SliceScan(rows)
				require.NoError(t, err)
				plan = append(plan, fmt.Sprint(row[len(row)-1]))
			}
			require.NoError(t, rows.Err())
			whole := strings.Join(plan, "\n")
			require.Contains(t, whole, "messaging_reference_line")
			require.Contains(t, whole, "messaging_reference_group")
			require.NotContains(t, whole, "TEMP B-TREE")
			require.NotContains(t, whole, "Sort")
		}
	})
}
