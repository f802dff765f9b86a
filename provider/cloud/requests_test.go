package cloud_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/graph/template"
)

// call is a typed call of the client.
type call func(ctx context.Context, c *cloud.Client) error

func sending(to string, body cloud.Body) call {
	return func(ctx context.Context, c *cloud.Client) error {
		_, err := c.Send(ctx, cloud.Message{To: to, Body: body})
		return err
	}
}

func interactive(header *cloud.Header, body, footer string, action cloud.Action) cloud.Body {
	return cloud.Interactive{Header: header, Body: body, Footer: footer, Action: action}
}

func creating(name, language, category string, components ...template.ComponentDefinition) call {
	return func(ctx context.Context, c *cloud.Client) error {
		raw, err := template.Definition(components...)
		if err != nil {
			return err
		}
		_, err = c.CreateTemplate(ctx, provider.TemplateDefinition{Name: name, Language: language, Category: category, Components: raw})
		return err
	}
}

func textParameters(texts ...string) []template.Parameter {
	out := make([]template.Parameter, len(texts))
	for i, s := range texts {
		out[i] = template.Parameter{Type: "text", Text: s}
	}
	return out
}

const (
	us, rwanda = "16505551234", "250788555123"
	handle     = "4::aW1hZ2UvanBlZw==:FICTITIOUSHANDLE:e:1700000000:555300000000001:555400000000001:AAAA"
	fileID     = "4490709327384033"
)

