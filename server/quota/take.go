package quota

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	// readInterval is the maximum age of a reading, retryInterval that of a reading
	// by which a take is refused.
	readInterval  = 5 * time.Second
	retryInterval = time.Second
	// slowInterval is the maximum age of a reading that takes long.
	slowInterval = time.Minute

	apiWindow = time.Minute
	day       = 24 * time.Hour
)

// meter is the usage of an account as known to this process.
type meter struct {
	read  int64 // time of the last reading
	added int64 // taken in this process since
	at    time.Time
	since time.Time // beginning of the counted period
}

// interval returns how long a reading is valid.
func (n Name) interval() time.Duration {
	if n == Contacts || n == Runs {
		return slowInterval
	}
	return readInterval
}

// since returns the beginning of the counted period.
func (n Name) since(now time.Time) time.Time {
	if n.Daily() {
		return now.UTC().Truncate(day)
	}
	return time.Time{}
}

// Take takes n of a quota, or returns an [*Exceeded] and takes nothing. If the last
// reading is too old it reads through on, a transaction or the database.
func (s *Service) Take(ctx context.Context, on database.Executor, account string, name Name, n int64) error {
	q := s.db.Reader(on)
	of, err := s.Limits(ctx, q, account)
	if err != nil || of[name] == 0 {
		return err
	}
	now, limit := s.opts.Now(), of[name]
	fits, age := s.add(key{account, name}, n, limit, now)
	switch {
	case fits && age < name.interval():
		return nil
	case !fits && age < retryInterval:
		return s.exceeded(name, limit, now)
	case fits:
		s.add(key{account, name}, -n, limit+n, now) // it is counted again below
	}
	used, err := s.used(ctx, q, account, name, now)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.meters[key{account, name}] = &meter{read: used, at: now, since: name.since(now)}
	s.mu.Unlock()
	if fits, _ = s.add(key{account, name}, n, limit, now); !fits {
		return s.exceeded(name, limit, now)
	}
	return nil
}

// add adds n if that is within the limit, and returns the age of the reading.
func (s *Service) add(k key, n, limit int64, now time.Time) (fits bool, age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	m := s.meters[k]
	if m == nil || !m.since.Equal(k.name.since(now)) {
		return false, slowInterval
	}
	if m.read+m.added+n > limit {
		return false, now.Sub(m.at).Abs()
	}
	m.added += n
	return true, now.Sub(m.at).Abs()
}

// sweep removes old readings. s.mu must be held.
func (s *Service) sweep(now time.Time) {
	if now.Sub(s.swept).Abs() < slowInterval {
		return
	}
	s.swept = now
	for k, m := range s.meters {
		if now.Sub(m.at).Abs() > 2*slowInterval {
			delete(s.meters, k)
		}
	}
	for account, l := range s.limits {
		if now.Sub(l.at).Abs() > slowInterval {
			delete(s.limits, account)
		}
	}
}

func (s *Service) used(ctx context.Context, q database.Reader, account string, name Name, now time.Time) (int64, error) {
	count := s.opts.Used[name]
	if count == nil {
		return 0, nil
	}
	used, err := count(ctx, q, account, name.since(now))
	if err != nil {
		return 0, fmt.Errorf("counting %s of an account: %w", name, err)
	}
	return used, nil
}

func (s *Service) exceeded(name Name, limit int64, now time.Time) error {
	e := &Exceeded{Name: name, Limit: limit}
	if name.Daily() {
		e.After = name.since(now).Add(day).Sub(now)
	}
	return e
}

// TakeTx is like [Service.Take] but exact: tx must create what is taken, and
// transactions of one account run one after the other.
func (s *Service) TakeTx(ctx context.Context, on database.Executor, account string, name Name, n int64) error {
	tx, err := s.db.Join(on)
	if err != nil {
		return err
	}
	of, err := s.Limits(ctx, tx, account)
	if err != nil || of[name] == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO quota_lock (account) VALUES ($1) ON CONFLICT (account) DO UPDATE SET account = excluded.account`, account); err != nil {
		return fmt.Errorf("locking the quotas of an account: %w", err)
	}
	now := s.opts.Now()
	used, err := s.used(ctx, tx, account, name, now)
	if err != nil {
		return err
	}
	if used+n > of[name] {
		return s.exceeded(name, of[name], now)
	}
	return nil
}

// Request counts a request of an account on this node. Its window is a minute that
// begins with the first request.
func (s *Service) Request(ctx context.Context, account string) error {
	of, err := s.Limits(ctx, s.db, account)
	if err != nil || of[API] == 0 {
		return err
	}
	now, k := s.opts.Now(), key{account, API}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	m := s.meters[k]
	if m == nil || now.Sub(m.at).Abs() >= apiWindow {
		m = &meter{at: now}
		s.meters[k] = m
	}
	if m.added >= of[API] {
		return &Exceeded{API, of[API], m.at.Add(apiWindow).Sub(now)}
	}
	m.added++
	return nil
}

// State is the state of a quota of an account.
type State struct {
	Limit    int64 // 0: unlimited
	Used     int64
	ResetsAt time.Time // zero: it decreases only when something is deleted
}

// States returns the current states of all quotas of an account.
func (s *Service) States(ctx context.Context, account string) (map[Name]State, error) {
	of, err := s.Limits(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	out, now := map[Name]State{}, s.opts.Now()
	for _, name := range Names() {
		state := State{Limit: of[name]}
		if name == API {
			state.Used, state.ResetsAt = s.requests(account, now)
			out[name] = state
			continue
		}
		if state.Used, err = s.used(ctx, s.db, account, name, now); err != nil {
			return nil, err
		}
		if name.Daily() {
			state.ResetsAt = name.since(now).Add(day)
		}
		out[name] = state
	}
	return out, nil
}

// requests returns the number of requests of an account to this node in the current
// window.
func (s *Service) requests(account string, now time.Time) (int64, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.meters[key{account, API}]
	if m == nil || now.Sub(m.at).Abs() >= apiWindow {
		return 0, now.Add(apiWindow)
	}
	return m.added, m.at.Add(apiWindow)
}
