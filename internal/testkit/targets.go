package testkit

// PrivateURLs are URLs that must not be registered. If they are requested
// nevertheless, nothing may be dialled.
var PrivateURLs = []string{
	// This machine, as any resolver might read it.
	"http://127.0.0.1/", "http://127.0.0.1:8080/x", "http://127.255.255.254/", "http://127.0.0.1./", "http://127.1/", "http://127.0.1/",
	"http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0X7F.1/", "http://017700000001/", "http://0177.0.0.1/",
	"http://0177.0x0.0.01/", "http://00000000177.0.0.1/", "http://0/", "http://0x/", "http://0.0.0.0/", "http://0.1.2.3/",
	"http://127。0。0。1/", "http://127．0｡0．1/", "http://１２７.0.0.1/", "http://①②⑦.0.0.①/", "http://𝟙𝟚𝟟.0.0.1/",
	"http://localhost/", "http://LOCALHOST:81/", "http://localhost./", "http://api.localhost/", "http://ⓛocalhost/", "http://localhost.localdomain/",
	"http://ip6-localhost/", "http://ip6-loopback/",
	"http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::1%25lo]/",
	"http://public.test@127.0.0.1/", "http://public.test:80@127.0.0.1:80/", "http://127.0.0.1#@public.test/", "http://127.0.0.1?@public.test/",
	// An IPv4 address inside an IPv6 one: mapped, compatible, translated, NAT64, 6to4, Teredo.
	"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:10.0.0.1]/", "http://[::ffff:a9fe:a9fe]/", "http://[::127.0.0.1]/",
	"http://[::ffff:0:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b::169.254.169.254]/", "http://[64:ff9b:1::a00:1]/",
	"http://[2002:7f00:1::]/", "http://[2002:a9fe:a9fe::1]/", "http://[2001:0:a00:1::]/", "http://[2001::1]/",
	// Private, shared, link-local, site-local.
	"http://10.0.0.1/", "http://10.255.1.2:9/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://3232235777/",
	"http://100.64.0.1/", "http://100.127.255.255/", "http://169.254.1.1/",
	"http://[fc00::1]/", "http://[fd12:3456::1]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fec0::1]/",
	// Metadata services.
	"http://169.254.169.254/latest/meta-data", "http://169.254.170.2/v2", "http://0xa9fea9fe/", "http://0xa9.0xfe.0xa9.0xfe/", "http://2852039166/",
	"http://0251.0376.0251.0376/", "http://[fd00:ec2::254]/", "http://[fd20:ce::254]/", "http://100.100.100.200/latest/meta-data", "http://192.0.0.192/opc",
	"http://168.63.129.16/machine", "http://[::ffff:168.63.129.16]/", "http://metadata.google.internal/", "http://METADATA.google.internal./",
	"http://instance-data.ec2.internal/",
	// A user who looks like a host.
	"http://public.test@127.0.0.1/", "http://public.test:80@[::1]/", "http://public.test%2f@0x7f.1/",
	// Multicast, broadcast, reserved, for documentation and measurements.
	"http://224.0.0.1/", "http://239.255.255.250:1900/", "http://240.0.0.1/", "http://255.255.255.255/", "http://4294967295/",
	"http://192.0.0.170/", "http://192.0.2.1/", "http://198.18.0.1/", "http://198.51.100.1/", "http://203.0.113.1/", "http://192.88.99.1/",
	"http://[ff02::1]/", "http://[ff0e::1]/", "http://[100::1]/", "http://[2001:db8::1]/", "http://[2001:20::1]/", "http://[3fff::1]/", "http://[5f00::1]/",
}

// MalformedURLs are not absolute http or https URLs.
var MalformedURLs = []string{
	"", "/relative", "ftp://example.com/", "file:///etc/passwd", "http://", "http:///x", "https://:443/",
	"http://example.com:0/", "http://example.com:99999/", "http://%31%32%37.0.0.1/", "http://pub.test\\@127.0.0.1/", "http://127.0.0.1:80:80/", "http://[::1", "gopher://127.0.0.1/", "//example.com/", "http://a b/",
}
