package delivery

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
)

// What a delivery's id is made of, in addition to its event's time: the event's number
// and a hash of the endpoint, which together fill the 74 free bits of a UUIDv7.
const (
	numberBits = 44
	hashHigh   = 12
	hashLow    = 18
)

// DeliveryID names an event on its way to an endpoint. It is not stored: the
// attempts of a delivery are found by the number in it.
func (e *Event) DeliveryID(endpoint string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(endpoint))
	hash := h.Sum64()
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(max(e.Time().UnixMilli(), 0))<<16|0x7000|hash&(1<<hashHigh-1))
	low := uint64(e.Number)&(1<<numberBits-1)<<hashLow | hash>>hashHigh&(1<<hashLow-1)
	binary.BigEndian.PutUint64(id[8:], 1<<63|low)
	return id.String()
}

// NumberOf is the number of the event in a delivery's id, false when it can be
// none of ours.
func NumberOf(delivery string) (int64, bool) {
	id, err := uuid.Parse(delivery)
	if err != nil || id.Version() != 7 || id.Variant() != uuid.RFC4122 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(id[8:])&(1<<62-1)) >> hashLow, true
}

// Time is when the event happened.
func (e *Event) Time() time.Time { return database.Time(e.At) }

// Erased reports that the content of the event was erased: no event begins
// without a body.
func (e *Event) Erased() bool { return len(e.Body) == 0 }
