package cloud

import (
	"fmt"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// Product shows one product of a catalog.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/guides/sell-products-and-services
type Product struct {
	CatalogID string `json:"catalog_id"`
	ProductID string `json:"product_retailer_id"` // the seller's id
}

func (Product) kind() string { return "product" }

func (p Product) wire() any { return p }

func (p Product) check(r *graph.Rules, at string) {
	r.Needs(at+".catalog_id", p.CatalogID)
	r.Needs(at+".product_retailer_id", p.ProductID)
}

// ProductList shows up to 30 products of a catalog in up to ten sections. It
// needs a header.
type ProductList struct {
	CatalogID string
	Sections  []ProductSection
}

// ProductSection is a part of a [ProductList]. Its title has at most 24
// characters, and is required if there are several sections.
type ProductSection struct {
	Title    string
	Products []string // the seller's ids
}

func (ProductList) kind() string { return "product_list" }

func (l ProductList) wire() any {
	type item struct {
		ID string `json:"product_retailer_id"`
	}
	type section struct {
		Title string `json:"title,omitempty"`
		Items []item `json:"product_items"`
	}
	sections := make([]section, len(l.Sections))
	for i, s := range l.Sections {
		sections[i].Title = s.Title
		for _, id := range s.Products {
			sections[i].Items = append(sections[i].Items, item{id})
		}
	}
	return map[string]any{"catalog_id": l.CatalogID, "sections": sections}
}

func (l ProductList) check(r *graph.Rules, at string) {
	r.Needs(at+".catalog_id", l.CatalogID)
	r.Count(at+".sections", len(l.Sections), maxSections)
	n := 0
	for i, s := range l.Sections {
		in := fmt.Sprintf("%s.sections[%d]", at, i)
		r.Must(s.Title != "" || len(l.Sections) == 1, in+".title", "must not be empty where there are several sections")
		r.MaxLength(in+".title", s.Title, maxTitle)
		r.Must(len(s.Products) > 0, in+".product_items", "must not be empty")
		for j, id := range s.Products {
			r.Needs(fmt.Sprintf("%s.product_items[%d].product_retailer_id", in, j), id)
		}
		n += len(s.Products)
	}
	if n > maxProducts {
		r.Fail(at+".sections", "must hold at most %d products in total", maxProducts)
	}
}

// Catalog shows the number's catalog. ThumbnailProductID is the product whose
// picture is shown; "": the first.
type Catalog struct {
	ThumbnailProductID string `json:"thumbnail_product_retailer_id,omitempty"`
}

func (Catalog) kind() string { return "catalog_message" }

func (c Catalog) wire() any { return named("catalog_message", c) }

func (Catalog) check(*graph.Rules, string) {}

// OrderDetails asks for a payment. It is available in some countries.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/payments-api
type OrderDetails struct {
	ReferenceID   string `json:"reference_id"`
	Type          string `json:"type"`         // digital-goods or physical-goods
	PaymentType   string `json:"payment_type"` // "upi"
	Configuration string `json:"payment_configuration,omitempty"`
	Currency      string `json:"currency"`
	Total         Amount `json:"total_amount"`
	Order         Basket `json:"order"`
}

// Basket lists the items of an order.
type Basket struct {
	Status   string       `json:"status"` // "pending"
	Items    []BasketItem `json:"items"`
	Subtotal Amount       `json:"subtotal"`
	Tax      Amount       `json:"tax"`
	Shipping *Amount      `json:"shipping,omitempty"`
	Discount *Amount      `json:"discount,omitempty"`
}

// BasketItem is one item of a [Basket].
type BasketItem struct {
	ProductID string  `json:"retailer_id"`
	Name      string  `json:"name"`
	Quantity  int     `json:"quantity"`
	Amount    Amount  `json:"amount"`
	Sale      *Amount `json:"sale_amount,omitempty"` // the reduced price
}

// Amount is a sum of money: Value divided by Offset, which is 100.
type Amount struct {
	Value       int64  `json:"value"`
	Offset      int    `json:"offset"`
	Description string `json:"description,omitempty"`
	Program     string `json:"discount_program_name,omitempty"`
}

// Cents is an [Amount] of hundredths of the currency.
func Cents(n int64) Amount { return Amount{Value: n, Offset: 100} }

func (OrderDetails) kind() string { return "order_details" }

func (o OrderDetails) wire() any { return named("review_and_pay", o) }

func (o OrderDetails) check(r *graph.Rules, at string) {
	at += ".parameters"
	r.Needs(at+".reference_id", o.ReferenceID)
	r.Needs(at+".currency", o.Currency)
	r.Must(len(o.Order.Items) > 0, at+".order.items", "must not be empty")
	o.Total.check(r, at+".total_amount")
	o.Order.Subtotal.check(r, at+".order.subtotal")
	o.Order.Tax.check(r, at+".order.tax")
	for i, item := range o.Order.Items {
		item.Amount.check(r, fmt.Sprintf("%s.order.items[%d].amount", at, i))
	}
}

func (a Amount) check(r *graph.Rules, at string) {
	r.Must(a.Offset == 100, at+".offset", "must be 100")
	r.Must(a.Value >= 0, at+".value", "must not be negative")
}

// OrderStatus reports the status of an order of [OrderDetails].
type OrderStatus struct {
	ReferenceID string
	Status      string // processing, partially_shipped, shipped, completed, canceled
	Description string // "": none
}

func (OrderStatus) kind() string { return "order_status" }

func (o OrderStatus) wire() any {
	type order struct {
		Status      string `json:"status"`
		Description string `json:"description,omitempty"`
	}
	return named("review_order", struct {
		ReferenceID string `json:"reference_id"`
		Order       order  `json:"order"`
	}{o.ReferenceID, order{o.Status, o.Description}})
}

func (o OrderStatus) check(r *graph.Rules, at string) {
	r.Needs(at+".parameters.reference_id", o.ReferenceID)
	r.Needs(at+".parameters.order.status", o.Status)
}
