// Lws-controller is the controller of LeaderWorkerSets with its webhooks, for a cluster on loopback.
//
// The program of its release also reconciles DisaggregatedSets, rotates its certificate in a Secret, elects a leader
// and serves metrics behind the cluster's authentication: none of it is used here, and half of what would be compiled
// is only for that. So this starts its reconcilers and webhooks alone, with a certificate from files.
//
// Derived from cmd/main.go of LeaderWorkerSet, Copyright The Kubernetes Authors.
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	leaderworkersetv1 "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/pkg/webhooks"
)

func main() {
	// controller-runtime adds --kubeconfig.
	host := flag.String("webhook-host", "127.0.0.1", "address that the webhooks listen on")
	port := flag.Int("webhook-port", 9443, "port that the webhooks listen on")
	certificates := flag.String("cert-dir", "", "folder of tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(webhook.Options{Host: *host, Port: *port, CertDir: *certificates}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(server webhook.Options) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, leaderworkersetv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// As the options --kube-api-qps and --kube-api-burst of the release.
	config.QPS, config.Burst = 500, 500
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(server),
	})
	if err != nil {
		return err
	}
	if err := controllers.SetupIndexes(manager.GetFieldIndexer()); err != nil {
		return err
	}
	if err := webhooks.SetupLeaderWorkerSetWebhook(manager); err != nil {
		return err
	}
	// Without a provider of gang scheduling, which needs Volcano.
	if err := webhooks.NewPodWebhook(nil).Setup(manager); err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	failed := make(chan error, 1)
	go func() {
		if err := reconcile(ctx, manager); err != nil {
			failed <- err
		}
	}()
	go func() { failed <- manager.Start(ctx) }()
	return <-failed
}

// reconcile starts the reconcilers once the cluster serves the kind: a deployment installs it after this program
// started, which must not wait the ten seconds of controller-runtime for it, nor end after two minutes.
func reconcile(ctx context.Context, manager ctrl.Manager) error {
	kind := leaderworkersetv1.GroupVersion.WithKind("LeaderWorkerSet")
	isServed := func(context.Context) (bool, error) {
		_, err := manager.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		return err == nil, nil
	}
	if err := wait.PollUntilContextCancel(ctx, 250*time.Millisecond, true, isServed); err != nil {
		return nil // the program ends
	}
	recorder := manager.GetEventRecorder("leaderworkerset")
	sets := controllers.NewLeaderWorkerSetReconciler(manager.GetClient(), manager.GetScheme(), recorder)
	if err := sets.SetupWithManager(manager); err != nil {
		return err
	}
	pods := controllers.NewPodReconciler(manager.GetClient(), manager.GetScheme(), recorder, nil)
	return pods.SetupWithManager(manager)
}
