// Command otel is a Trunkline server that sends its traces to an OpenTelemetry
// collector, such as Jaeger or Tempo, over OTLP. The standard variables configure
// the destination and the sampling: OTEL_EXPORTER_OTLP_ENDPOINT,
// OTEL_TRACES_SAMPLER and others. It is a separate module, so that other programs
// do not get the dependencies of an exporter.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/panel"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "listening address")
	database := flag.String("db", "sqlite://otel.db", "database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *addr, *database)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "otel:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, database string) (err error) {
	traces, err := tracer(ctx)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, traces.Shutdown(last)) // exports the remaining spans
	}()
	db, err := sqldb.Open(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	s, err := server.New(ctx, server.Config{
		DB: db, Secrets: []server.Secret{server.Secret(os.Getenv("APP_SECRET"))}, BaseURL: "http://" + addr,
		Panel: panel.Handler, Exclusive: strings.HasPrefix(database, "sqlite:"), Tracer: traces,
	})
	if err != nil {
		return err
	}
	return s.ListenAndServe(ctx, addr)
}

// tracer returns a provider that samples and exports as configured in the
// environment.
func tracer(ctx context.Context) (*sdk.TracerProvider, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "trunkline"), attribute.String("service.version", server.BuildVersion())),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	return sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about)), nil
}
