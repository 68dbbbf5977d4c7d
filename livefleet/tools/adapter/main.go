// Adapter is prometheus-adapter, which serves the metrics that autoscalers read.
//
// Its last release, 0.12.0, uses Kubernetes 0.30, in whose place nothing of the control plane can be used: it would be
// compiled twice. Its packages compile with the control plane's versions; its program does not, because servers are
// started with a context now. So this is its program, with that change, without the options for other ways to reach
// Prometheus, and without metrics of pods and nodes (resourceRules), whose OpenAPI definitions are those of 0.30.
//
// Derived from cmd/adapter/adapter.go of prometheus-adapter, Copyright The Kubernetes Authors.
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/logs"
	"k8s.io/klog/v2"

	basecmd "sigs.k8s.io/custom-metrics-apiserver/pkg/cmd"
	prom "sigs.k8s.io/prometheus-adapter/pkg/client"
	mprom "sigs.k8s.io/prometheus-adapter/pkg/client/metrics"
	adaptercfg "sigs.k8s.io/prometheus-adapter/pkg/config"
	cmprov "sigs.k8s.io/prometheus-adapter/pkg/custom-provider"
	extprov "sigs.k8s.io/prometheus-adapter/pkg/external-provider"
	"sigs.k8s.io/prometheus-adapter/pkg/naming"
)

type adapter struct {
	basecmd.AdapterBase
	prometheusURL  string
	configFile     string
	relistInterval time.Duration
	maxAge         time.Duration
}

func main() {
	logs.InitLogs()
	defer logs.FlushLogs()
	cmd := &adapter{relistInterval: 10 * time.Minute}
	cmd.Name = "prometheus-metrics-adapter"
	cmd.Flags().StringVar(&cmd.prometheusURL, "prometheus-url", "https://localhost", "URL of Prometheus")
	cmd.Flags().StringVar(&cmd.configFile, "config", "", "file of the rules")
	cmd.Flags().DurationVar(&cmd.relistInterval, "metrics-relist-interval", cmd.relistInterval,
		"interval of the search for new series")
	cmd.Flags().DurationVar(&cmd.maxAge, "metrics-max-age", 0,
		"how far back series are searched for (default: the interval)")
	logs.AddFlags(cmd.Flags())
	if err := cmd.Flags().Parse(os.Args); err != nil {
		klog.Fatalf("unable to parse flags: %v", err)
	}
	if cmd.maxAge == 0 {
		cmd.maxAge = cmd.relistInterval
	}
	if err := cmd.serve(genericapiserver.SetupSignalContext()); err != nil {
		klog.Fatalf("unable to run the adapter: %v", err)
	}
}

func (cmd *adapter) serve(ctx context.Context) error {
	if cmd.maxAge < cmd.relistInterval {
		return fmt.Errorf("max age must not be less than relist interval")
	}
	address, err := url.Parse(cmd.prometheusURL)
	if err != nil {
		return fmt.Errorf("invalid Prometheus URL %q: %w", cmd.prometheusURL, err)
	}
	requests := mprom.InstrumentGenericAPIClient(
		untimed{prom.NewGenericAPIClient(http.DefaultClient, address, http.Header{})}, address.String())
	client := prom.NewClientForAPI(requests, http.MethodGet)
	rules, err := adaptercfg.FromFile(cmd.configFile)
	if err != nil {
		return fmt.Errorf("unable to load metrics discovery configuration: %w", err)
	}

	if err := cmd.addMetrics(ctx, rules, client); err != nil {
		return err
	}
	return cmd.Run(ctx)
}

// untimed leaves the parameter timeout out of queries. Requests have a deadline in Kubernetes 0.36, and
// timeoutFromContext of pkg/client/api.go subtracts it from the time the wrong way round, which is negative.
// The deadline of the context still ends a query.
type untimed struct {
	prom.GenericAPIClient
}

func (client untimed) Do(ctx context.Context, verb, endpoint string, query url.Values) (prom.APIResponse, error) {
	query.Del("timeout")
	return client.GenericAPIClient.Do(ctx, verb, endpoint, query)
}

// addMetrics adds the custom and the external metrics.
func (cmd *adapter) addMetrics(ctx context.Context, rules *adaptercfg.MetricsDiscoveryConfig, client prom.Client) error {
	mapper, err := cmd.RESTMapper()
	if err != nil {
		return fmt.Errorf("unable to construct RESTMapper: %w", err)
	}
	if len(rules.Rules) > 0 {
		dynamic, err := cmd.DynamicClient()
		if err != nil {
			return fmt.Errorf("unable to construct Kubernetes client: %w", err)
		}
		namers, err := naming.NamersFromConfig(rules.Rules, mapper)
		if err != nil {
			return fmt.Errorf("unable to construct naming scheme from metrics rules: %w", err)
		}
		metrics, runner := cmprov.NewPrometheusProvider(mapper, dynamic, client, namers, cmd.relistInterval, cmd.maxAge)
		runner.RunUntil(ctx.Done())
		cmd.WithCustomMetrics(metrics)
	}
	if len(rules.ExternalRules) > 0 {
		namers, err := naming.NamersFromConfig(rules.ExternalRules, mapper)
		if err != nil {
			return fmt.Errorf("unable to construct naming scheme from metrics rules: %w", err)
		}
		metrics, runner := extprov.NewExternalPrometheusProvider(client, namers, cmd.relistInterval, cmd.maxAge)
		runner.RunUntil(ctx.Done())
		cmd.WithExternalMetrics(metrics)
	}
	return nil
}
