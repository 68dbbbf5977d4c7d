// Translator prints Envoy's configuration for objects of Gateway API, as Envoy Gateway would serve it.
//
// It does what "egctl x translate --from gateway-api --to gateway-api,xds" does, with the same settings. Building
// egctl would also compile its other commands: Helm, a collector of diagnostics, and clients of databases, which are
// a fifth of its packages. The path of this module starts with Envoy Gateway's, because Go lets only such modules
// import the packages below internal.
//
// Derived from internal/cmd/egctl/translate.go of Envoy Gateway, Copyright Envoy Gateway Authors.
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	cachetypes "github.com/envoyproxy/go-control-plane/pkg/cache/types"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/api/v1alpha1/validation"
	"github.com/envoyproxy/gateway/internal/gatewayapi"
	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	"github.com/envoyproxy/gateway/internal/gatewayapi/status"
	"github.com/envoyproxy/gateway/internal/logging"
	"github.com/envoyproxy/gateway/internal/xds/bootstrap"
	"github.com/envoyproxy/gateway/internal/xds/translator"
)

// Where Envoy Gateway's chart runs its service of global rate limits.
const rateLimits = "grpc://envoy-ratelimit.envoy-gateway-system.svc.cluster.local:8081"

// The configuration of one proxy.
type proxy struct {
	Bootstrap json.RawMessage   `json:"bootstrap"`
	Listeners []json.RawMessage `json:"listeners"`
	Routes    []json.RawMessage `json:"routes"`
	Clusters  []json.RawMessage `json:"clusters"`
	Endpoints []json.RawMessage `json:"endpoints"`
}

type answer struct {
	// With the conditions that Envoy Gateway would write into their status.
	Objects resource.Resources `json:"objects"`
	// Sorted by the name of the gateway.
	Proxies []proxy `json:"proxies"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	documents, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	objects, err := resource.LoadResourcesFromYAMLBytes(documents, false, nil)
	if err != nil {
		return fmt.Errorf("unable to unmarshal input: %w", err)
	}
	if objects.GatewayClass == nil {
		return fmt.Errorf("the GatewayClass resource is required")
	}
	logger := logging.DefaultLogger(io.Discard, egv1a1.LogLevelInfo)
	gateways := &gatewayapi.Translator{
		GatewayControllerName:   string(objects.GatewayClass.Spec.ControllerName),
		GatewayClassName:        gwapiv1.ObjectName(objects.GatewayClass.Name),
		GlobalRateLimitEnabled:  true,
		EndpointRoutingDisabled: true,
		EnvoyPatchPolicyEnabled: true,
		BackendEnabled:          true,
		Logger:                  logger,
	}
	// An error is a condition of its object too.
	translated, _ := gateways.Translate(objects)

	accept(objects)
	translated.GatewayClass = objects.GatewayClass
	result := answer{Objects: translated.Resources}
	for _, name := range slices.Sorted(maps.Keys(translated.XdsIR)) {
		proxies := &translator.Translator{
			GlobalRateLimit: &translator.GlobalRateLimitSettings{ServiceURL: rateLimits},
			Logger:          logger,
		}
		if objects.EnvoyProxyForGatewayClass != nil {
			proxies.FilterOrder = objects.EnvoyProxyForGatewayClass.Spec.FilterOrder
		}
		table, err := proxies.Translate(translated.XdsIR[name])
		if err != nil {
			return fmt.Errorf("failed to translate %s: %w", name, err)
		}
		next := proxy{}
		if next.Bootstrap, err = bootstrapOf(objects); err != nil {
			return err
		}
		for kind, list := range map[string]*[]json.RawMessage{
			resourcev3.ListenerType: &next.Listeners,
			resourcev3.RouteType:    &next.Routes,
			resourcev3.ClusterType:  &next.Clusters,
			resourcev3.EndpointType: &next.Endpoints,
		} {
			if *list, err = marshaled(table.XdsResources[kind]); err != nil {
				return err
			}
		}
		result.Proxies = append(result.Proxies, next)
	}
	return json.NewEncoder(out).Encode(result)
}

// accept sets the condition Accepted of the GatewayClass by its EnvoyProxy.
func accept(objects *resource.Resources) {
	var problem error
	if settings := objects.EnvoyProxyForGatewayClass; settings != nil {
		if problem = validation.ValidateEnvoyProxy(settings); problem == nil {
			problem = bootstrap.Validate(settings.Spec.Bootstrap)
		}
	}
	if problem == nil {
		status.SetGatewayClassAccepted(
			objects.GatewayClass, true, string(gwapiv1.GatewayClassReasonAccepted), status.MsgValidGatewayClass)
		return
	}
	message := fmt.Sprintf("%s: %v", status.MsgGatewayClassInvalidParams, problem)
	status.SetGatewayClassAccepted(
		objects.GatewayClass, false, string(gwapiv1.GatewayClassReasonInvalidParameters), message)
}

func bootstrapOf(objects *resource.Resources) (json.RawMessage, error) {
	text, err := bootstrap.GetRenderedBootstrapConfig(nil)
	if err != nil {
		return nil, err
	}
	if settings := objects.EnvoyProxyForGatewayClass; settings != nil && settings.Spec.Bootstrap != nil {
		if text, err = bootstrap.ApplyBootstrapConfig(settings.Spec.Bootstrap, text); err != nil {
			return nil, err
		}
	}
	document, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	message := &bootstrapv3.Bootstrap{}
	if err := protojson.Unmarshal(document, message); err != nil {
		return nil, err
	}
	if err := message.Validate(); err != nil {
		return nil, err
	}
	return protojson.Marshal(message)
}

// marshaled returns proto3 JSON, each with its @type.
func marshaled(resources []cachetypes.Resource) ([]json.RawMessage, error) {
	list := []json.RawMessage{}
	for _, each := range resources {
		message, err := anypb.New(each)
		if err != nil {
			return nil, err
		}
		text, err := protojson.Marshal(message)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
