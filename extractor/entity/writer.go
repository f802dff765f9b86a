package entity

import (
	"time"

	"github.com/nyaruka/phonenumbers"
)

// Writer returns what the phone number of a writer (E.164, with or without +) says
// about the writer's texts: the region of numbers without a country, such as BR,
// and the time zone of dates. The region is "" and the zone nil if the number does
// not tell them. The zone is also nil if the number has several.
func Writer(phone string) (region string, zone *time.Location) {
	if phone == "" {
		return "", nil
	}
	if phone[0] != '+' {
		phone = "+" + phone
	}
	n, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return "", nil
	}
	region = phonenumbers.GetRegionCodeForNumber(n)
	zones, err := phonenumbers.GetTimezonesForNumber(n)
	if err != nil || len(zones) != 1 {
		return region, nil
	}
	if zone, err = time.LoadLocation(zones[0]); err != nil || zone == time.UTC {
		return region, nil
	}
	return region, zone
}