// requests are the calls that make the shared requests, by their name.
func requests() map[string]call {
	english := template.Language{Code: "en_US"}
	deterministic := template.Language{Code: "en_US", Policy: "deterministic"}
	header := func(kind provider.MediaKind, link, name string) *cloud.Header {
		return &cloud.Header{Media: &cloud.Media{Kind: kind, Link: link, Filename: name}}
	}
	button := cloud.Buttons{{ID: "0", Title: "BUTTON1"}}
	buttons := func(h *cloud.Header) call {
		return sending(rwanda, interactive(h, "Interactive Button Msg", "", button))
	}
	custom := json.RawMessage(`{"CUSTOM_KEY":"CUSTOM_VALUE"}`)
	no := false
	all := map[string]call{
		"req_text_plain":   sending(rwanda, cloud.Text{Text: "Simple Message"}),
		"req_text_preview": sending(us, cloud.Text{Text: "Please visit https://youtu.be/hpltvTEiRrY.", PreviewURL: true}),
		"req_text_to_bsuid": func(ctx context.Context, c *cloud.Client) error {
			_, err := c.Send(ctx, cloud.Message{Recipient: "US.1234", Body: cloud.Text{Text: "Simple Message"}})
			return err
		},
		"req_reply_text": func(ctx context.Context, c *cloud.Client) error {
			_, err := c.Send(ctx, cloud.Message{To: us, ReplyTo: "wamid.PREV", Body: cloud.Text{Text: "TEXT_MSG_CONTENT"}})
			return err
		},
		"req_audio_id":               sending(us, cloud.Media{Kind: provider.Audio, ID: fileID}),
		"req_audio_link":             sending(rwanda, cloud.Media{Kind: provider.Audio, Link: "https://foo.bar/audio.mp3"}),
		"req_image_id":               sending(us, cloud.Media{Kind: provider.Image, ID: fileID}),
		"req_image_link_caption":     sending(rwanda, cloud.Media{Kind: provider.Image, Link: "https://foo.bar/image.jpg", Caption: "image caption"}),
		"req_video_id":               sending(us, cloud.Media{Kind: provider.Video, ID: fileID, Caption: "VIDEO_CAPTION_TEXT"}),
		"req_sticker_link":           sending(us, cloud.Media{Kind: provider.Sticker, Link: "https://example.com/s.webp"}),
		"req_document_id":            sending(us, cloud.Media{Kind: provider.Document, ID: fileID, Caption: "DOCUMENT_CAPTION_TO_SEND", Filename: "DOCUMENT_FILENAME"}),
		"req_document_link_filename": sending(rwanda, cloud.Media{Kind: provider.Document, Link: "https://foo.bar/document.pdf", Caption: "document caption", Filename: "document.pdf"}),
		"req_location":               sending(us, cloud.Location{Latitude: 37.758056, Longitude: -122.425332, Name: "META HQ", Address: "1 Hacker Way, Menlo Park, CA 94025"}),
		"req_reaction":               sending(us, cloud.Reaction{MessageID: "wamid.PREV", Emoji: "😀"}),
		"req_contacts": sending(us, cloud.Contacts{{
			Name: provider.CardName{Formatted: "John Smith", First: "John", Middle: "D.", Last: "Smith", Prefix: "Dr", Suffix: "Jr"},
			Phones: []provider.CardPhone{
				{Phone: "+1 (940) 555-1234", Type: "HOME"}, {Phone: "+1 (650) 555-1234", Type: "WORK", WaID: us},
			},
			Emails: []provider.CardEmail{{Email: "test@fb.com", Type: "WORK"}, {Email: "test@whatsapp.com", Type: "HOME"}},
			Addresses: []provider.CardAddress{
				{Street: "1 Hacker Way", City: "Menlo Park", State: "CA", Zip: "94025", Country: "United States", CountryCode: "us", Type: "HOME"},
				{Street: "200 Jefferson Dr", City: "Menlo Park", State: "CA", Zip: "94025", Country: "United States", CountryCode: "us", Type: "WORK"},
			},
			URLs:     []provider.CardURL{{URL: "https://www.facebook.com", Type: "WORK"}, {URL: "https://www.whatsapp.com", Type: "HOME"}},
			Org:      &provider.CardOrg{Company: "WhatsApp", Department: "Design", Title: "Manager"},
			Birthday: "2012-08-18",
		}}),

		"req_buttons_plain":           buttons(nil),
		"req_buttons_image_header":    buttons(header(provider.Image, "https://foo.bar/image.jpg", "")),
		"req_buttons_video_header":    buttons(header(provider.Video, "https://foo.bar/video.mp4", "")),
		"req_buttons_document_header": buttons(header(provider.Document, "https://foo.bar/document.pdf", "document.pdf")),
		"req_list_one_section_no_title": sending(rwanda, interactive(nil, "Interactive List Msg", "", cloud.List{Button: "Menu", Sections: []cloud.Section{{Rows: []cloud.Row{
			{ID: "0", Title: "ROW1"}, {ID: "1", Title: "ROW2"}, {ID: "2", Title: "ROW3", Description: "Third description"}, {ID: "3", Title: "ROW4"},
		}}}})),
		"req_list_full": sending(us, interactive(&cloud.Header{Text: "HEADER_TEXT"}, "BODY_TEXT", "FOOTER_TEXT", cloud.List{Button: "BUTTON_TEXT", Sections: []cloud.Section{
			{Title: "LIST_SECTION_1_TITLE", Rows: []cloud.Row{
				{ID: "LIST_SECTION_1_ROW_1_ID", Title: "SECTION_1_ROW_1_TITLE", Description: "SECTION_1_ROW_1_DESC"},
				{ID: "LIST_SECTION_1_ROW_2_ID", Title: "SECTION_1_ROW_2_TITLE", Description: "SECTION_1_ROW_2_DESC"},
			}},
			{Title: "LIST_SECTION_2_TITLE", Rows: []cloud.Row{
				{ID: "LIST_SECTION_2_ROW_1_ID", Title: "SECTION_2_ROW_1_TITLE", Description: "SECTION_2_ROW_1_DESC"},
				{ID: "LIST_SECTION_2_ROW_2_ID", Title: "SECTION_2_ROW_2_TITLE", Description: "SECTION_2_ROW_2_DESC"},
			}},
		}})),
		"req_cta_url":          sending(rwanda, interactive(nil, "Interactive URL msg", "", cloud.LinkButton{Text: "Visit", URL: "https://example.com"})),
		"req_location_request": sending(rwanda, interactive(nil, "Interactive send location", "", cloud.LocationRequest{})),
		"req_flow_published": sending(us, interactive(&cloud.Header{Text: "HEADER_TEXT"}, "BODY_TEXT", "FOOTER_TEXT", cloud.Flow{
			ID: "5557000000000003", Text: "Open Flow!", Token: "FLOW_TOKEN", Screen: "SCREEN_ID", Data: custom,
		})),
		"req_flow_draft_by_name": sending(us, interactive(&cloud.Header{Text: "Not shown in draft mode"}, "Not shown in draft mode", "Not shown in draft mode", cloud.Flow{
			Name: "my_flow", Text: "Not shown in draft mode", Token: "FLOW_TOKEN", Screen: "SCREEN_ID", Data: custom, Draft: true,
		})),
		"req_flow_data_exchange": sending(rwanda, interactive(nil, "Interactive form msg", "", cloud.Flow{ID: "123456", Text: "Book now", Token: "b2fdc934", Exchange: true})),
		"req_flow_navigate_with_data": sending(rwanda, interactive(nil, "Interactive form msg", "", cloud.Flow{
			ID: "123456", Text: "Book now", Screen: "BOOKING", Data: json.RawMessage(`{"name":"Bob","age":"32"}`),
		})),
		"req_product": sending(us, interactive(nil, "OPTIONAL_BODY_TEXT", "OPTIONAL_FOOTER_TEXT", cloud.Product{CatalogID: "367025965434465", ProductID: "ID_TEST_ITEM_1"})),
		"req_product_list": sending(us, interactive(&cloud.Header{Text: "YOUR_TEXT_HEADER_CONTENT"}, "YOUR_TEXT_BODY_CONTENT", "YOUR_TEXT_FOOTER_CONTENT", cloud.ProductList{
			CatalogID: "146265584024623", Sections: []cloud.ProductSection{
				{Title: "SECTION1_TITLE", Products: []string{"YOUR_PRODUCT1_SKU_IN_CATALOG", "YOUR_SECOND_PRODUCT1_SKU_IN_CATALOG"}},
				{Title: "SECTION2_TITLE", Products: []string{"YOUR_PRODUCT2_SKU_IN_CATALOG", "YOUR_SECOND_PRODUCT2_SKU_IN_CATALOG"}},
			},
		})),
		"req_catalog_message": sending("+"+us, interactive(nil,
			"Hello! Thanks for your interest. Ordering is easy. Just visit our catalog and add items to purchase.",
			"Best grocery deals on WhatsApp!", cloud.Catalog{ThumbnailProductID: "2lc20305pt"})),
		"req_order_details": sending(us, interactive(header(provider.Image, "https://example.com/bread.jpg", ""), "your-text-body-content", "your-text-footer-content", cloud.OrderDetails{
			ReferenceID: "unique-reference-id", Type: "digital-goods", PaymentType: "upi", Configuration: "my-payment-config-name",
			Currency: "INR", Total: cloud.Cents(1100), Order: cloud.Basket{
				Status:   "pending",
				Items:    []cloud.BasketItem{{ProductID: "1234567", Name: "bread", Quantity: 1, Amount: cloud.Cents(1500), Sale: new(cloud.Cents(1000))}},
				Subtotal: cloud.Cents(1000),
				Tax:      cloud.Amount{Value: 100, Offset: 100, Description: "optional_text"},
				Shipping: &cloud.Amount{Value: 100, Offset: 100, Description: "optional_text"},
				Discount: &cloud.Amount{Value: 100, Offset: 100, Description: "optional_text", Program: "optional_text"},
			},
		})),
		"req_order_status": sending(us, interactive(nil, "your-text-body-content", "", cloud.OrderStatus{
			ReferenceID: "unique-reference-id-from-order-details-msg", Status: "processing", Description: "optional-text",
		})),

		"req_template_bare": sending(us, cloud.TemplateMessage{Name: "hello_world", Language: english}),
		"req_template_body_params": sending(rwanda, cloud.TemplateMessage{Name: "revive_issue", Language: deterministic, Components: []template.Component{
			{Type: "body", Parameters: textParameters("Chef", "tomorrow")},
		}}),
		"req_template_image_header": sending(rwanda, cloud.TemplateMessage{Name: "revive_issue", Language: deterministic, Components: []template.Component{
			{Type: "header", Parameters: []template.Parameter{{Type: "image", Image: &template.File{Link: "https://foo.bar/image.jpg"}}}},
			{Type: "body", Parameters: textParameters("Chef", "tomorrow")},
		}}),
		"req_template_interactive": sending(us, cloud.TemplateMessage{Name: "template-name", Language: english, Components: []template.Component{
			{Type: "header", Parameters: []template.Parameter{{Type: "image", Image: &template.File{Link: "https://example.com/i.jpg"}}}},
			{Type: "body", Parameters: []template.Parameter{
				{Type: "text", Text: "text-string"},
				{Type: "currency", Currency: &template.Currency{Fallback: "$100.99", Code: "USD", Thousandth: 100990}},
				{Type: "date_time", DateTime: &template.DateTime{
					Fallback: "February 25, 1977", Calendar: "GREGORIAN", Year: 1977, Month: 2, DayOfMonth: 25, DayOfWeek: 5, Hour: 15, Minute: 33,
				}},
			}},
			{Type: "button", SubType: "quick_reply", Index: "0", Parameters: []template.Parameter{{Type: "payload", Payload: "aGlzIHRoaXMgaXMgY29v"}}},
			{Type: "button", SubType: "quick_reply", Index: "1", Parameters: []template.Parameter{{Type: "payload", Payload: "9rwnB8RbYmPF5t2Mn09x4h"}}},
		}}),
		"req_template_flow_button": sending(us, cloud.TemplateMessage{Name: "TEMPLATE_NAME", Language: english, Components: []template.Component{
			{Type: "button", SubType: "flow", Index: "0", Parameters: []template.Parameter{{Type: "action", Action: &template.ButtonAction{
				FlowToken: "FLOW_TOKEN", FlowData: map[string]any{"CUSTOM_KEY": "CUSTOM_VALUE"},
			}}}},
		}}),
		"req_template_catalog_button": sending("+"+us, cloud.TemplateMessage{Name: "intro_catalog_offer", Language: english, Components: []template.Component{
			{Type: "body", Parameters: textParameters("100", "400", "3")},
			{Type: "button", SubType: "CATALOG", Index: "0", Parameters: []template.Parameter{{Type: "action", Action: &template.ButtonAction{ThumbnailProductID: "2lc20305pt"}}}},
		}}),
		"req_marketing_message": func(ctx context.Context, c *cloud.Client) error {
			_, err := c.SendMarketing(ctx, cloud.Message{To: "16315552222", Body: cloud.TemplateMessage{
				Name: "promotional_offer", Language: template.Language{Code: "en"}, Components: []template.Component{{Type: "body", Parameters: []template.Parameter{
					{Type: "text", Text: "John Doe"}, {Type: "currency", Currency: &template.Currency{Fallback: "$25.00", Code: "USD", Thousandth: 25000}},
				}}},
			}}, cloud.Marketing{ProductPolicy: "STRICT", ActivitySharing: &no})
			return err
		},
	}
	for name, c := range managing() {
		all[name] = c
	}
	return all
}

