package entity

import (
	"math"
	"strings"
)

// MoneyValue is an amount of money.
type MoneyValue struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217
}

// QuantityValue is a number of units.
type QuantityValue struct {
	Amount float64 `json:"amount"`
	Unit   string  `json:"unit"` // symbol: kg, km, °C
}

// amountScan reads numbers with a unit: percentages, quantities, money.
type amountScan struct{ *numberScan }

// percentageAt finds 12.5 %, and twelve per cent.
func (s *amountScan) percentageAt(i int) (any, int) {
	n, at := s.signed(i)
	if at == i {
		return nil, i
	}
	_, end := s.language.percent.at(s.tokens, at)
	if end == at {
		return nil, i
	}
	return tidy(n), end
}

// quantityAt finds 3 kg.
func (s *amountScan) quantityAt(i int) (any, int) {
	n, at := s.counted(i)
	unit, end := s.language.measures.at(s.tokens, at)
	if end == at && s.attachedUnit(i) {
		n, at = s.figured(i)
		unit, end = s.language.measures.at(s.tokens, at)
	}
	if at == i || end == at {
		return nil, i
	}
	n, end = s.andHalf(n, end)
	return QuantityValue{Amount: n, Unit: unit}, end
}

// attachedUnit reports whether a letter right after figures may be their unit: 8m,
// 10mm. Alone it would be a multiplier (million).
func (s *amountScan) attachedUnit(i int) bool {
	if s.sign(i) > i {
		i = s.sign(i)
	}
	return i < len(s.tokens) && s.tokens[i].kind == digits
}

// figured returns a number in figures with its sign, without a multiplier that
// follows.
func (s *amountScan) figured(i int) (float64, int) {
	if s.touched(i) {
		return 0, i
	}
	sign, from := 1.0, i
	if j := s.sign(i); j > i {
		sign, from = -1, j
	}
	n := s.figures(from)
	if n.end == 0 {
		return 0, i
	}
	return sign * n.value, n.end
}

// counted returns a number, or 1 for an article such as "a".
func (s *amountScan) counted(i int) (float64, int) {
	if n, at := s.signed(i); at > i {
		return n, at
	}
	_, at := s.language.phrases["one"].at(s.tokens, i)
	return 1, at
}

// andHalf adds a half that follows the unit: two kilos and a half.
func (s *amountScan) andHalf(n float64, i int) (float64, int) {
	if n == math.Trunc(n) {
		if _, end := s.language.phrases["andHalf"].at(s.tokens, i); end > i {
			return n + 0.5, end
		}
	}
	return n, i
}

// signed returns a number with its sign.
func (s *amountScan) signed(i int) (float64, int) {
	v, end := s.numberAt(i)
	switch n := v.(type) {
	case int64:
		return float64(n), end
	case float64:
		return n, end
	}
	return 0, i
}

// moneyAt finds $ 5, 5 €, five dollars and 20 cents.
func (s *amountScan) moneyAt(i int) (any, int) {
	if currency, at := s.language.signs.at(s.tokens, i); at > i && s.begins(i) && s.meant(i, at) {
		if f := s.numeral(at); f.end > 0 { // also right after letters: usd50
			n, end := f.value, f.end
			if _, again := s.language.currencies.at(s.tokens, end); again > end && s.tokens[again-1].kind == word {
				end = again // $ 5 dollars
			}
			return s.money(n, currency), end
		}
	}
	n, at := s.counted(i)
	if at == i {
		return nil, i
	}
	at = s.unitAt(at)
	if currency, end := s.language.currencies.at(s.tokens, at); end > at && s.ends(end) && s.meant(at, end) {
		n, end = s.scaled(n, end)
		n, end = s.andHalf(n, end)
		n, end = s.withCents(n, end)
		return s.money(n, currency), end
	}
	if currency, end := s.language.cents.at(s.tokens, at); end > at {
		return s.money(n/100, currency), end
	}
	return nil, i
}

// unitAt returns the position of an amount's unit. A hyphen, or the "de" in "a
// million de euros", may precede it.
func (s *amountScan) unitAt(i int) int {
	if s.hyphened(i) {
		return i + 1
	}
	if _, end := s.language.phrases["of"].at(s.tokens, i); end > i && s.language.scales[s.tokens[i-1].text] >= 1e6 {
		return end
	}
	return i
}

// begins and ends report whether a currency is a word of its own and not part of a
// longer word or number. Tokens of letters are always whole words; the R before $
// is not.
func (s *amountScan) begins(i int) bool {
	return s.tokens[i].kind == word || !s.joined(i) || i == 0 || s.tokens[i-1].kind == symbol
}

func (s *amountScan) ends(end int) bool {
	return s.tokens[end-1].kind == word || !s.joined(end) || s.tokens[end].kind != digits
}

// meant reports whether a word is meant as a currency code. Some codes are ordinary
// words as well (try, pen, cop): in lower case only the best-known codes count.
func (s *amountScan) meant(i, end int) bool {
	t := s.tokens[i]
	if end != i+1 || t.kind != word || len(t.text) != 3 || !s.language.codes[t.text] {
		return true
	}
	return s.text[t.start:t.end] == strings.ToUpper(t.text) || t.text == "usd" || t.text == "eur" || t.text == "gbp" || t.text == "brl" || t.text == "mxn"
}

// scaled reads a multiplier that follows the currency: 75 usd millones.
func (s *amountScan) scaled(n float64, i int) (float64, int) {
	if i < len(s.tokens) && s.tokens[i].kind == word {
		if scale, ok := s.language.scales[s.tokens[i].text]; ok && scale >= 1e6 {
			return n * scale, i + 1
		}
	}
	return n, i
}

// withCents reads cents that follow: and 20 cents, with 50.
func (s *amountScan) withCents(n float64, i int) (float64, int) {
	if n != math.Trunc(n) || i >= len(s.tokens) {
		return n, i
	}
	_, from := s.language.phrases["with"].at(s.tokens, i)
	plain := from > i || s.whole
	if from == i && s.language.and[s.tokens[i].text] {
		from = i + 1
	}
	if from >= len(s.tokens) {
		return n, i
	}
	cents, at := s.signed(from)
	if at == from || cents < 0 || cents >= 100 {
		return n, i
	}
	if _, end := s.language.cents.at(s.tokens, at); end > at {
		return n + cents/100, end
	}
	if plain {
		return n + cents/100, at
	}
	return n, i
}

// money returns an amount. A symbol or name that several countries use ($, peso)
// means the currency of the region. The table dollars says what $ means there.
func (s *amountScan) money(n float64, currency string) MoneyValue {
	if elsewhere, ok := strings.CutPrefix(currency, "$"); ok {
		if currency = dollars[s.region]; currency == "" {
			currency = elsewhere
		}
	}
	return MoneyValue{Amount: math.Round(n*1e4) / 1e4, Currency: currency}
}

// dollars maps a region to the currency that $ means there, where it is not the US
// dollar.
var dollars = map[string]string{
	"MX": "MXN", "AR": "ARS", "CL": "CLP", "CO": "COP", "UY": "UYU", "DO": "DOP", "CU": "CUP", "BR": "BRL",
	"CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD", "HK": "HKD", "TW": "TWD",
}
