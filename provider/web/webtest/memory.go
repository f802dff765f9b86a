package webtest

import (
	"context"
	"maps"
	"sync"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/util/keys"
)

// memory stores what a phone's Signal sessions and app state need. It trusts
// every identity, like a person who does not check them.
type memory struct {
	store.NoopStore // for what a phone does not need

	mu         sync.Mutex
	sessions   map[string][]byte
	senderKeys map[string][]byte
	preKeys    map[uint32]*keys.PreKey
	lastPreKey uint32
	stateKeys  map[string]store.AppStateSyncKey
	versions   map[string]version
	macs       map[string][]byte
}

type version struct {
	number uint64
	hash   [128]byte
}

func newMemory() *memory {
	return &memory{
		sessions: map[string][]byte{}, senderKeys: map[string][]byte{}, preKeys: map[uint32]*keys.PreKey{},
		stateKeys: map[string]store.AppStateSyncKey{}, versions: map[string]version{}, macs: map[string][]byte{},
	}
}

func (m *memory) do(fn func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fn()
}

// clear deletes what belongs to an identity.
func (m *memory) clear() {
	m.do(func() {
		clear(m.sessions)
		clear(m.senderKeys)
		clear(m.preKeys)
	})
}

// newPreKey makes a one-time key.
func (m *memory) newPreKey() (k *keys.PreKey) {
	m.do(func() {
		m.lastPreKey++
		k = keys.NewPreKey(m.lastPreKey)
		m.preKeys[k.KeyID] = k
	})
	return k
}

// GetSession implements store.SessionStore.
func (m *memory) GetSession(_ context.Context, address string) (session []byte, _ error) {
	m.do(func() { session = m.sessions[address] })
	return session, nil
}

// HasSession implements store.SessionStore.
func (m *memory) HasSession(_ context.Context, address string) (ok bool, _ error) {
	m.do(func() { ok = m.sessions[address] != nil })
	return ok, nil
}

// PutSession implements store.SessionStore.
func (m *memory) PutSession(_ context.Context, address string, session []byte) error {
	m.do(func() { m.sessions[address] = session })
	return nil
}

// GetPreKey implements store.PreKeyStore.
func (m *memory) GetPreKey(_ context.Context, id uint32) (k *keys.PreKey, _ error) {
	m.do(func() { k = m.preKeys[id] })
	return k, nil
}

// RemovePreKey implements store.PreKeyStore.
func (m *memory) RemovePreKey(_ context.Context, id uint32) error {
	m.do(func() { delete(m.preKeys, id) })
	return nil
}

// PutSenderKey implements store.SenderKeyStore.
func (m *memory) PutSenderKey(_ context.Context, group, user string, key []byte) error {
	m.do(func() { m.senderKeys[group+" "+user] = key })
	return nil
}

// GetSenderKey implements store.SenderKeyStore.
func (m *memory) GetSenderKey(_ context.Context, group, user string) (key []byte, _ error) {
	m.do(func() { key = m.senderKeys[group+" "+user] })
	return key, nil
}

// IsTrustedIdentity implements store.IdentityStore.
func (m *memory) IsTrustedIdentity(context.Context, string, [32]byte) (bool, error) { return true, nil }

// PutAppStateSyncKey implements store.AppStateSyncKeyStore.
func (m *memory) PutAppStateSyncKey(_ context.Context, id []byte, key store.AppStateSyncKey) error {
	m.do(func() { m.stateKeys[string(id)] = key })
	return nil
}

// GetAppStateSyncKey implements store.AppStateSyncKeyStore.
func (m *memory) GetAppStateSyncKey(_ context.Context, id []byte) (found *store.AppStateSyncKey, _ error) {
	m.do(func() {
		if key, ok := m.stateKeys[string(id)]; ok {
			found = &key
		}
	})
	return found, nil
}

// PutAppStateVersion implements store.AppStateStore.
func (m *memory) PutAppStateVersion(_ context.Context, name string, number uint64, hash [128]byte) error {
	m.do(func() { m.versions[name] = version{number, hash} })
	return nil
}

// GetAppStateVersion implements store.AppStateStore.
func (m *memory) GetAppStateVersion(_ context.Context, name string) (number uint64, hash [128]byte, _ error) {
	m.do(func() { number, hash = m.versions[name].number, m.versions[name].hash })
	return number, hash, nil
}

// PutAppStateMutationMACs implements store.AppStateStore.
func (m *memory) PutAppStateMutationMACs(_ context.Context, name string, _ uint64, mutations []store.AppStateMutationMAC) error {
	m.do(func() {
		for _, mutation := range mutations {
			m.macs[name+" "+string(mutation.IndexMAC)] = mutation.ValueMAC
		}
	})
	return nil
}

// DeleteAppStateMutationMACs implements store.AppStateStore.
func (m *memory) DeleteAppStateMutationMACs(_ context.Context, name string, indexMACs [][]byte) error {
	m.do(func() {
		maps.DeleteFunc(m.macs, func(key string, _ []byte) bool {
			for _, index := range indexMACs {
				if key == name+" "+string(index) {
					return true
				}
			}
			return false
		})
	})
	return nil
}

// GetAppStateMutationMAC implements store.AppStateStore.
func (m *memory) GetAppStateMutationMAC(_ context.Context, name string, indexMAC []byte) (mac []byte, _ error) {
	m.do(func() { mac = m.macs[name+" "+string(indexMAC)] })
	return mac, nil
}