// managing are the calls that are not about one message to a contact.
func managing() map[string]call {
	return map[string]call{
		"req_read_and_typing": func(ctx context.Context, c *cloud.Client) error {
			return c.MarkRead(ctx, "wamid.HBgLMTY1MDU1NTEyMzQVAgASGBQzQUYzMjEzNDM2RTZGQ0MzMDJBRgA=", true)
		},
		"req_register": func(ctx context.Context, c *cloud.Client) error {
			return c.Register(ctx, cloud.Registration{PIN: "123456", Region: "AE", Tier: "PROD"})
		},
		"req_business_profile": func(ctx context.Context, c *cloud.Client) error {
			return c.SetProfile(ctx, cloud.Profile{
				About: "Welcome to our business! We provide excellent service.", Address: "123 Business Street, City, State 12345",
				Description: "We are a leading provider of quality products and services.", Email: "contact@business.com", PictureHandle: handle,
				Websites: []string{"https://www.business.com", "https://www.facebook.com/business"}, Vertical: "RESTAURANT",
			})
		},
		"req_phone_webhook_override": func(ctx context.Context, c *cloud.Client) error {
			return c.SetCallback(ctx, "https://your-domain.com/webhook/override", "YOUR_VERIFY_TOKEN")
		},
		"req_subscribed_apps_override": func(ctx context.Context, c *cloud.Client) error {
			return c.Subscribe(ctx, "https://your-webhook-endpoint.com/webhook", "YOUR_VERIFY_TOKEN_PLACEHOLDER")
		},
		"req_template_create_image_header": creating("limited_time_offer_tuscan_getaway_2023", "en_US", "MARKETING",
			template.ComponentDefinition{Type: "HEADER", Format: "IMAGE", Example: &template.Example{HeaderHandle: []string{handle}}},
			template.ComponentDefinition{
				Type:    "BODY",
				Text:    "Hi {{1}}! For a limited time only you can get our {{2}} for as low as {{3}}. Tap the Offer Details button for more information.",
				Example: &template.Example{BodyText: [][]string{{"Mark", "Tuscan Getaway package", "800"}}},
			},
			template.ComponentDefinition{Type: "FOOTER", Text: "Offer valid until May 31, 2023"},
			template.ComponentDefinition{Type: "BUTTONS", Buttons: []template.ButtonDefinition{
				{Type: "PHONE_NUMBER", Text: "Call", PhoneNumber: "16505551111"},
				{Type: "URL", Text: "Shop Now", URL: "https://shop.example.com/shop?promo={{1}}", Example: []string{"summer2023"}},
			}}),
		"req_template_create_location_header": creating("order_delivery_update", "en_US", "UTILITY",
			template.ComponentDefinition{Type: "HEADER", Format: "LOCATION"},
			template.ComponentDefinition{
				Type:    "BODY",
				Text:    "Good news {{1}}! Your order #{{2}} is on its way to the location above. Thank you for your order!",
				Example: &template.Example{BodyText: [][]string{{"Mark", "566701"}}},
			},
			template.ComponentDefinition{Type: "FOOTER", Text: "To stop receiving delivery updates, tap the button below."},
			template.ComponentDefinition{Type: "BUTTONS", Buttons: []template.ButtonDefinition{{Type: "QUICK_REPLY", Text: "Stop Delivery Updates"}}}),
		"req_template_create_mpm": creating("abandoned_cart", "en_US", "MARKETING",
			template.ComponentDefinition{Type: "HEADER", Format: "TEXT", Text: "Forget something {{1}}?", Example: &template.Example{HeaderText: []string{"Pablo"}}},
			template.ComponentDefinition{
				Type:    "BODY",
				Text:    "Looks like you left some items in your cart! Use code {{1}} and you can get 10% off of all of them!",
				Example: &template.Example{BodyText: [][]string{{"10OFF"}}},
			},
			template.ComponentDefinition{Type: "BUTTONS", Buttons: []template.ButtonDefinition{{Type: "MPM", Text: "View items"}}}),
		"req_template_create_quick_replies": creating("seasonal_promotion_text_only", "en", "MARKETING",
			template.ComponentDefinition{Type: "HEADER", Format: "TEXT", Text: "Our {{1}} is on!", Example: &template.Example{HeaderText: []string{"Summer Sale"}}},
			template.ComponentDefinition{
				Type:    "BODY",
				Text:    "Shop now through {{1}} and use code {{2}} to get {{3}} off of all merchandise.",
				Example: &template.Example{BodyText: [][]string{{"the end of August", "25OFF", "25%"}}},
			},
			template.ComponentDefinition{Type: "FOOTER", Text: "Use the buttons below to manage your marketing subscriptions"},
			template.ComponentDefinition{Type: "BUTTONS", Buttons: []template.ButtonDefinition{
				{Type: "QUICK_REPLY", Text: "Unsubcribe from Promos"}, {Type: "QUICK_REPLY", Text: "Unsubscribe from All"},
			}}),
		"req_template_create_otp_copy_code": creating("authentication_code_copy_code_button", "en_US", "AUTHENTICATION",
			template.ComponentDefinition{Type: "BODY", SecurityAdvice: true},
			template.ComponentDefinition{Type: "FOOTER", ExpiresInMinutes: 10},
			template.ComponentDefinition{Type: "BUTTONS", Buttons: []template.ButtonDefinition{{Type: "OTP", OTPType: "COPY_CODE", Text: "Copy Code"}}}),
		"req_template_create_otp_one_tap": creating("authentication_code_autofill_button", "en_US", "AUTHENTICATION",
			template.ComponentDefinition{Type: "BODY", SecurityAdvice: true},
			template.ComponentDefinition{Type: "FOOTER", ExpiresInMinutes: 10},
			template.ComponentDefinition{Type: "BUTTONS", Buttons: []template.ButtonDefinition{{
				Type: "OTP", OTPType: "ONE_TAP", Text: "Copy Code", AutofillText: "Autofill",
				PackageName: "com.example.luckyshrub", SignatureHash: "K8a%2FAINcGX7",
			}}}),
	}
}

// TestSharedRequests makes every shared request by a typed call. Two requests
// are equal that differ in what the network takes as the same: defaults left
// out, and a button's index as a string or a number.
func TestSharedRequests(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures", "cloud")
	files, err := filepath.Glob(filepath.Join(folder, "req_*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	calls := requests()
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		made, known := calls[name]
		require.True(t, known, "no call makes %s", name)
		delete(calls, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, p, _ := setup(t, graphtest.Options{})
			c, err := p.Client(settings())
			require.NoError(t, err)
			_ = made(t.Context(), c) // what the fake thinks of made-up ids does not matter
			asked := fake.Requests()
			require.NotEmpty(t, asked, "nothing was sent")
			require.Equal(t, explicit(t, want), explicit(t, asked[len(asked)-1].Body))
		})
	}
	require.Empty(t, calls, "calls without a shared request")
	t.Logf("%d requests", len(files))
}

// explicit decodes a request with the network's defaults filled in.
func explicit(t *testing.T, raw []byte) any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(raw, &v))
	if v["to"] != nil || v["recipient"] != nil {
		for name, value := range map[string]string{"recipient_type": "individual", "type": "text"} {
			if v[name] == nil {
				v[name] = value
			}
		}
	}
	return indexed(v)
}

// indexed writes the index of a button as the string that we send.
func indexed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if n, is := member.(float64); is && name == "index" {
				member = json.Number(jsonText(n)).String()
			}
			v[name] = indexed(member)
		}
	case []any:
		for i := range v {
			v[i] = indexed(v[i])
		}
	}
	return v
}

func jsonText(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}
